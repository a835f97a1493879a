"""Verbs of what there is: engines, workloads, studies, data, and what this host allows."""
