"""Causes of a run, tried by experiments, step by step."""
