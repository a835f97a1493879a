"""Measures the effect of parts of queries and of techniques of an engine."""
