"""Figures of the resources that limit queries, and of the effects of changes."""
