"""Finds what bounds a workload, from runs with slowed resources."""
