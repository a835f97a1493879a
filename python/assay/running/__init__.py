"""Carries out one run: obtain, start, load, warm up, measure, record, seal."""
