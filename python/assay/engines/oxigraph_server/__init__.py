"""Oxigraph as a server of its own, asked over HTTP."""
