"""Analyses CPU samples: the engine's kinds of work."""
