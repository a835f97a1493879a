"""Verbs that make runs: a file each."""
