"""Oxigraph as a separate server, queried over HTTP."""
