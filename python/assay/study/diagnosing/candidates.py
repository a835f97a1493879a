"""Causes of a run as experiments: each with a change that would remove it, the likeliest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.diagnose.way import Untried
from assay.engines.contract import EngineError
from assay.engines.discovery import find_engine
from assay.model.errors import UsageError
from assay.running.asked.asking import considered
from assay.study.experiments.discovery import experiments
from assay.study.experiments.following import followed
from assay.study.try_ import server_change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.try_.calibration import Calibration
    from assay.model.finding import Finding
    from assay.record.reader import Run
    from assay.running.asked.request import RunRequest

NOTHING_TO_DO = "it names nothing that could be changed"
LEAVE = "it changes tables that Assay did not make: say --allow-changes"


@dataclass(frozen=True)
class Candidate:
    """A cause, and the run without it.

    Attributes:
        cause: Finding of the run.
        change: What is changed, short.
        kind: Kind of experiment.
        request: The run with the change.
        by_plan: Whether the change acts through plans alone.
        stays: Whether the change may be kept.
        expected: Expected share of the run's time that it saves, from the finding and from the
            results of earlier trials.
    """

    cause: Finding
    change: str
    kind: str
    request: RunRequest
    by_plan: bool
    stays: bool
    expected: float


def candidates_of(
    run: Run,
    findings: Sequence[Finding],
    base: RunRequest,
    history: Calibration,
    *,
    allow_changes: bool = False,
) -> tuple[list[Candidate], list[Untried]]:
    """Return causes that can be tried, the most promising first, and others with the reason.

    Args:
        run: The run that has been explained.
        findings: Findings of the run.
        base: The run to change, with all changes that were kept so far.
        history: What became of earlier advice.
        allow_changes: Whether tables that Assay did not make may be changed, and changed back.
    """
    able: list[Candidate] = []
    unable: list[Untried] = []
    for cause in findings:
        if cause.tells != "cause" or _is_of_others(cause, base):
            continue
        try:
            candidate = _candidate(run, cause, base, history, allow_changes=allow_changes)
        except (UsageError, EngineError) as why:
            unable.append(Untried(cause, str(why)))
            continue
        # Two causes that one change would remove are tried once.
        if candidate.change not in {other.change for other in able}:
            able.append(candidate)
    return sorted(able, key=lambda candidate: -candidate.expected), unable


def _is_of_others(cause: Finding, base: RunRequest) -> bool:
    """Return True if all operations of a cause are ones that were not requested."""
    return bool(base.operations and cause.operations) and not set(base.operations).intersection(
        cause.operations
    )


def _candidate(
    run: Run, cause: Finding, base: RunRequest, history: Calibration, *, allow_changes: bool
) -> Candidate:
    if cause.advice is None:
        raise UsageError(f"by hand: {cause.to_try}" if cause.to_try else NOTHING_TO_DO)
    statements = server_change(run, cause)
    if statements is not None and not allow_changes:
        raise UsageError(LEAVE)
    experiment = experiments()[cause.advice.kind]
    changed = followed(base, cause.advice, find_engine(base.engine), statements)
    considered(changed.request)
    return Candidate(
        cause,
        changed.text,
        experiment.kind,
        changed.request,
        experiment.by_plan(cause.advice),
        experiment.stays,
        _expected(cause, history),
    )


def _expected(cause: Finding, history: Calibration) -> float:
    """The claimed gain, weighed by how often such claims came true: one of two before any did."""
    claimed = cause.effect_share if cause.saved is None else sum(cause.saved) / 2
    record = history.methods.get(cause.method)
    hits, decided = (0, 0) if record is None else (record.hits, record.decided)
    return claimed * (hits + 1) / (decided + 2)
