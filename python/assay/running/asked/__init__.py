"""Parses and checks the request of a run: options, conditions, CPU placement and load plan."""
