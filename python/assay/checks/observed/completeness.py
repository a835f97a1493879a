"""The same as of runs: see `assay.checks.completeness`."""

from __future__ import annotations

from assay.checks import completeness

check = completeness.check
