"""Drives one load from several hosts that share one plan and begin together (a fleet)."""
