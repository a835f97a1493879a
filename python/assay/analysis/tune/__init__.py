"""Analyses engine settings (knobs): the effect of changing them, and the best values."""
