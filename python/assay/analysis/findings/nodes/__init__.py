"""Findings about clusters: nodes that wait for each other."""
