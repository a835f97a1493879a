"""Whether every row that was returned is right. A wrong answer must never look like a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.answers import Tolerances, difference, read_expected
from assay.analysis.operations import plain
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from assay.record.reader import Run

NAME = "answers"


def check(run: Run) -> CheckResult:
    """Invalid at the first wrong row; unknown where there is nothing to compare with."""
    if not run.facts["engine"]["answers"]:
        engine = run.facts["engine"]["name"]
        reason = f"answers not verified: engine {engine} returns no rows"
        return CheckResult(NAME, Verdict.UNKNOWN, reason)
    digests = _digests(run)
    wrong = [words for operation in digests if (words := _wrong(run, operation)) is not None]
    if wrong:
        more = f" ({len(wrong)} of {len(digests)} operations are wrong)" if len(wrong) > 1 else ""
        return CheckResult(NAME, Verdict.INVALID, f"wrong answer: {wrong[0]}{more}")
    why_unknown = _why_unknown(run, digests)
    if why_unknown:
        return CheckResult(NAME, Verdict.UNKNOWN, why_unknown)
    compared = len(digests) - len(_counted_instead(run, digests))
    if not compared:
        reason = "answers not compared: all values are drawn at each execution; rows are counted"
        return CheckResult(NAME, Verdict.VALID, reason, measured=False)
    reason = f"{compared} of {compared} answers right, in every pass"
    return CheckResult(NAME, Verdict.VALID, reason)


def _digests(run: Run) -> dict[str, list[str]]:
    """Digests of each operation's results, as 16 hexadecimal digits."""
    ok = plain(run.table("events")).filter(pl.col("outcome") == "ok")
    grouped = ok.group_by("operation", maintain_order=True).agg(pl.col("digest").unique())
    return {name: [f"{digest:016x}" for digest in digests] for name, digests in grouped.iter_rows()}


def _wrong(run: Run, operation: str) -> str | None:
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
    for _, path in run.results(operation):
        different = difference(_rows(path), expected, tolerances)
        if different is not None:
            return f"{operation}, {different}"
    return None


def _why_unknown(run: Run, digests: dict[str, list[str]]) -> str | None:
    """What could not be compared, where nothing that could be was wrong."""
    if not digests:
        return "answers not verified: no operation succeeded"
    counted = _counted_instead(run, digests)
    digests = {name: seen for name, seen in digests.items() if name not in counted}
    without = [operation for operation in digests if run.expected(operation) is None]
    if without:
        return _not_verified(run, without, len(digests))
    unseen = _unseen(run, digests)
    if unseen:
        return f"answers not verified: {unseen} returned more different results than were kept"
    planned = len(set(run.facts["plan"]["operations"]) - counted)
    if len(digests) < planned:
        return f"{len(digests)} of {planned} answers right; the others were not returned"
    return None


def _counted_instead(run: Run, operations: Iterable[str]) -> set[str]:
    """Operations without one answer, of which the check of row counts takes care."""
    told = run.facts["workload"]
    drawn = set(told.get("drawn_operations", [])) & set(told.get("rows_expected", {}))
    return drawn & set(operations)


def _rows(path: Path) -> list[tuple[object, ...]]:
    return pl.read_ipc(path).rows()


def _unseen(run: Run, digests: dict[str, list[str]]) -> str | None:
    for operation, seen in digests.items():
        kept = run.results(operation)
        # With as many kept as are kept at most, there may have been more.
        full = len(kept) >= run.facts["plan"]["results_kept"]
        if full or not set(seen) <= {digest for digest, _ in kept}:
            return operation
    return None


def _not_verified(run: Run, unknown: list[str], operations: int) -> str:
    drawn = [name for name in unknown if name in run.facts["workload"].get("drawn_operations", [])]
    if drawn:
        why = (
            f"values of {', '.join(drawn)} are drawn at each execution; `rows` in workload.toml"
            " would say how many rows come back"
        )
    elif run.facts["request"]["parameters"] != "default":
        why = "reference rows are kept for default parameters only"
    elif len(unknown) == operations:
        why = f"no reference rows are kept for scale {run.facts['request']['scale']:g}"
    else:
        why = f"no reference rows are kept for {', '.join(unknown)}"
    return f"answers not verified: {why}"
