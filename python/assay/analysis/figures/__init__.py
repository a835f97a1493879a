"""Figures of a study: tables, charts and sentences made of its runs. One file a kind of figure."""
