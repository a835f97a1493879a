"""Figures that others published: what they are, what follows from them, and ours beside them."""
