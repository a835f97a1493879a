"""What the first execution of each operation took that later ones did not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.findings.case import names_text
from assay.analysis.operations import is_measured
from assay.model.finding import Evidence, Finding, Tells
from assay.model.units import bytes_text, count_text, percent_text, seconds_text
from assay.record.layout import PHASE_WARMUP

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case

METHOD = "first-run"
# First executions that took this much longer than later ones, or less, are told by nobody.
LONGER_MIN = 0.2
# Below this the clock would be read more often than it is worth.
SECONDS_MIN = 0.05
NAMED_OPERATIONS = 3
# The kernel is named where it is this much of the excess: a little of it is in everything.
KERNEL_SHARE = 0.2


def find(case: Case) -> list[Finding]:
    """The excess of first executions; silent under a load, and without a later execution."""
    if case.load is not None:
        return []
    each = first_and_later(case.executions)
    if each.is_empty():
        return []
    sums = each.select(pl.exclude("operation", "in_warm_up").sum()).row(0, named=True)
    excess_s = sums["seconds"] - sums["later_seconds"]
    if excess_s < max(SECONDS_MIN, LONGER_MIN * sums["later_seconds"]):
        return []
    in_warm_up = bool(each["in_warm_up"].all())
    whole_s = float(case.executions["seconds"].sum())
    most = each.with_columns((pl.col("seconds") - pl.col("later_seconds")).alias("excess"))
    names = most.sort("excess", "operation", descending=[True, False])["operation"].to_list()
    when = ", in the warm-up," if in_warm_up else ""
    # What happened before the measured part is no cause of anything in it.
    tells: Tells = "shape" if in_warm_up else "cause"
    found = Finding(
        claim=(
            f"First executions{when} took {seconds_text(excess_s)} longer than later ones"
            f" ({percent_text(excess_s / sums['later_seconds'])}), most of it in"
            f" {names_text(names)}{_why(sums, excess_s)}"
        ),
        effect_share=min(1.0, excess_s / whole_s) if whole_s > 0 else 0.0,
        interval=None,
        runs=(case.run_id,),
        method=METHOD,
        to_try=_to_try(case, in_warm_up=in_warm_up),
        tells=tells,
        operations=tuple(names[:NAMED_OPERATIONS]),
        evidence=(Evidence(_figures(sums), "timeline"),),
    )
    return [found]


def _to_try(case: Case, *, in_warm_up: bool) -> str | None:
    if in_warm_up:
        return None
    if case.asked_to_read:
        return f"--state hot, to measure what comes after: this run was to begin {case.state}"
    return "a pass before the measured ones: later ones have memory"


def first_and_later(executions: pl.DataFrame) -> pl.DataFrame:
    """One row an operation that was executed more than once.

    Columns: operation, in_warm_up (whether the first was); of the first execution seconds,
    system_s, minor_faults, read_bytes; of the median later one the same as later_*. Absent is null.
    """
    figures = ("seconds", "system_s", "minor_faults", "read_bytes")
    phases = (pl.col("phase") == PHASE_WARMUP) | is_measured(executions)
    # Executions are in the order of their time.
    return (
        executions.filter(phases)
        .group_by("operation", maintain_order=True)
        .agg(
            (pl.col("phase").first() == PHASE_WARMUP).alias("in_warm_up"),
            pl.len().alias("executions"),
            *(pl.col(name).first() for name in figures),
            *(pl.col(name).slice(1).median().alias(f"later_{name}") for name in figures),
        )
        .filter((pl.col("executions") > 1) & (pl.col("later_seconds") > 0))
        .drop("executions")
    )


def _grown(sums: dict[str, Any], name: str) -> float:
    return float((sums[name] or 0.0) - (sums[f"later_{name}"] or 0.0))


def _why(sums: dict[str, Any], excess_s: float) -> str:
    """What there was more of, as far as it was metered."""
    parts = []
    system_s, faults = _grown(sums, "system_s"), _grown(sums, "minor_faults")
    if system_s > 0:
        parts.append(f"{percent_text(min(1.0, system_s / excess_s))} of that in the kernel")
    if faults > 0:
        parts.append(f"{count_text(faults)} more page faults")
    if _grown(sums, "read_bytes") > 0:
        parts.append(f"{bytes_text(_grown(sums, 'read_bytes'))} more from storage")
    return f": {', '.join(parts)}" if parts else ""


def _figures(sums: dict[str, Any]) -> str:
    first, later = seconds_text(sums["seconds"]), seconds_text(sums["later_seconds"])
    return f"all operations once: {first} the first time, {later} later"
