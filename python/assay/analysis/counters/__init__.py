"""Analyses the counters that the database engine itself reports."""
