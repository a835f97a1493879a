"""Observers that work while the driver does. One file per probe; each states its own cost."""
