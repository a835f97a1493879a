"""Verdicts over a ceiling of a host; one file a check, as of runs."""
