"""Names of the parts of an operation's time that are not statements."""

from __future__ import annotations

# Time of an operation before the attempt that succeeded.
EARLIER = "earlier attempts"
