"""The rows that answers are compared with, and the reference engine that computes them."""
