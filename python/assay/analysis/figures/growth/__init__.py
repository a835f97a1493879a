"""Figures of clients and scale."""
