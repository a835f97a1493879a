"""Finds probes: every module in the package `probes` with a `probe`."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

import assay.probes

if TYPE_CHECKING:
    from assay.probes.contract import Probe


def find_probes() -> list[Probe]:
    """Return a new, unstarted instance of every probe, in order of name."""
    probes: list[Probe] = []
    for module_info in pkgutil.iter_modules(assay.probes.__path__, "assay.probes."):
        module = importlib.import_module(module_info.name)
        if hasattr(module, "probe"):
            probes.append(module.probe())
    return sorted(probes, key=lambda probe: probe.name)
