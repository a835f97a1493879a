"""Compares two engines, versions or settings and splits the time difference by cause."""
