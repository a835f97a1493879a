"""Finds the harm of a tried change: wrong answers, other rows, or operations that fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.answers.changed import changed_answers
from assay.analysis.findings.operation_shares import names_text
from assay.checks import answers, outcomes
from assay.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.record.reader import Run


def spoiled_by_change(rounds: Sequence[tuple[Run, Run]]) -> str | None:
    """Return a clause on what is wrong with a change; None if nothing is.

    Rows of the two runs of a round are compared if the change rewrote a query, because answers to
    rewritten queries are not verified.

    Args:
        rounds: Pairs of runs, before and with the change.
    """
    if any(answers.check(after).verdict is Verdict.INVALID for _, after in rounds):
        return "answers are wrong with the change"
    rewritten = [pair for pair in rounds if pair[1].facts["request"].get("remove")]
    changed = dict.fromkeys(name for pair in rewritten for name in changed_answers(*pair))
    if changed:
        return f"with the change, {names_text(list(changed))} returned other rows"
    if any(_fails(after) and not _fails(before) for before, after in rounds):
        return "operations fail with the change"
    return None


def _fails(run: Run) -> bool:
    return outcomes.check(run).verdict is Verdict.INVALID
