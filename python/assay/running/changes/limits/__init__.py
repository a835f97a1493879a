"""Limits an engine's resources by a control group of the kernel."""
