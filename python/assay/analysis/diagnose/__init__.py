"""Verdicts of experiments on causes."""
