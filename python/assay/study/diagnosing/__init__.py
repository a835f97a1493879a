"""Tries the causes of a run by experiments, step by step."""
