"""Analyses the trials of a host's disk, memory and cores."""
