"""Findings about the host: other programs, and limits."""
