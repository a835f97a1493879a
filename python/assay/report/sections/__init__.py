"""Sections of a run's JSON document, as plain values."""
