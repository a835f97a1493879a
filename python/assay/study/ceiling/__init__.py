"""Measures what a host can do: its trials, where they run, and how they become a record."""
