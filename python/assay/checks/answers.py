"""Whether every row that was returned is right. A wrong answer must never look like a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.answers import Tolerances, difference, read_expected
from assay.analysis.operations import plain
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from assay.record.reader import Run

NAME = "answers"


def check(run: Run) -> CheckResult:
    """Invalid at the first wrong row; unknown where there is nothing to compare with."""
    if not run.facts["engine"]["answers"]:
        engine = run.facts["engine"]["name"]
        reason = f"answers not verified: engine {engine} returns no rows"
        return CheckResult(NAME, Verdict.UNKNOWN, reason)
    ok = plain(run.table("events")).filter(pl.col("outcome") == "ok")
    digests = _digests(ok)
    if not digests:
        return CheckResult(NAME, Verdict.UNKNOWN, "answers not verified: no operation succeeded")
    empty = set(ok.filter(pl.col("rows") == 0)["operation"])
    wrong = [
        words
        for operation in digests
        if (words := _wrong(run, operation, returned_nothing=operation in empty)) is not None
    ]
    if wrong:
        more = f" ({len(wrong)} of {len(digests)} operations are wrong)" if len(wrong) > 1 else ""
        return CheckResult(NAME, Verdict.INVALID, f"wrong answer: {wrong[0]}{more}")
    unknown = [operation for operation in digests if run.expected(operation) is None]
    if unknown:
        return CheckResult(NAME, Verdict.UNKNOWN, _not_verified(run, unknown, len(digests)))
    unseen = _unseen(run, digests)
    if unseen:
        reason = f"answers not verified: {unseen} returned more different results than were kept"
        return CheckResult(NAME, Verdict.UNKNOWN, reason)
    reason = f"{len(digests)} of {len(digests)} answers right, in every pass"
    return CheckResult(NAME, Verdict.VALID, reason)


def _digests(ok: pl.DataFrame) -> dict[str, list[str]]:
    """Digests of each operation's results that have rows, as 16 hexadecimal digits."""
    with_rows = pl.col("digest").filter(pl.col("rows") > 0).unique()
    grouped = ok.group_by("operation", maintain_order=True).agg(with_rows)
    return {name: [f"{digest:016x}" for digest in digests] for name, digests in grouped.iter_rows()}


def _wrong(run: Run, operation: str, *, returned_nothing: bool) -> str | None:
    expected_file = run.expected(operation)
    if expected_file is None:
        return None
    expected = read_expected(expected_file)
    workload = run.facts["workload"]
    tolerances = Tolerances.of(
        workload["answer_columns"].get(operation, {}),
        workload["tolerance"]["sum_absolute"],
        workload["tolerance"]["ratio_relative"],
        run.facts["request"]["scale"],
    )
    results = [_rows(path) for path in run.results(operation).values()]
    # A result without rows may have no file: there was nothing to keep.
    for rows in [[], *results] if returned_nothing else results:
        different = difference(rows, expected, tolerances)
        if different is not None:
            return f"{operation}, {different}"
    return None


def _rows(path: Path) -> list[tuple[object, ...]]:
    return pl.read_ipc(path).rows()


def _unseen(run: Run, digests: dict[str, list[str]]) -> str | None:
    for operation, seen in digests.items():
        if not set(seen) <= set(run.results(operation)):
            return operation
    return None


def _not_verified(run: Run, unknown: list[str], operations: int) -> str:
    if run.facts["request"]["parameters"] != "default":
        why = "reference rows are kept for default parameters only"
    elif len(unknown) == operations:
        why = f"no reference rows are kept for scale {run.facts['request']['scale']:g}"
    else:
        why = f"no reference rows are kept for {', '.join(unknown)}"
    return f"answers not verified: {why}"
