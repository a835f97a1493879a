"""Verbs that show and hand on what was measured: a file each."""
