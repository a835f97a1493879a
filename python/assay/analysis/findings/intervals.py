"""Computes intervals of a finding's time share, from passes and from the number of samples.

One run cannot show the variation between runs. The run's passes and samples give a lower bound of
the uncertainty. The errors of passes and of samples are independent, so the squares of their half
widths add up.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.stats.student import mean_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Two passes have one degree of freedom: their interval would be too wide to use.
PASSES_MIN = 3
# Quantile of the normal distribution for 95 %, which applies because there are many samples.
NORMAL_QUANTILE = 1.96
# An interval that rounds to zero width would claim a certainty that no measurement has.
WIDTH_MIN = 1e-6


def share_interval(
    measured: pl.DataFrame, fractions: Mapping[str, float], looks: Mapping[str, float] | None = None
) -> tuple[float, float] | None:
    """Return the 95 % interval of a share of time, from the variation between passes.

    Args:
        measured: One row for each execution of the measured part: pass, operation, seconds.
        fractions: Share of each operation's own time, 0 to 1.
        looks: Number of samples of each operation's threads; None if its parts were counted.

    Returns:
        The lower and upper end; None below `PASSES_MIN` complete passes, and if neither passes nor
        samples give the uncertainty of the share.
    """
    if measured.is_empty() or not fractions:
        return None
    every = measured["operation"].n_unique()
    fraction = pl.col("operation").replace_strict(fractions, default=0.0, return_dtype=pl.Float64)
    meant = pl.col("seconds") * fraction
    by_pass = (
        measured.group_by("pass", maintain_order=True)
        .agg(
            pl.col("operation").n_unique().alias("operations"),
            (meant.sum() / pl.col("seconds").sum()).alias("share"),
        )
        .filter((pl.col("operations") == every) & pl.col("share").is_finite())
    )
    by_passes = mean_interval(by_pass["share"].to_list())
    return None if by_passes is None else _wider(by_passes, measured, fractions, looks or {})


def _wider(
    interval: tuple[float, float],
    measured: pl.DataFrame,
    fractions: Mapping[str, float],
    looks: Mapping[str, float],
) -> tuple[float, float] | None:
    """Return a time share's interval widened by the sampling error; None for zero width.

    A share p of n samples has the variance p (1 - p) / n of a binomial proportion.
    """
    whole = float(measured["seconds"].sum())
    shares = dict(measured.group_by("operation").agg(pl.col("seconds").sum() / whole).iter_rows())
    variance = math.fsum(
        shares.get(name, 0.0) ** 2 * fraction * (1 - fraction) / looks[name]
        for name, fraction in fractions.items()
        if looks.get(name)
    )
    middle, half = (interval[0] + interval[1]) / 2, (interval[1] - interval[0]) / 2
    half = math.hypot(half, NORMAL_QUANTILE * math.sqrt(max(0.0, variance)))
    return (max(0.0, middle - half), min(1.0, middle + half)) if half > WIDTH_MIN else None


def mean_interval(shares: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % interval of a mean of shares, by Student's t; None for too few shares."""
    if len(shares) < PASSES_MIN:
        return None
    ends = mean_of(shares).interval
    return None if ends is None else (max(0.0, ends[0]), min(1.0, ends[1]))
