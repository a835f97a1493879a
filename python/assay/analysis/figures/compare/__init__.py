"""Figures that compare subjects."""
