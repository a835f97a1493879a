"""Analyses the engine's own counters."""
