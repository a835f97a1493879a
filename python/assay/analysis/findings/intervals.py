"""How far a share of the run's time is known, by how it differs from pass to pass.

One run cannot say how runs differ. What its passes say is the least that a figure is unsure by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.student import mean_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Two passes have one degree of freedom: their interval would hold everything.
PASSES_MIN = 3


def share_interval(
    measured: pl.DataFrame, fractions: Mapping[str, float]
) -> tuple[float, float] | None:
    """95 % interval of the share that fractions of operations are of the time of a pass.

    Args:
        measured: One row an execution of the measured part: pass, operation, seconds.
        fractions: Of operations, how much of their own time is meant, 0 to 1.

    Returns:
        None below `PASSES_MIN` whole passes: those that hold each operation.
    """
    if measured.is_empty() or not fractions:
        return None
    every = measured["operation"].n_unique()
    told = pl.DataFrame(
        {"operation": list(fractions), "fraction": list(fractions.values())},
        schema={"operation": pl.String, "fraction": pl.Float64},
    )
    meant = pl.col("seconds") * pl.col("fraction").fill_null(0.0)
    each = (
        measured.join(told, on="operation", how="left")
        .group_by("pass", maintain_order=True)
        .agg(
            pl.col("operation").n_unique().alias("operations"),
            (meant.sum() / pl.col("seconds").sum()).alias("share"),
        )
        .filter((pl.col("operations") == every) & pl.col("share").is_finite())
    )
    return mean_interval(each["share"].to_list())


def mean_interval(shares: Sequence[float]) -> tuple[float, float] | None:
    """95 % interval of the mean of shares, by Student's t, within 0 to 1; None of too few."""
    if len(shares) < PASSES_MIN:
        return None
    ends = mean_of(shares).interval
    return None if ends is None else (max(0.0, ends[0]), min(1.0, ends[1]))
