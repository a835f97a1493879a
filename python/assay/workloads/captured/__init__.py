"""Workloads from captured statements of other clients."""
