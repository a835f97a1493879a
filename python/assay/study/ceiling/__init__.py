"""Measures the maximum speed of a host's hardware: trials, directory and record."""
