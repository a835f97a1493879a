"""Tables of a CPU profile: by function, by kind of work, by operation, and unclassified code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.profile.frames import NOT_NAMED
from assay.analysis.work.rules import UNCLASSIFIED

if TYPE_CHECKING:
    from assay.analysis.profile.profile import Profile

# An operation with a smaller share of a symbol's samples is not listed with the symbol.
NAMED_SHARE = 0.03
# Largest number of callers that are listed for a symbol.
CALLERS_MAX = 5


def within_operations(profile: Profile, operation: str | None = None) -> pl.DataFrame:
    """Return the CPU samples within one operation or all, without artefacts."""
    inside = pl.col("operation").is_not_null()
    if operation is not None:
        inside = pl.col("operation") == operation
    return profile.samples.filter(inside & pl.col("work").is_not_null())


def operation_names(profile: Profile) -> list[str]:
    """Return the measured operations of a CPU profile, in the order of their first execution."""
    return profile.passes["operation"].unique(maintain_order=True).to_list()


def symbols_table(
    profile: Profile, operation: str | None = None, *, families: bool = True
) -> pl.DataFrame:
    """Return CPU samples and seconds per function and kind of work, most samples first.

    Columns: samples; share; seconds (CPU); work; symbol (family, or label without `families`);
    module; kind; says (description of its rule; null if none matched); operations (list[str]:
    those with at least `NAMED_SHARE` of the row's samples, most first), operations_all (whether
    every operation with samples has some of the row's, and most of them are listed). A function
    that does several kinds of work, such as memcpy, has a row for each.
    """
    counts = (
        within_operations(profile, operation)
        .group_by("leaf", "work", "rule", "operation", maintain_order=True)
        .agg(pl.len().alias("samples"))
        .join(profile.frames, left_on="leaf", right_on="frame", how="left")
        .with_columns(pl.col("family" if families else "label").alias("symbol"))
    )
    key = ["work", "symbol", "module"]
    is_named = pl.col("samples") >= NAMED_SHARE * pl.col("samples").sum()
    main = (
        counts.group_by(*key, "kind", "rule", maintain_order=True)
        .agg(pl.col("samples").sum())
        .sort("samples", "kind", "rule", descending=[True, False, False])
        .group_by(key, maintain_order=True)
        .agg(pl.col("samples").sum(), pl.col("kind", "rule").first())
    )
    named = (
        counts.group_by(*key, "operation", maintain_order=True)
        .agg(pl.col("samples").sum())
        .sort("samples", "operation", descending=[True, False])
        .group_by(key, maintain_order=True)
        .agg(
            pl.col("operation").filter(is_named),
            pl.len().alias("seen_in"),
        )
        .rename({"operation": "operations"})
    )
    of_all = counts["operation"].n_unique()
    says = pl.DataFrame(
        {"rule": range(len(profile.rules.rules)), "says": [r.says for r in profile.rules.rules]},
        schema={"rule": pl.UInt32, "says": pl.String},
    )
    everywhere = (pl.col("seen_in") == of_all) & (2 * pl.col("operations").list.len() > of_all)
    table = main.join(named, on=key, nulls_equal=True).join(says, on="rule", how="left")
    return (
        _with_shares(table.with_columns(everywhere.alias("operations_all")), profile)
        .select(
            "samples",
            "share",
            "seconds",
            "work",
            "symbol",
            "module",
            "kind",
            "says",
            "operations",
            "operations_all",
        )
        .sort("samples", "symbol", "work", descending=[True, False, False])
    )


def work_table(profile: Profile, operation: str | None = None) -> pl.DataFrame:
    """Return CPU samples and seconds per kind of work, most samples first."""
    counts = (
        within_operations(profile, operation)
        .group_by("work", maintain_order=True)
        .agg(pl.len().alias("samples"))
    )
    return _with_shares(counts, profile).sort("samples", "work", descending=[True, False])


def matrix(profile: Profile) -> pl.DataFrame:
    """Return CPU samples and seconds of each kind of work per operation.

    Only pairs with samples are listed: operations in the order of their first pass, most samples
    first.
    """
    names = operation_names(profile)
    counts = (
        within_operations(profile)
        .group_by("operation", "work", maintain_order=True)
        .agg(pl.len().alias("samples"))
    )
    order = pl.DataFrame({"operation": names, "place": range(len(names))})
    return (
        _with_shares(counts, profile, over="operation")
        .join(order, on="operation")
        .sort("place", "samples", "work", descending=[False, True, False])
        .drop("place")
    )


def unclassified(profile: Profile, operation: str | None = None) -> pl.DataFrame:
    """Return the functions that no rule classifies, most samples first.

    Columns: symbol (the label that a rule would name; null: no frame of the stack has a name),
    module, samples, share, callers (list[str]: the nearest five named callers in its most frequent
    stack, nearest first), operations (list[str], most first).
    """
    within = within_operations(profile, operation)
    missing = within.filter(pl.col("work") == UNCLASSIFIED).join(
        profile.frames.select("frame", "label", "module"),
        left_on="decided",
        right_on="frame",
        how="left",
    )
    key = ["label", "module"]
    total = missing.group_by(key, maintain_order=True).agg(
        pl.len().alias("samples"),
        pl.col("operation").value_counts(sort=True).struct.field("operation").alias("operations"),
    )
    most = (
        missing.group_by(*key, "stack", "decided", maintain_order=True)
        .agg(pl.len().alias("count"))
        .sort("count", "stack", descending=[True, False])
        .unique(key, keep="first", maintain_order=True)
    )
    chains = callers_of(profile, most["stack"].to_list(), most["decided"].to_list())
    callers = most.select(*key, pl.Series("callers", chains, dtype=pl.List(pl.String)))
    return (
        total.join(callers, on=key, nulls_equal=True)
        .with_columns((pl.col("samples") / within.height).alias("share"))
        .rename({"label": "symbol"})
        .select("symbol", "module", "samples", "share", "callers", "operations")
        .sort("samples", "symbol", descending=[True, False])
    )


def callers_of(profile: Profile, stacks: list[int], decided: list[int | None]) -> list[list[str]]:
    """Return each call stack's named frames above the one that decided its work, nearest first."""
    parents = dict(profile.stacks.select("stack", "parent").iter_rows())
    frames = dict(profile.stacks.select("stack", "frame").iter_rows())
    named = ~pl.col("kind").is_in(NOT_NAMED)
    labels = dict(profile.frames.filter(named).select("frame", "label").iter_rows())

    def chain(stack: int | None, begin: int | None) -> list[str]:
        callers: list[str] = []
        is_beyond = begin is None
        while stack is not None and stack in frames and len(callers) < CALLERS_MAX:
            frame = frames[stack]
            if is_beyond and frame in labels:
                callers.append(labels[frame])
            is_beyond = is_beyond or frame == begin
            stack = parents[stack]
        return callers

    return [chain(stack, begin) for stack, begin in zip(stacks, decided, strict=True)]


def _with_shares(counts: pl.DataFrame, profile: Profile, over: str | None = None) -> pl.DataFrame:
    whole: Any = pl.col("samples").sum()
    return counts.with_columns(
        (pl.col("samples") / (whole.over(over) if over else whole)).alias("share"),
        (pl.col("samples") * profile.seconds_each).alias("seconds"),
    )
