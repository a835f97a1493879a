"""Figures of the resources that bound queries, and of the effect of changes."""
