"""Findings about plans and their operators."""
