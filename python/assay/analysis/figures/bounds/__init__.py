"""Figures of what bounds queries, and of what changes are worth."""
