"""Figures of settings that were varied or searched."""
