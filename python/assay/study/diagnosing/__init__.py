"""Tries to remove the causes of a run's time by experiments, step by step."""
