"""Compares a recovered database with the writes that were acknowledged before the crash."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from assay.record.reader import Run

LOST_TOLD_MAX = 10


@dataclass(frozen=True)
class ReceiptCount:
    """Numbers of acknowledged writes that a recovered database still has, and that it lost.

    Attributes:
        acknowledged: Number of writes whose success was reported to the client.
        kept: Number of acknowledged writes that were found.
        lost: Number of acknowledged writes that are missing: `acknowledged = kept + lost`. A key
            that was acknowledged twice was lost once and then assigned again, so one of the two
            counts as lost.
        unacknowledged: Number of writes that were found although their acknowledgement did not
            arrive in time. Such writes are no error.
        first_lost: Keys of the first lost writes, in the order of their acknowledgements.
        lost_from_ns: Time at which the first lost write was acknowledged; None if nothing was lost.
    """

    acknowledged: int
    kept: int
    lost: int
    unacknowledged: int
    first_lost: tuple[tuple[int, ...], ...] = ()
    lost_from_ns: int | None = None


def compared(
    receipts: pl.DataFrame, present: pl.DataFrame | None, before_ns: int | None = None
) -> ReceiptCount:
    """Compare acknowledged writes (receipts) with the content of a recovered database.

    Args:
        receipts: Column `finished_ns`, and a column of integers for each value of a receipt.
        present: Values in the recovered database, with the same value columns, in any order.
            None, for a database that could not be queried, counts as empty.
        before_ns: Only receipts acknowledged before this time count; None means all receipts.
    """
    names = [name for name in receipts.columns if name != "finished_ns"]
    asked = receipts if before_ns is None else receipts.filter(pl.col("finished_ns") < before_ns)
    there = receipts.select(names).clear() if present is None else present.select(names).unique()
    # If a key has several receipts, the row in the database belongs to the last one.
    asked = asked.sort("finished_ns").with_columns(
        (pl.int_range(pl.len()).over(names) == pl.len().over(names) - 1).alias("last")
    )
    is_there = asked.join(there.with_columns(there=pl.lit(value=True)), on=names, how="left")
    kept = is_there.filter(pl.col("last") & pl.col("there").is_not_null()).height
    lost = is_there.filter(~(pl.col("last") & pl.col("there").is_not_null())).sort("finished_ns")
    return ReceiptCount(
        acknowledged=asked.height,
        kept=kept,
        lost=lost.height,
        unacknowledged=there.height - kept,
        first_lost=tuple(lost.select(names).head(LOST_TOLD_MAX).iter_rows()),
        lost_from_ns=lost["finished_ns"].item(0) if lost.height else None,
    )


@dataclass(frozen=True)
class RecoveredCopy:
    """One recovered database of a run, compared with the run's receipts.

    Attributes:
        number, kind, recovery_s, error: Entries of `recovered` in run.json.
        at_ns: Time before which acknowledged writes count: the crash, or the beginning of the
            snapshot; None if not recorded.
        comparison: Comparison of the receipts with the recovered database.
    """

    number: int
    kind: str
    at_ns: int | None
    recovery_s: float | None
    error: str | None
    comparison: ReceiptCount


def looks(run: Run) -> list[RecoveredCopy]:
    """Return a comparison with acknowledged writes for each recovered database of a run.

    A recovery that was in progress when the run ended early is left out, because its content is
    unknown.

    Raises:
        RecordUnreadableError: If the record is damaged.
    """
    receipt = run.facts["workload"].get("receipt")
    copies = [
        copy
        for copy in run.facts.get("recovered", [])
        if copy["recovery_s"] is not None or copy["error"] is not None
    ]
    if not copies or receipt is None or not run.has("receipts"):
        return []
    names = receipt["names"]
    receipts = receipts_of(run.table("receipts"), receipt["operation"], names)
    fault_ns = (run.facts.get("fault") or {}).get("at_ns")
    return [
        RecoveredCopy(
            copy["number"],
            copy["kind"],
            copy["before_ns"] or fault_ns,
            copy["recovery_s"],
            copy["error"],
            compared(
                receipts, _recovered_keys(run, copy, receipt["found"], names), copy["before_ns"]
            ),
        )
        for copy in copies
    ]


def _recovered_keys(
    run: Run, copy: dict[str, Any], operation: str, names: Sequence[str]
) -> pl.DataFrame | None:
    """Return the integer keys that an operation wrote, read from a recovered database."""
    rows = run.recovered(copy["number"]).rows(operation)
    if rows is None or rows.width != len(names):
        return None
    return rows.rename(dict(zip(rows.columns, names, strict=True))).cast(
        dict.fromkeys(names, pl.Int64)
    )


def receipts_of(stream: pl.DataFrame, operation: str, names: Sequence[str]) -> pl.DataFrame:
    """Return the acknowledged writes (receipts) of one operation."""
    own = stream.filter(pl.col("operation").cast(pl.String) == operation)
    values = [pl.col("values").list.get(place).alias(name) for place, name in enumerate(names)]
    return own.select("finished_ns", *values)
