"""Measures the limits of a host: the trials, their directory, and their record."""
