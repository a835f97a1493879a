"""Findings about the run as a whole: parts of its time, and its steadiness."""
