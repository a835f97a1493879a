"""Analyses how a workload grows with clients or scale."""
