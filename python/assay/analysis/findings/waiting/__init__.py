"""Findings about waiting in the server: locks, the log, maintenance and other sessions."""
