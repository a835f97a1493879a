"""Figures of settings that a study varied or searched."""
