"""Verdicts over a ceiling of a host; one file per check, as of runs."""
