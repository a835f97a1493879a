"""Verdicts over one run. One file per check; each has `check(run)` and reads the record only."""
