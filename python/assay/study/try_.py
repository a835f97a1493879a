"""A finding's advice as a study: the run as it was, and with the advice followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.discovery import find_engine
from assay.model.errors import UsageError, suggestion
from assay.running.asked.request import recorded_request
from assay.study.advice import followed
from assay.study.variants import Part, Study, Variant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.model.finding import Finding
    from assay.record.reader import Run

    Numbered = tuple[int, Finding]

BASELINE = "as it was"
PART = "advice"


def chosen(findings: Sequence[Finding], asked: str) -> Finding:
    """The finding of a run that is meant by its key, its method or its number in the list, from 1.

    Raises:
        UsageError: If there is none, or nothing can be carried out; names those that can.
    """
    if not findings:
        raise UsageError("the run has no findings, so there is nothing to try")
    numbered = list(enumerate(findings, 1))
    meant = _matching(numbered, asked)
    if not meant:
        raise UsageError(f"the run has no finding {asked!r}; {_nearest(numbered, asked)}")
    if len(meant) > 1:
        raise UsageError(f"{asked!r} are {len(meant)} findings: say {_listed(meant, ' or ')}")
    ((_, finding),) = meant
    if finding.advice is None:
        said = f"by hand: {finding.to_try}" if finding.to_try else "it says nothing to do"
        raise UsageError(
            f"{finding.key} has no advice to carry out; {said}; {_triable_text(numbered)}"
        )
    return finding


def _matching(numbered: Sequence[Numbered], asked: str) -> list[Numbered]:
    """Return findings of that number or key, else of that method: with advice, if any has."""
    exact = [
        (number, finding) for number, finding in numbered if asked in (str(number), finding.key)
    ]
    of_method = [(number, finding) for number, finding in numbered if finding.method == asked]
    return exact or _advised(of_method) or of_method


def _advised(numbered: Sequence[Numbered]) -> list[Numbered]:
    return [(number, finding) for number, finding in numbered if finding.advice is not None]


def _nearest(numbered: Sequence[Numbered], asked: str) -> str:
    """The key that is nearest to what was asked for, else all in the order of the report."""
    near = suggestion(asked, [finding.key for _, finding in numbered])
    return near if near.startswith("did you mean") else f"it has {_listed(numbered, ', ')}"


def _listed(numbered: Sequence[Numbered], between: str) -> str:
    return between.join(f"{number} {finding.key}" for number, finding in numbered)


def _triable_text(numbered: Sequence[Numbered]) -> str:
    able = _advised(numbered)
    return (
        f"of this run can be tried: {_listed(able, ', ')}" if able else "nothing of this run can be"
    )


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
    variants = (Variant(BASELINE, base), Variant(change.text, change.request))
    question = f"Does {change.text} do what {finding.key} of {run.id} says?"
    return Study(question, (Part(PART, variants, repetitions),), seed)
