"""Predicts the time of a workload on a hypothetical cluster."""
