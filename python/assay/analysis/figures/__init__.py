"""Figures of a study: tables, charts and sentences. Each file makes one kind of figure."""
