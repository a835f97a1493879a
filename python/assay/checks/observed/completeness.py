"""Checks that an observation reached its end and that its files are unchanged."""

from __future__ import annotations

from assay.checks import completeness

check = completeness.check
