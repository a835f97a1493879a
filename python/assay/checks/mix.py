"""Checks that each type of transaction has its required share of successful transactions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from assay.analysis.load.summary import summarise_load
from assay.analysis.load_plan import measured_phase
from assay.model.verdict import CheckResult, Verdict

if TYPE_CHECKING:
    from assay.record.reader import Run

NAME = "mix"
# Shares are printed with enough digits to show that one is too small.
DIGITS = 2


def check(run: Run) -> CheckResult:
    """Return invalid if a transaction type has less than its required share.

    If operations are dealt from decks, unfinished decks may explain the difference. If they may,
    the run is too short to decide, and the verdict is unknown.
    """
    shares_min: dict[str, float] = run.facts["workload"].get("shares_min", {})
    if not shares_min:
        reason = "mix not checked: no operation has a minimum share"
        return CheckResult(NAME, Verdict.VALID, reason, measured=False)
    if run.facts.get("fault") is not None:
        reason = "mix not checked: the engine was killed during the load"
        return CheckResult(NAME, Verdict.VALID, reason, measured=False)
    load = summarise_load(run)
    done = {} if load is None else {name: operation.ok for name, operation in load.by_name.items()}
    total = sum(done.values())
    if not total:
        return CheckResult(NAME, Verdict.UNKNOWN, "mix not checked: no operation succeeded")
    lacking = {
        name: least for name, least in shares_min.items() if done.get(name, 0) / total < least
    }
    if not lacking:
        return CheckResult(
            NAME, Verdict.VALID, f"each transaction type has its minimum share of the {total:,}"
        )
    name, least = max(lacking.items(), key=lambda entry: entry[1] - done.get(entry[0], 0) / total)
    share = done.get(name, 0) / total
    reason = (
        f"the mix violates its specification: {name} was {100 * share:.{DIGITS}f} % of "
        f"{total:,} successful transactions, and the minimum is {100 * least:g} %"
    )
    if all(
        _may_be_undealt(run, operation, done, total, lacking[operation]) for operation in lacking
    ):
        reason = f"{reason}; decks that were not finished may cause this: use a longer --time"
        return CheckResult(NAME, Verdict.UNKNOWN, reason, value=share, threshold=least)
    return CheckResult(NAME, Verdict.INVALID, reason, value=share, threshold=least)


def _may_be_undealt(run: Run, name: str, done: dict[str, int], total: int, least: float) -> bool:
    """Return True if the missing transactions fit into the last, unfinished deck."""
    phase: dict[str, Any] = measured_phase(run.facts)
    operations = run.facts["plan"]["operations"]
    played = [operations[number] for number in phase.get("operations", [])]
    if not phase.get("deck") or name not in played:
        return False
    # All clients draw from one deck; with waits, each client may hold an operation that it has not
    # sent.
    held = phase["arrival"]["clients"] if phase.get("waits") else 0
    cards = phase["weights"][played.index(name)] + held
    missing = math.ceil(least * total) - done.get(name, 0)
    return bool(missing <= cards)
