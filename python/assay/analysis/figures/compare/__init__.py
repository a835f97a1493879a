"""Figures of subjects beside each other."""
