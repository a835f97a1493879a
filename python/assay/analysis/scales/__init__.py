"""Analyses the growth of costs with data: power laws, shifting shares, extrapolation."""
