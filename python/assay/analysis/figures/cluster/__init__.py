"""Figures of clusters."""
