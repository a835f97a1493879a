"""A run's changes to its host, which are reverted however the run ends."""
