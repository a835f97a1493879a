"""Checks that the probes covered the whole observation, and what they cost."""

from __future__ import annotations

from assay.checks import probes

check = probes.check
