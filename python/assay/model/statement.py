"""Names for time of an operation that belongs to no statement."""

from __future__ import annotations

# Name for the time of an operation before its successful attempt.
EARLIER = "earlier attempts"
