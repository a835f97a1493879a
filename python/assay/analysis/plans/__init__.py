"""Captured plans: their shapes, their kinds of work, and their differences."""
