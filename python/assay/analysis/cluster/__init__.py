"""Analyses a cluster: the work of its nodes per second, its balance, and their waits."""
