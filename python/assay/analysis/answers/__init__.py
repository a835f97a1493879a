"""Compares answers with expected rows, and recovered data with acknowledged writes."""
