"""Findings about indexes: missing, unused, or of little use."""
