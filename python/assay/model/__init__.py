"""Frozen values and units. Standard library only."""
