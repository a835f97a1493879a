"""Sections of a run's document, as plain values."""
