"""Processes that a run starts, and who sees to it that they end with it."""
