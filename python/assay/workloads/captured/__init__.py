"""Workloads made of statements that somebody else's clients sent."""
