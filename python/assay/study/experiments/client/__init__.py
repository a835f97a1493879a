"""Experiments that change what clients do: their number, and how they send statements."""
