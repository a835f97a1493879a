"""Checks that a recovered database has every write that was acknowledged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.answers.recovery import looks
from assay.model.units import seconds_text
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from assay.analysis.answers.recovery import RecoveredCopy
    from assay.record.reader import Run

NAME = "recovery"
# Description of the crash that a database recovered from.
AFTER = {"kill": "after SIGKILL", "copy": "from a copy of the device"}
KEYS_TOLD = 3


def check(run: Run) -> CheckResult:
    """Return invalid if an acknowledged write is missing, or if the engine did not start."""
    recovered = looks(run)
    if not recovered:
        return _without_copies(run)
    operation = run.facts["workload"]["receipt"]["operation"]
    worst = max(recovered, key=lambda copy: (copy.error is not None, copy.comparison.lost))
    comparison, after = worst.comparison, AFTER.get(worst.kind, worst.kind)
    lost = float(sum(copy.comparison.lost for copy in recovered))
    if worst.error is not None:
        reason = (
            f"the database could not be recovered {after}, with {comparison.acknowledged:,} "
            f"acknowledged {operation}: {worst.error}"
        )
        return CheckResult(NAME, Verdict.INVALID, reason, value=lost, threshold=0.0)
    if comparison.lost:
        reason = (
            f"{comparison.lost:,} of {comparison.acknowledged:,} acknowledged {operation} were"
            f" lost {after}: {_keys(run, worst)}"
        )
        return CheckResult(NAME, Verdict.INVALID, reason, value=lost, threshold=0.0)
    acknowledged = sum(copy.comparison.acknowledged for copy in recovered)
    if not acknowledged:
        reason = f"no {operation} had been acknowledged before the crash: let the crash come later"
        return CheckResult(NAME, Verdict.UNKNOWN, reason)
    return CheckResult(NAME, Verdict.VALID, _held(recovered, acknowledged, operation), value=lost)


def _without_copies(run: Run) -> CheckResult:
    """Return the verdict for a run in which no recovered database was queried."""
    if run.facts.get("fault") is not None:
        done = "the engine was killed, and the state of its database after the crash"
    elif run.facts.get("copies"):
        done = "the device was copied, and the state of the database in the copies"
    else:
        reason = "recovery not checked: the run had neither --kill nor --copies"
        return CheckResult(NAME, Verdict.VALID, reason, measured=False)
    return CheckResult(NAME, Verdict.UNKNOWN, f"{done} is not known")


def _held(recovered: list[RecoveredCopy], acknowledged: int, operation: str) -> str:
    first = recovered[0]
    if len(recovered) > 1:
        return (
            f"all {acknowledged:,} acknowledged {operation} were found in {len(recovered)}"
            " recovered databases"
        )
    took = "" if first.recovery_s is None else f", {seconds_text(first.recovery_s)} to recover"
    more = first.comparison.unacknowledged
    beside = f"; {more:,} more had no answer yet" if more else ""
    after = AFTER.get(first.kind, first.kind)
    return f"all {acknowledged:,} acknowledged {operation} were found {after}{took}{beside}"


def _keys(run: Run, worst: RecoveredCopy) -> str:
    """Return text with the first lost keys, such as `w_id 1, d_id 3, o_id 3120`."""
    names = run.facts["workload"]["receipt"]["names"]
    keys = [
        ", ".join(f"{name} {value}" for name, value in zip(names, key, strict=True))
        for key in worst.comparison.first_lost[:KEYS_TOLD]
    ]
    more = worst.comparison.lost - len(keys)
    return "; ".join(keys) + (f"; and {more:,} more" if more else "")
