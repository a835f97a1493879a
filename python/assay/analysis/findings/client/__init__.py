"""Findings about the client and the connection to it."""
