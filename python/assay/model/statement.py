"""Names of what the time of an operation is made of, beside its statements."""

from __future__ import annotations

# Time of an operation before the attempt that succeeded.
EARLIER = "earlier attempts"
