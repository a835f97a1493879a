"""Findings about the host: other programs, and resource limits."""
