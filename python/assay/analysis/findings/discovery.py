"""Finds the modules that make findings, and runs each on a run's data."""

from __future__ import annotations

import importlib
import logging
import pkgutil
from functools import cache
from typing import TYPE_CHECKING

import assay.analysis.findings
from assay.analysis.findings.judging import Judged, judged
from assay.analysis.findings.no_cause import without_cause
from assay.analysis.findings.order import in_order

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

log = logging.getLogger(__name__)


@cache
def methods() -> dict[str, Callable[[Case], list[Finding]]]:
    """Return the `find` functions of this folder's modules, by the name of their method."""
    finders = {}
    package = assay.analysis.findings
    for module_info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(module_info.name)
        if hasattr(module, "find"):
            finders[module_info.name.rpartition(".")[2].replace("_", "-")] = module.find
    return dict(sorted(finders.items()))


def findings(case: Case) -> list[Finding]:
    """Return the findings of one run, in the order of the report."""
    return list(judged_findings(case).findings)


def judged_findings(case: Case) -> Judged:
    """Return the sorted findings of one run, and the causes that were ruled out."""
    given = judged(
        case,
        (finding for method, find in methods().items() for finding in _safely(method, find, case)),
    )
    noted = (*given.findings, *without_cause(case, given.findings))
    return Judged(tuple(in_order(noted)), given.silenced)


def _safely(method: str, find: Callable[[Case], list[Finding]], case: Case) -> list[Finding]:
    """Call `find`; if it fails, log the error and return no finding."""
    try:
        return find(case)
    except Exception:
        log.warning(
            ("finding %s of run %s could not be made because of a defect in Assay"),
            method,
            case.run_id,
            exc_info=True,
        )
        return []
