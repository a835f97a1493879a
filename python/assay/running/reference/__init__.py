"""Computes the expected rows of queries, with a reference engine."""
