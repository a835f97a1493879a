"""Analyses the outcome of advice that was tried."""
