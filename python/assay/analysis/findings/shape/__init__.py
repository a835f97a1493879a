"""Findings about the run as a whole: what it is made of, and whether it was steady."""
