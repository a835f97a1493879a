"""Turns the causes of a run's time into experiments that would remove them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.analysis.diagnose.judging import GAIN_MIN
from assay.analysis.diagnose.way import Untried
from assay.analysis.plans.recorded import captured
from assay.engines.contract import EngineError
from assay.engines.discovery import find_engine
from assay.model.errors import UsageError
from assay.running.asked.asking import considered
from assay.study.experiments.discovery import experiments
from assay.study.experiments.following import followed
from assay.study.experiments.statements import label_of
from assay.study.try_ import server_change

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from assay.analysis.try_.calibration import Calibration
    from assay.model.finding import Advice, Change, Finding
    from assay.record.reader import Run
    from assay.running.asked.request import RunRequest

NOTHING_TO_DO = "the finding names nothing that could be changed"
LEAVE = "the change affects tables that Assay did not create: add --allow-changes"


@dataclass(frozen=True)
class Slowing:
    """The factor by which a resource is slowed, and the run that it is compared with.

    Attributes:
        factor: Factor by which the resource becomes slower.
        before: Name of the run in which the use of the resource is measured and not slowed.
        request: Request of this run.
    """

    factor: float
    before: str
    request: RunRequest


@dataclass(frozen=True)
class Candidate:
    """A cause of a run's time, and a run with a change that would remove it.

    Attributes:
        cause: Finding about the run.
        change: Short description of the change.
        kind: Kind of experiment.
        request: Request of the run with the change.
        by_plan: Whether the change acts through plans alone.
        stays: Whether the change may be kept.
        expected: Expected saving as a share of the run's time, from the finding and from earlier
            trials.
        slowing: How a resource is slowed, if the change does so; None if it removes the cause.
        is_hypothetical: Whether the optimiser only assumes the change, so no run with it is timed.
        also: Other causes that the same change would remove. Each gets a verdict of its own.
        gain_min: Smallest saving, as a share of the time, that counts.
        takes_back: Name of the kept change that the change leaves out again; None for others.
    """

    cause: Finding
    change: str
    kind: str
    request: RunRequest
    by_plan: bool
    stays: bool
    expected: float
    slowing: Slowing | None = None
    is_hypothetical: bool = False
    also: tuple[Finding, ...] = ()
    gain_min: float = GAIN_MIN
    takes_back: str | None = None

    @property
    def causes(self) -> tuple[Finding, ...]:
        """Return all causes that the change would remove."""
        return (self.cause, *self.also)

    def without(self, settled: Collection[tuple[str, str]]) -> Candidate | None:
        """Return the candidate without these causes, given by change and key; None if all are."""
        left = [cause for cause in self.causes if (self.change, cause.key) not in settled]
        return replace(self, cause=left[0], also=tuple(left[1:])) if left else None


def candidates_of(
    run: Run,
    findings: Sequence[Finding],
    base: RunRequest,
    history: Calibration,
    *,
    allow_changes: bool = False,
) -> tuple[list[Candidate], list[Untried]]:
    """Return causes that can be tried, the most promising first, and the others with the reason.

    Args:
        run: Run that was explained.
        findings: Findings of the run.
        base: Request to change, which includes all changes kept so far.
        history: Results of earlier advice.
        allow_changes: Whether a user's tables may be changed, and the changes reverted.
    """
    able: dict[str, Candidate] = {}
    unable: list[Untried] = []
    for cause in _with_widest_advice(findings):
        if cause.tells != "cause" or _is_of_others(cause, base):
            continue
        try:
            candidate = _candidate(run, cause, base, history, allow_changes=allow_changes)
        except (UsageError, EngineError) as why:
            unable.append(Untried(cause, str(why)))
            continue
        # Causes that the same change would remove are tried by the same runs.
        if (same := able.get(candidate.change)) is not None:
            expected = same.expected + candidate.expected
            candidate = replace(same, also=(*same.also, cause), expected=expected)
        able[candidate.change] = candidate
    return sorted(able.values(), key=_promise, reverse=True), unable


def _promise(candidate: Candidate) -> float:
    """Return the expected saving; of a change that may not be kept, half.

    Such a change only measures a cause, and does not lead to the next one.
    """
    return candidate.expected if candidate.stays else candidate.expected / 2


def _with_widest_advice(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings, each with the advice of another one that includes its own, if there is one.

    To store a value and to index it includes to store it, so that both causes share their runs.
    """
    advices = [finding.advice for finding in findings if finding.advice is not None]
    return [
        finding
        if finding.advice is None
        else replace(finding, advice=_widest(finding.advice, advices))
        for finding in findings
    ]


def _widest(own: Advice, advices: Sequence[Advice]) -> Advice:
    if own.kind != "stored-values":
        return own
    alike = [each for each in advices if (each.kind, each.subject) == (own.kind, own.subject)]
    wider = [each.values for each in alike if own.values.items() <= each.values.items()]
    return replace(own, values=max(wider, key=len, default=own.values))


def _is_of_others(cause: Finding, base: RunRequest) -> bool:
    """Return True if a cause concerns only operations outside the request."""
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
        return _hypothetical(run, cause, base, statements)
    return tried_candidate(cause, base, _expected(cause, history), statements)


def tried_candidate(
    cause: Finding,
    base: RunRequest,
    expected: float,
    statements: Change | None = None,
    gain_min: float = GAIN_MIN,
) -> Candidate:
    """Return the run with the change that a cause advises.

    Args:
        cause: Cause with an advice.
        base: Request of the run without the change.
        expected: Expected saving as a share of the run's time.
        statements: Statements that change tables of a running server; None without them.
        gain_min: Smallest saving that counts.

    Raises:
        UsageError: If the engine or this kind of run does not allow the change.
        EngineError: If the engine's facts cannot be read.
    """
    assert cause.advice is not None  # noqa: S101 - the caller has looked
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
        expected,
        gain_min=gain_min,
    )


def _hypothetical(run: Run, cause: Finding, base: RunRequest, change: Change) -> Candidate:
    """Return a change of a user's tables that the optimiser assumes instead of making it.

    Raises `UsageError` if the engine or its server cannot assume the change.
    """
    assert cause.advice is not None  # noqa: S101 - only causes with advice are tried
    running = find_engine(base.engine).advising().running
    facts = next((facts for kind, facts in running.items() if kind == cause.advice.kind), None)
    extensions = captured(run).extensions
    if facts is None or facts.assumed_by is None or facts.assumed_by not in extensions:
        raise UsageError(LEAVE)
    if not extensions[facts.assumed_by]:
        raise UsageError(
            f"{LEAVE}; or create the extension {facts.assumed_by}, with which Assay compares "
            "estimated plans"
        )
    label = f"hypothetical {label_of(cause.advice)}"
    request = base.changed(hypothetical_indexes={label: change.sql})
    return Candidate(
        cause,
        label,
        cause.advice.kind,
        request,
        by_plan=True,
        stays=False,
        expected=cause.effect_share,
        is_hypothetical=True,
    )


def _expected(cause: Finding, history: Calibration) -> float:
    """Return the expected saving of time, from the claim and earlier trials of its kind.

    Without earlier trials the weight is 1/2.
    """
    claimed = cause.effect_share if cause.saved is None else sum(cause.saved) / 2
    record = history.methods.get(cause.method)
    saved, decided = (0, 0) if record is None else (record.saved, record.decided)
    return claimed * (saved + 1) / (decided + 2)
