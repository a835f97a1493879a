"""Measures the limits of a host: the trials, their place, and their record."""
