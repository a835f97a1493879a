"""Executes one run: obtain the engine, load data, warm up, measure, and store the record."""
