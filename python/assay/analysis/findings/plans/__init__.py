"""Findings about plans, and about what their operators do."""
