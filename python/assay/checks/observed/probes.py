"""The same as of runs: see `assay.checks.probes`."""

from __future__ import annotations

from assay.checks import probes

check = probes.check
