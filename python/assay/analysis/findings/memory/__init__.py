"""Findings about memory: caches that are too small, spilling, and wasted memory."""
