"""Compares query results with expected rows, and recovered data with acknowledged writes."""
