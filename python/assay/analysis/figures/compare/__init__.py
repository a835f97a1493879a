"""Figures that compare engines, versions or settings."""
