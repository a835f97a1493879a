"""Findings about indexes: missing, unused, or not selective."""
