"""The counters of a cluster's nodes, under names that all engines share.

Each engine maps its own counters to these names (`[cluster]` of its `counters.toml`). Each node
is one object of that counter source.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.cluster.words import MEMORY, WORDS
from assay.analysis.counters.engine_counters import around, growth, operation_growth, plain_readings
from assay.analysis.load.account import account_of, wholes_of
from assay.analysis.operations import window_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.record.reader import Run
GAUGES = (MEMORY,)
GROWN: dict[str, type[pl.DataType]] = {
    "operation": pl.String,
    "node": pl.String,
    "word": pl.String,
    "growth": pl.Float64,
    "passes": pl.UInt32,
}


@dataclass(frozen=True)
class ClusterFacts:
    """The engine's own counter for each shared name, from `[cluster]` of `counters.toml`.

    Attributes:
        title: The engine's kind of node, for readers.
        source: The counter source; each node is an object of it.
        counters: The engine's own counter names, by shared name.
        scales: Factor that converts a counter's value, by shared name, if it is not 1.
        says: Exact meaning of each counter in the engine's terms, by shared name.
        missing: Reason why a counter is not available, by shared name, to follow `not
            measured:`.
    """

    title: str
    source: str
    counters: Mapping[str, str]
    scales: Mapping[str, float] = field(default_factory=dict)
    says: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)


def cluster_facts(facts: Mapping[str, Any] | None) -> ClusterFacts | None:
    """Return the cluster section of an engine's `counters.toml`; None if the file has none.

    Raises:
        ValueError: If a key is missing or unknown, a counter name is not in `WORDS`, or a name
            is neither mapped nor declared as missing.
    """
    section = (facts or {}).get("cluster")
    if section is None:
        return None
    try:
        declared = ClusterFacts(**section)
    except TypeError as error:
        raise ValueError(f"[cluster] cannot be read: {error}") from error
    for name in ("counters", "scales", "says", "missing"):
        if unknown := set(getattr(declared, name)) - set(WORDS):
            raise ValueError(
                f"cluster.{name} has the unknown key {sorted(unknown)}; allowed keys: "
                f"{', '.join(WORDS)}"
            )
    if untold := set(WORDS) - set(declared.counters) - set(declared.missing):
        raise ValueError(
            f"[cluster] must declare {', '.join(sorted(untold))} under count or under missing"
        )
    return declared


def declared_cluster(run: Run) -> ClusterFacts | None:
    """Return the cluster section that a run's engine declares; None if it is not a cluster."""
    return cluster_facts(run.facts.get("engine", {}).get("counters"))


def node_readings(readings: pl.DataFrame, declared: ClusterFacts) -> pl.DataFrame:
    """Return readings of cluster nodes with the columns `node`, `word` (counter) and `value`.

    Args:
        readings: Rows of `engine.arrows` or `engine-operations.arrows`.
        declared: The engine's cluster section.
    """
    word_of = {counter: word for word, counter in declared.counters.items()}
    scales = {word: declared.scales.get(word, 1.0) for word in word_of.values()}
    own = plain_readings(readings).filter(
        pl.col("source") == declared.source, pl.col("counter").is_in(list(word_of))
    )
    word = pl.col("counter").replace_strict(word_of, return_dtype=pl.String).alias("word")
    own_words = own.with_columns(word, pl.col("object").alias("node"))
    scale = pl.col("word").replace_strict(scales, return_dtype=pl.Float64)
    return own_words.with_columns(pl.col("value") * scale).drop("source", "object", "counter")


def grown_by_operation(run: Run) -> pl.DataFrame:
    """Return the growth of each cluster node's counters in one execution of each operation.

    Columns: operation, node, word (the counter's shared name), growth in its unit, passes. The
        table is empty for an engine that is not a cluster, and for a load, whose operations
        overlap. Gauges are left out.
    """
    declared = declared_cluster(run)
    if declared is None or not run.has("engine-operations"):
        return pl.DataFrame(schema=GROWN)
    own = node_readings(run.table("engine-operations"), declared)
    counted = own.filter(~pl.col("word").is_in(GAUGES))
    grown = operation_growth(run.table("events"), counted, ["node", "word"])
    return grown.select(list(GROWN)).cast(GROWN)  # type: ignore[arg-type]


def totals_by_operation(run: Run) -> dict[str, dict[str, float]]:
    """Return the cluster counters of one execution of each operation, summed over nodes.

    The source is counter readings around operations. A run of a single operation without such
    readings uses the counters of one pass.
    """
    totals, account = _around_operations(run), account_of(run)
    if totals or account is None or account.is_mix or len(account.operations) != 1:
        return totals
    of_a_pass = totals_of_a_pass(run)
    return {name: of_a_pass for name in account.operations if of_a_pass}


def _around_operations(run: Run) -> dict[str, dict[str, float]]:
    """Return counter growth by operation and counter, summed over cluster nodes."""
    summed = (
        grown_by_operation(run)
        .group_by("operation", "word", maintain_order=True)
        .agg(pl.col("growth").sum())
    )
    totals: dict[str, dict[str, float]] = {}
    for operation, word, value in summed.iter_rows():
        totals.setdefault(operation, {})[word] = value
    return totals


def totals_of_a_pass(run: Run) -> dict[str, float]:
    """Return the cluster counters of one execution of all operations, summed over nodes.

    The source is counter readings around operations, for counters that are known for all of
    them. If an operation lacks readings, the growth in the measured part is divided by its
    number of passes.
    """
    by_operation = _around_operations(run)
    account = account_of(run)
    if account is None:
        return {}
    if set(by_operation) >= set(account.operations) and not account.is_mix:
        totals = list(by_operation.values())
        shared = [word for word in WORDS if all(word in counts for counts in totals)]
        return {word: sum(counts[word] for counts in totals) for word in shared}
    declared, window = declared_cluster(run), window_of(run)
    if declared is None or window is None or not run.has("engine"):
        return {}
    own = node_readings(run.table("engine"), declared).filter(~pl.col("word").is_in(GAUGES))
    grown = growth(around(own, *window), ["node", "word"]).drop_nulls("growth")
    passes = wholes_of(run, account)
    summed = grown.group_by("word", maintain_order=True).agg(pl.col("growth").sum())
    return {word: value / passes for word, value in summed.iter_rows()}
