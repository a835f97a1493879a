"""Analyses what parts of queries and techniques of an engine are worth."""
