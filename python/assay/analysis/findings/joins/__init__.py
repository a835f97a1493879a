"""Findings on joins that make many more rows than the statement needs."""
