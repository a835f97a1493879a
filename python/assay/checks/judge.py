"""Runs all checks over a run. A check that breaks down is 'unknown', never a pass."""

from __future__ import annotations

import importlib
import logging
import pkgutil
from typing import TYPE_CHECKING

import assay.checks
from assay.model.errors import RecordUnreadableError
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.record.reader import Run

log = logging.getLogger(__name__)


def find_checks() -> Iterator[tuple[str, Callable[[Run], CheckResult]]]:
    """Every module of this folder that has a `check`, by name."""
    for module_info in pkgutil.iter_modules(assay.checks.__path__, "assay.checks."):
        module = importlib.import_module(module_info.name)
        if hasattr(module, "check"):
            yield module_info.name.rsplit(".", 1)[-1], module.check


def judge(run: Run) -> list[CheckResult]:
    """One result a check, worst first."""
    results = [_safely(name, check, run) for name, check in find_checks()]
    return sorted(results, key=lambda result: -result.verdict)


def _safely(name: str, check: Callable[[Run], CheckResult], run: Run) -> CheckResult:
    try:
        return check(run)
    except RecordUnreadableError as error:
        return CheckResult(name, Verdict.UNKNOWN, f"not checked: {error}", measured=False)
    except Exception as error:
        log.warning("check %s broke down", name, exc_info=True)
        reason = f"the check broke down ({type(error).__name__}: {error}); the run is not checked"
        return CheckResult(name, Verdict.UNKNOWN, reason, measured=False)
