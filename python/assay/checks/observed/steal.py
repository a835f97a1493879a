"""The same as of runs: see `assay.checks.steal`."""

from __future__ import annotations

from assay.checks import steal

check = steal.check
