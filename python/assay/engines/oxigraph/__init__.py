"""Oxigraph, embedded in the driver's host process."""
