"""Figures of growth with the number of clients and the scale of the data."""
