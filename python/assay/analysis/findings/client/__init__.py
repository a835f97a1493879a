"""Findings about the client and the way to it."""
