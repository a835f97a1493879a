"""Compares the CPU seconds of two profiles by kind of work and by function, with intervals.

Runs have different numbers of passes, so CPU seconds of a pass are compared. Passes are the
repetitions, so the interval comes from the variation of samples between passes. Counts of
samples are overdispersed: a pass that is slower as a whole has more samples of every kind. Their
variance is therefore that of a Poisson count times a factor of at least 1 that the passes
determine (quasi-likelihood: McCullagh and Nelder, Generalized Linear Models, 2nd ed. 1989, 4.5
and 9.2). The difference of two means of unequal variance has the degrees of freedom of Welch
(Biometrika 34, 1947) and Satterthwaite (Biometrics Bulletin 2, 1946). One in twenty of the
unchanged rows may seem changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.profile.tables import operation_names, within_operations
from assay.analysis.stats.student import student_quantile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.profile.profile import Profile

LEVELS = {"total": [], "work": ["work"], "symbol": ["work", "symbol"]}
KEY = ["work", "symbol"]
OURS, THEIRS = "ours", "theirs"
# Fewer samples have no reliable variance: none where a few were expected is no surprise.
SAMPLES_MIN = 10


def compare(ours: Profile, theirs: Profile, operation: str | None = None) -> pl.DataFrame:
    """Return the difference of two CPU profiles in seconds per pass, largest first.

    Only operations of both profiles are compared, each by the mean of its passes. Without
    `operation` the means are added up.

    Columns: level (`total`, `work` or `symbol`); work, symbol (null if the level has none);
    ours_samples, theirs_samples; ours_s, theirs_s (CPU seconds of a pass); ours_share,
    theirs_share (null for a side without samples); difference_s (ours minus theirs), low_s,
    high_s (its 95 % interval; null if no operation of the row has two passes on either side);
    is_noise (True if the interval contains 0, or both sides together have fewer than
    `SAMPLES_MIN` samples; null without an interval).
    """
    both = [name for name in operation_names(ours) if name in set(operation_names(theirs))]
    names = both if operation is None else [name for name in both if name == operation]
    sides = {OURS: ours, THEIRS: theirs}
    by_pass = {side: _by_pass(profile, names) for side, profile in sides.items()}
    rows = pl.concat(
        _by_operation(counts, by).with_columns(
            pl.lit(side).alias("side"), pl.lit(level).alias("level")
        )
        for side, counts in by_pass.items()
        for level, by in LEVELS.items()
    )
    return _worded(differences(rows, sides, names, ["level", *KEY])).sort(
        pl.col("level").replace_strict({name: at for at, name in enumerate(LEVELS)}),
        pl.col("difference_s").abs(),
        *KEY,
        descending=[False, True, False, False],
    )


def as_long_as(theirs: Profile, ours: Profile, operation: str | None = None) -> Profile:
    """Return a CPU profile scaled to take as much time per pass as another profile.

    Only operations of both profiles count. Scaling shows where two data scales differ in the
    distribution of time. The factor is taken as exact, because a total's uncertainty is small
    compared with that of a single row.
    """
    total = compare(ours, theirs, operation).row(0, named=True)
    if not total["ours_s"] or not total["theirs_s"]:
        return theirs
    factor = theirs.scaled_by * total["ours_s"] / total["theirs_s"]
    return replace(theirs, scaled_by=factor)


def differences(
    rows: pl.DataFrame, sides: Mapping[str, Profile], names: Sequence[str], key: list[str]
) -> pl.DataFrame:
    """Return CPU seconds per pass in two profiles, and the interval of their difference.

    Columns: those of `key`; ours_samples, theirs_samples; ours_s, theirs_s; difference_s; half_s
    (null if no operation of the row has two passes on either side); others.
    (null if no operation of the row has two passes on either side); others.

    Args:
        rows: The columns of `key`, operation, side, samples, squares (sum of the squared samples
            of passes).
        sides: The profiles, by `OURS` and `THEIRS`.
        names: Operations that are compared.
        key: Columns that identify a row of the result.
    """
    # A row of only one side has no samples on the other side, in all of its passes.
    keys = rows.select(*key, "operation").unique()
    passes = pl.concat(
        _pass_counts(profile, names).with_columns(
            pl.lit(side).alias("side"), pl.lit(profile.seconds_each).alias("seconds_each")
        )
        for side, profile in sides.items()
    )
    whole = (
        keys.join(passes, on="operation")
        .join(rows, on=[*key, "operation", "side"], how="left", nulls_equal=True)
        .with_columns(pl.col("samples", "squares").fill_null(0))
        .with_columns(_pooled_s().over([*key, "operation"]).alias("pooled_s"))
    )
    return _moments(whole).group_by(key, maintain_order=True).agg(*_sums()).with_columns(*_spread())


def _pass_counts(profile: Profile, names: Sequence[str]) -> pl.DataFrame:
    wanted = profile.passes.filter(pl.col("operation").is_in(names))
    return wanted.group_by("operation", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("passes")
    )


def _by_pass(profile: Profile, names: list[str]) -> pl.DataFrame:
    """Return CPU samples by kind of work, function, operation and execution."""
    return (
        within_operations(profile)
        .filter(pl.col("operation").is_in(names))
        .group_by("leaf", "work", "operation", "sequence", maintain_order=True)
        .agg(pl.len().cast(pl.Int64).alias("samples"))
        .join(profile.frames, left_on="leaf", right_on="frame", how="left")
        .rename({"family": "symbol"})
        .select(*KEY, "operation", "sequence", "samples")
    )


def _by_operation(counts: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Return CPU samples by the columns `by` and operation, with sums of squares.

    The other columns of `KEY` are null.
    """
    keys = [
        pl.col(name) if name in by else pl.lit(None, dtype=pl.String).alias(name) for name in KEY
    ]
    return (
        counts.select(*keys, "operation", "sequence", "samples")
        .group_by(*KEY, "operation", "sequence", maintain_order=True)
        .agg(pl.col("samples").sum())
        .group_by(*KEY, "operation", maintain_order=True)
        .agg(pl.col("samples").sum(), (pl.col("samples") ** 2).sum().alias("squares"))
    )


