"""Runs all checks on a run.

The verdict of a check that raises an exception is unknown, never valid.
"""

from __future__ import annotations

import importlib
import logging
import pkgutil
from typing import TYPE_CHECKING

import assay.checks
import assay.checks.ceiling
import assay.checks.observed
from assay.model.errors import RecordUnreadableError
from assay.model.verdict import CheckResult, Verdict
from assay.record.layout import KIND_CEILING, KIND_OBSERVED, KIND_RUN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from assay.record.reader import Run

log = logging.getLogger(__name__)

# Package that holds the checks of each kind of record.
FOLDERS: dict[str, ModuleType] = {
    KIND_RUN: assay.checks,
    KIND_CEILING: assay.checks.ceiling,
    KIND_OBSERVED: assay.checks.observed,
}


def find_checks(kind: str = KIND_RUN) -> Iterator[tuple[str, Callable[[Run], CheckResult]]]:
    """Yield the name and function of each check for a kind of record."""
    folder = FOLDERS[kind]
    for module_info in pkgutil.iter_modules(folder.__path__, f"{folder.__name__}."):
        module = importlib.import_module(module_info.name)
        if hasattr(module, "check"):
            yield module_info.name.rsplit(".", 1)[-1], module.check


def judge(run: Run) -> list[CheckResult]:
    """Return one result per check of a run, the worst first."""
    results = [_safely(name, check, run) for name, check in find_checks(run.kind)]
    return sorted(results, key=lambda result: -result.verdict)


def _safely(name: str, check: Callable[[Run], CheckResult], run: Run) -> CheckResult:
    try:
        return check(run)
    except RecordUnreadableError as error:
        return CheckResult(name, Verdict.UNKNOWN, f"not checked: {error}", measured=False)
    except Exception as error:
        if run.broken_seals():
            damaged = "not checked: the record is not as it was sealed"
            return CheckResult(name, Verdict.UNKNOWN, damaged, measured=False)
        log.warning("check %s failed because of a defect in Assay", name, exc_info=True)
        reason = (
            f"the check failed because of a defect in Assay ({type(error).__name__}: {error}); "
            "the run is not checked"
        )
        return CheckResult(name, Verdict.UNKNOWN, reason, measured=False)
