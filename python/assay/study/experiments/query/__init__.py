"""Experiments that change the text of a query."""
