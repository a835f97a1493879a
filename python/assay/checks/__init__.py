"""Verdicts over one run. One file a check; each has `check(run)` and reads the record only."""
