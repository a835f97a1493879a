"""Findings about waiting in the server: locks, the log, upkeep and other sessions."""
