"""Makes the study that tries a finding's advice: runs with and without the change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.advising import STATEMENTS
from assay.engines.checking import OpensFiles
from assay.engines.discovery import find_engine
from assay.model.errors import UsageError, suggestion
from assay.running.asked.request import recorded_request
from assay.study.experiments.following import followed
from assay.study.variants import Part, Study, Variant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.model.finding import Change, Finding
    from assay.record.reader import Run
    from assay.running.asked.request import GivenAgain, RunRequest

    Numbered = tuple[int, Finding]

BASELINE = "as it was"
PART = "advice"


def chosen(findings: Sequence[Finding], asked: str) -> Finding:
    """Return the finding of a run by its key, method or number.

    Raises:
        UsageError: If no finding matches, or its advice cannot be carried out. The error message
            names findings whose advice can be carried out.
    """
    if not findings:
        raise UsageError("the run has no findings, so there is nothing to try")
    numbered = list(enumerate(findings, 1))
    meant = _matching(numbered, asked)
    if not meant:
        raise UsageError(f"the run has no finding {asked!r}; {_nearest(numbered, asked)}")
    if len(meant) > 1:
        raise UsageError(
            f"{asked!r} matches {len(meant)} findings: name one of {_listed(meant, ' or ')}"
        )
    ((_, finding),) = meant
    if finding.advice is None:
        said = f"by hand: {finding.to_try}" if finding.to_try else "it says nothing to do"
        raise UsageError(
            f"the finding {finding.key} has no advice that Assay can carry out; {said}; "
            f"{_triable_text(numbered)}"
        )
    return finding


def _matching(numbered: Sequence[Numbered], asked: str) -> list[Numbered]:
    """Return the findings that match a number, key or method."""
    exact = [
        (number, finding) for number, finding in numbered if asked in (str(number), finding.key)
    ]
    of_method = [(number, finding) for number, finding in numbered if finding.method == asked]
    return exact or _advised(of_method) or of_method


def _advised(numbered: Sequence[Numbered]) -> list[Numbered]:
    return [(number, finding) for number, finding in numbered if finding.advice is not None]


def _nearest(numbered: Sequence[Numbered], asked: str) -> str:
    """Return the key most similar to the requested one, else all in the order of the report."""
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
    run: Run,
    finding: Finding,
    repetitions: int,
    seed: int,
    given: GivenAgain | None = None,
    *,
    allow_changes: bool = False,
) -> Study:
    """Return the study that tries a finding's advice.

    The study's first variant is the run as it was.

    Args:
        run: Run of the finding.
        finding: A finding that has advice.
        repetitions: Number of rounds.
        seed: Seed of the order of runs.
        given: Options of the run that were given again.
        allow_changes: Whether a user's tables may be changed, and the changes reverted.

    Raises:
        UsageError: If the advice cannot be carried out, or the record lacks parts of the request.
    """
    assert finding.advice is not None  # noqa: S101 - only those with advice are chosen
    base = recorded_request(run.facts["request"], given)
    statements = server_change(run, finding)
    if statements is not None and not allow_changes:
        raise UsageError(_changes_tables(statements, base))
    if allow_changes and statements is None:
        raise UsageError(
            "--allow-changes: this advice does not change your tables: remove --allow-changes"
        )
    change = followed(base, finding.advice, find_engine(base.engine), statements)
    if statements is not None:
        base = base.changed(undo=change.request.undo)
    variants = (Variant(BASELINE, base), Variant(change.text, change.request))
    question = f"Does {change.text} do what {finding.key} of {run.id} says?"
    return Study(question, (Part(PART, variants, repetitions),), seed)


def server_change(run: Run, finding: Finding) -> Change | None:
    """Return the statements of a finding's advice that change a user's tables.

    The result is None if the advice changes no tables, or only tables that Assay created.
    """
    own_tables = (run.facts.get("workload") or {}).get("own_tables")
    if not own_tables or run.facts["request"].get("dsn") is None:
        return None
    is_of_tables = finding.advice is not None and finding.advice.kind in STATEMENTS
    return finding.change if is_of_tables else None


def _changes_tables(change: Change, request: RunRequest) -> str:
    engine = find_engine(request.engine).engine()
    where = "tables of a running server"
    if request.dsn is not None and isinstance(engine, OpensFiles):
        where = f"the file {engine.file(request.dsn)}"
    return (
        f"this changes {where}. With --allow-changes it is made, measured and"
        f" taken back; by hand: {' '.join(change.sql.split())} ({change.costs})"
    )
