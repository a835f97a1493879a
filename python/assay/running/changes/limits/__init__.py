"""Limits of what an engine may use, by a control group of the kernel that it alone is in."""
