"""Findings about clusters: nodes that wait for other nodes."""
