"""Checks that the data were consistent before and after the load.

A condition is an operation of the phase `before` or `after` that must return no rows. Each row that
a condition returns is a violation. Operations of the mix that are executed first, for comparison
with kept rows, are not conditions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from assay.model.verdict import CheckResult, Verdict
from assay.record.layout import PHASE_AFTER, PHASE_BEFORE

if TYPE_CHECKING:
    from pathlib import Path

    from assay.record.reader import Run

NAME = "conditions"
PHASES = (PHASE_BEFORE, PHASE_AFTER)


def check(run: Run) -> CheckResult:
    """Return invalid if a consistency query returned a row, unknown if it was not executed."""
    asked = {
        phase: [name for name in run.facts["workload"].get(phase, []) if _is_condition(run, name)]
        for phase in PHASES
    }
    planned = {phase["name"] for phase in run.facts["plan"].get("phases", [])}
    if not any(asked.values()):
        reason = "no conditions to check: the workload declares none"
        return CheckResult(NAME, Verdict.VALID, reason, measured=False)
    of_phases = pl.col("phase").is_in(PHASES) & (pl.col("outcome") == "ok")
    events = run.table("events").filter(of_phases).select("phase", "operation", "rows")
    seen = {(phase, name): rows for phase, name, rows in events.iter_rows()}
    recovered = [
        run.recovered(database["number"]).counts for database in run.facts.get("recovered", [])
    ]
    if recovered:
        # Of several recovered databases, use the one with the most violations of the condition.
        names = dict.fromkeys(name for counts in recovered for name in counts)
        seen |= {
            (PHASE_AFTER, name): max(
                seen.get((PHASE_AFTER, name), 0), *(counts.get(name, 0) for counts in recovered)
            )
            for name in names
        }
        planned.add(PHASE_AFTER)
    broken = [key for key, rows in seen.items() if rows and key[1] in asked[key[0]]]
    if broken:
        return _broken(run, broken, seen)
    missing = [
        name
        for phase in PHASES
        if phase in planned
        for name in asked[phase]
        if (phase, name) not in seen
    ]
    if missing:
        reason = f"{len(missing)} consistency conditions were not checked, such as {missing[0]}"
        return CheckResult(NAME, Verdict.UNKNOWN, reason)
    held = [f"{len(asked[phase])} {phase}" for phase in PHASES if phase in planned and asked[phase]]
    reason = f"all consistency conditions held: {' and '.join(held)} the load"
    if recovered:
        reason = f"{reason}; the conditions after the load were checked in each recovered database"
    if PHASE_BEFORE not in planned and asked[PHASE_BEFORE]:
        reason = (
            f"{reason}; Assay checked no condition before the load, because that would have "
            "warmed the cache"
        )
    return CheckResult(NAME, Verdict.VALID, reason)


def _broken(
    run: Run, broken: list[tuple[str, str]], seen: dict[tuple[str, str], Any]
) -> CheckResult:
    phase, name = broken[0]
    title = run.facts["workload"]["operation_titles"].get(name)
    description = f" ({title})" if title else ""
    rows = seen[phase, name]
    more = f"; {len(broken) - 1} more are violated" if len(broken) > 1 else ""
    reason = (
        f"the condition {name}{description} was violated {phase} the load, by {rows}"
        f" row{'s' if rows != 1 else ''}{more}"
    )
    return CheckResult(NAME, Verdict.INVALID, reason, value=float(len(broken)), threshold=0.0)


def _is_condition(run: Run, name: str) -> bool:
    if name in run.facts["workload"].get("checks", []):
        return False
    path = run.expected(name)
    return path is not None and _has_no_row(path)


def _has_no_row(path: Path) -> bool:
    lines = path.read_text(encoding="utf-8").splitlines()
    return sum(bool(line.strip()) for line in lines) == 1
