"""Captured plans: their shapes, their work, and their differences."""
