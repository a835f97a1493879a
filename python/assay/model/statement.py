"""Names of the parts of an operation's time that are not statements."""

from __future__ import annotations

# Name for the time of an operation before its successful attempt.
EARLIER = "earlier attempts"
