"""The engine's own counters."""
