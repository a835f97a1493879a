"""Findings about the run as a whole: its parts, and whether it was steady."""
