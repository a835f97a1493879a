"""Analyses trials that measure the maximum speed of a host's disk, memory and cores."""
