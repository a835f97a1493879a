"""Figures of single queries."""
