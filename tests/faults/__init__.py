"""Faults: bad input, hostile names, planted passwords, damaged records, foreign text."""
