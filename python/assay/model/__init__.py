"""Immutable values and units, which need only the standard library."""
