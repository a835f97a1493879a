"""Findings about the run as a whole: where its time went, and whether it was steady."""
