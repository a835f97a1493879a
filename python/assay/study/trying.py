"""A finding's advice as a study: the run as it was, and with the advice followed."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from assay.engines.discovery import find_engine
from assay.model.errors import UsageError, suggestion
from assay.study.advice import followed
from assay.study.request import recorded_request
from assay.study.variants import Study, Variant, difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.model.finding import Finding
    from assay.record.reader import Run

BASELINE = "as it was"


def chosen(findings: Sequence[Finding], asked: str) -> Finding:
    """The finding of a run that is meant by its key or its number in the list, from 1.

    Raises:
        UsageError: If there is none, or nothing can be carried out; names those that can.
    """
    by_key = [finding for finding in findings if finding.key == asked]
    if asked.isdecimal() and 1 <= int(asked) <= len(findings):
        by_key = [findings[int(asked) - 1]]
    if not findings:
        raise UsageError("the run has no findings, so there is nothing to try")
    if not by_key:
        keys = [finding.key for finding in findings]
        raise UsageError(f"the run has no finding {asked!r}; {suggestion(asked, keys)}")
    if len(by_key) > 1:
        numbers = [str(at) for at, finding in enumerate(findings, 1) if finding.key == asked]
        raise UsageError(f"{asked!r} are {len(by_key)} findings: say {' or '.join(numbers)}")
    (finding,) = by_key
    if finding.advice is None:
        said = f"by hand: {finding.to_try}" if finding.to_try else "it says nothing to do"
        raise UsageError(f"{finding.key} has no advice to carry out; {said}. {_can(findings)}")
    return finding


def _can(findings: Sequence[Finding]) -> str:
    able = [
        f"{number} {finding.key}"
        for number, finding in enumerate(findings, 1)
        if finding.advice is not None
    ]
    return f"Of this run can be tried: {', '.join(able)}" if able else "Nothing of this run can be."


def trial_study(
    run: Run, finding: Finding, repetitions: int, seed: int, dsn: str | None = None
) -> Study:
    """The study that carries out a finding's advice. Its first variant is the run as it was.

    Raises:
        UsageError: If the advice cannot be carried out, or the record does not tell all of the run.
    """
    assert finding.advice is not None  # noqa: S101 - only those with advice are chosen
    base = recorded_request(run.facts["request"], dsn)
    change = followed(base, finding.advice, find_engine(base.engine))
    variants = (Variant(BASELINE), Variant(change.words, difference(base, change.request)))
    question = f"Does {change.words} do what {finding.key} of {run.id} says?"
    return Study(question, base, variants, repetitions, seed)


def took_s(run: Run) -> float | None:
    """How long a run took from its first word to its seal; None where it did not end."""
    begun, ended = run.facts.get("started_utc"), run.facts.get("ended_utc")
    if not begun or not ended:
        return None
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(begun)).total_seconds()
