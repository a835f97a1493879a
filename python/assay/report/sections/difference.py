"""What changed between the CPU samples of two runs, as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.analysis.profile.samples import compare

if TYPE_CHECKING:
    from assay.analysis.profile.profile import Profile

ROW_KEYS = (
    "work",
    "symbol",
    "ours_samples",
    "theirs_samples",
    "ours_s",
    "theirs_s",
    "ours_share",
    "theirs_share",
    "difference_s",
    "low_s",
    "high_s",
    "is_noise",
)


def difference(ours: Profile, theirs: Profile, operation: str | None = None) -> dict[str, Any]:
    """CPU seconds of a pass on both sides; differences are ours less theirs.

    Keys: operation; scaled_by (what the other's seconds are multiplied by); operations (those that
    both have); total (a row, null without samples); work (rows, largest difference first, each with
    the rows of its `symbols`). A row has the columns of `analysis.profile.compare`.
    """
    table = compare(ours, theirs, operation)
    rows = {"total": [], "work": [], "symbol": []}  # type: dict[str, list[dict[str, Any]]]
    for row in table.iter_rows(named=True):
        rows[row["level"]].append({key: row[key] for key in ROW_KEYS})
    symbols: dict[str, list[dict[str, Any]]] = {}
    for row in rows["symbol"]:
        symbols.setdefault(row["work"], []).append(row)
    return {
        "operation": operation,
        "scaled_by": theirs.scaled_by,
        "operations": _in_both(ours, theirs, operation),
        "total": rows["total"][0] if rows["total"] else None,
        "work": [row | {"symbols": symbols.get(row["work"], [])} for row in rows["work"]],
    }


def _in_both(ours: Profile, theirs: Profile, operation: str | None) -> list[str]:
    others = set(theirs.passes["operation"])
    names = ours.passes["operation"].unique(maintain_order=True)
    return [name for name in names if name in others and operation in (None, name)]
