"""Observers that work while the driver does. One file a probe; each states its own cost."""
