"""Checks that the hypervisor took no CPU time away during an observation."""

from __future__ import annotations

from assay.checks import steal

check = steal.check
