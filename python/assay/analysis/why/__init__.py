"""Finds the resource that limits a workload, from runs with slowed resources."""
