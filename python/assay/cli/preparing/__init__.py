"""Verbs of what there is to measure, and with what: a file each."""
