"""Verdicts on the causes of lost time, from experiments."""
