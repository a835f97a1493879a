"""Knobs: the effect of changing them, and the search for better settings."""
