"""Makes the document section on CPU sample differences between two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from assay.analysis.profile.samples import compare

if TYPE_CHECKING:
    from assay.analysis.profile.profile import Profile
    from assay.report.documents.profile.profile_difference import (
        ProfileDifference,
        SampleDifference,
    )

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


def difference(ours: Profile, theirs: Profile, operation: str | None = None) -> ProfileDifference:
    """Return the CPU seconds per pass of two runs, and their differences.

    Keys: operation; scaled_by (factor of the other run's seconds); operations (operations of both
        runs); total (a row, null without samples); work (rows, largest difference first, each with
        the rows of its `symbols`). A row has the columns of `analysis.profile.compare`.
    """
    table = compare(ours, theirs, operation)
    rows: dict[str, list[SampleDifference]] = {"total": [], "work": [], "symbol": []}
    for row in table.iter_rows(named=True):
        rows[row["level"]].append(cast("SampleDifference", {key: row[key] for key in ROW_KEYS}))
    symbols: dict[str | None, list[SampleDifference]] = {}
    for symbol in rows["symbol"]:
        symbols.setdefault(symbol["work"], []).append(symbol)
    return {
        "operation": operation,
        "scaled_by": theirs.scaled_by,
        "operations": _in_both(ours, theirs, operation),
        "total": rows["total"][0] if rows["total"] else None,
        "work": [{**work, "symbols": symbols.get(work["work"], [])} for work in rows["work"]],
    }


def _in_both(ours: Profile, theirs: Profile, operation: str | None) -> list[str]:
    others = set(theirs.passes["operation"])
    names = ours.passes["operation"].unique(maintain_order=True)
    return [name for name in names if name in others and operation in (None, name)]
