"""Checks that the probes covered the whole observation, and that their cost was small."""

from __future__ import annotations

from assay.checks import probes

check = probes.check
