"""Figures of loads and tests."""
