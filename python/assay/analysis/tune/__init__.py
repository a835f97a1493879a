"""Knobs: what turning them does, and the search for better settings."""
