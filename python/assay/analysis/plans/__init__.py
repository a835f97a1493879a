"""Analyses captured plans: their shapes, kinds of work, and differences."""