def _pooled_s() -> pl.Expr:
    """Return an expression: CPU seconds per pass estimated from both profiles together."""
    return pl.col("samples").sum() / (pl.col("passes") / pl.col("seconds_each")).sum()


def _moments(rows: pl.DataFrame) -> pl.DataFrame:
    """Return mean CPU seconds per pass and the mean's variance, by row, operation and profile.

    `observed` is the variance between passes, null for a single pass. `poisson` is the variance
    if only the sampling were random, and `alike` is that variance if both sides were equal. A
    side with few samples may have none of a row by chance, and its own count would give a
    variance of zero.
    """
    mean = pl.col("samples") / pl.col("passes")
    scatter = (pl.col("squares") - pl.col("samples") * mean).clip(lower_bound=0)
    unit = pl.col("seconds_each") ** 2 / pl.col("passes")
    repeated = pl.col("passes") > 1
    return rows.with_columns(
        (mean * pl.col("seconds_each")).alias("mean_s"),
        (mean * unit).alias("poisson"),
        (pl.col("pooled_s") * pl.col("seconds_each") / pl.col("passes")).alias("alike"),
        pl.when(repeated).then(scatter / (pl.col("passes") - 1) * unit).alias("observed"),
    )


def _sums() -> list[pl.Expr]:
    """Return expressions for sums over operations: means, overdispersion, degrees of freedom."""
    repeated = pl.col("observed").is_not_null()
    ours = pl.col("side") == OURS
    freedom = pl.col("observed") ** 2 / (pl.col("passes") - 1)
    return [
        pl.col("samples").filter(ours).sum().alias("ours_samples"),
        pl.col("samples").filter(~ours).sum().alias("theirs_samples"),
        pl.col("mean_s").filter(ours).sum().alias("ours_s"),
        pl.col("mean_s").filter(~ours).sum().alias("theirs_s"),
        pl.max_horizontal(pl.col("poisson").sum(), pl.col("alike").sum()).alias("variance"),
        (pl.col("observed").sum() / pl.col("poisson").filter(repeated).sum()).alias("factor"),
        (pl.col("observed").sum() ** 2 / freedom.filter(repeated).sum()).alias("welch"),
        (pl.col("passes") - 1).filter(repeated).sum().alias("freedom_max"),
    ]


def _spread() -> list[pl.Expr]:
    """Return expressions for half the width of a difference's interval, and for the difference."""
    has_spread = pl.col("freedom_max") > 0
    freedom = pl.col("welch").fill_nan(None).fill_null(pl.col("freedom_max"))
    quantile = freedom.clip(lower_bound=1).map_elements(student_quantile, return_dtype=pl.Float64)
    deviation = (pl.col("variance") * pl.col("factor").fill_nan(1).clip(lower_bound=1)).sqrt()
    return [
        (pl.col("ours_s") - pl.col("theirs_s")).alias("difference_s"),
        pl.when(has_spread).then(quantile * deviation).alias("half_s"),
    ]


def _worded(compared: pl.DataFrame) -> pl.DataFrame:
    low = pl.col("difference_s") - pl.col("half_s")
    high = pl.col("difference_s") + pl.col("half_s")
    few = pl.col("ours_samples") + pl.col("theirs_samples") < SAMPLES_MIN
    return compared.select(
        "level",
        *KEY,
        "ours_samples",
        "theirs_samples",
        "ours_s",
        "theirs_s",
        *(_share(f"{side}_s").alias(f"{side}_share") for side in (OURS, THEIRS)),
        "difference_s",
        low.alias("low_s"),
        high.alias("high_s"),
        pl.when(low.is_not_null()).then((low <= 0) & (high >= 0) | few).alias("is_noise"),
    )


def _share(seconds: str) -> pl.Expr:
    """Return an expression: the share of all seconds of the level; null if there are none."""
    whole = pl.col(seconds).sum().over("level")
    return pl.when(whole > 0).then(pl.col(seconds) / whole)
