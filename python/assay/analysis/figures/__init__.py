"""Figures of a study: tables, charts and sentences made from its runs. Each file makes one kind."""
