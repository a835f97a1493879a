"""The work on each index between two instants: rows found, pages read, pages in the pool.

Each engine declares the counters and the content of its indexes (`[index_work]` of its
`counters.toml`). The module `index_work` contains nothing specific to an engine.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import polars as pl

from assay.analysis.counters.engine_counters import around, last_look, plain_readings
from assay.analysis.operations import window_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.record.reader import Run

Holds = Literal["literals", "iris", "quads"]
HOLDS: tuple[Holds, ...] = ("literals", "iris", "quads")
WORDS: dict[Holds, str] = {"literals": "literals", "iris": "IRIs", "quads": "statements"}


@dataclass(frozen=True)
class IndexFacts:
    """An engine's counters of work on indexes, from `[index_work]` of `counters.toml`.

    Attributes:
        source: Source whose objects are indexes.
        touches, reads: Names of the counters of rows found and of pages read.
        buffers: Name of the gauge of pages in the buffer pool; None if the engine has none.
        without: Objects that are not indexes, such as sums.
        holds: For RDF stores: objects that hold literals, IRIs and the statements themselves.
    """

    source: str
    touches: str
    reads: str
    buffers: str | None = None
    without: tuple[str, ...] = ()
    holds: Mapping[Holds, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class IndexWork:
    """The work on one index: rows found and pages read.

    Counts that were not reported, or were reset in between, are None.

    Attributes:
        object: Name of the index in the engine's counters.
        touches: Number of rows that were found.
        reads: Number of pages that were read.
        buffers: Number of its pages in the buffer pool at the last reading.
        holds: Content of the index in an RDF store.
    """

    object: str
    touches: float | None
    reads: float | None
    buffers: float | None = None
    holds: Holds | None = None

    @property
    def name(self) -> str:
        """The name of the index without its table."""
        return self.object.rpartition(".")[2]

    @property
    def missed(self) -> float | None:
        """Pages read per row found; None if no row was found."""
        return self.reads / self.touches if self.touches and self.reads is not None else None


class Span(NamedTuple):
    """A part of a run, from begin to end in nanoseconds of CLOCK_MONOTONIC."""

    begun_ns: int
    ended_ns: int


def index_facts(facts: Mapping[str, Any] | None) -> IndexFacts | None:
    """Return the index section of an engine's `counters.toml`; None if it has none.

    Raises:
        ValueError: If a key is missing or unknown.
    """
    table = (facts or {}).get("index_work")
    if table is None:
        return None
    try:
        holds = {kind: tuple(names) for kind, names in table.get("holds", {}).items()}
        if unknown := set(holds) - set(HOLDS):
            raise ValueError(
                f"index_work.holds has the unknown value {sorted(unknown)}; allowed values: "
                f"{', '.join(HOLDS)}"
            )
        without = tuple(table.get("without", ()))
        return IndexFacts(**{**table, "without": without, "holds": holds})
    except TypeError as error:
        raise ValueError(f"[index_work] cannot be read: {error}") from error


def index_work(run: Run, span: Span) -> tuple[IndexWork, ...] | None:
    """Return the work on each index used between two instants, most pages read first.

    The counts range from the last reading before the span to the first one after it; None if the
    engine does not report them, or no reading was taken.
    """
    declared = index_facts(run.facts.get("engine", {}).get("counters"))
    if declared is None or not run.has("engine"):
        return None
    gauges = [] if declared.buffers is None else [declared.buffers]
    pooled = last_look(run, declared.source, gauges, span.ended_ns).select("object", "value")
    return of_readings(plain_readings(run.table("engine")), declared, span, dict(pooled.rows()))


def of_readings(
    readings: pl.DataFrame, declared: IndexFacts, span: Span, pooled: Mapping[str, float]
) -> tuple[IndexWork, ...] | None:
    """Return the work on each index from readings of the engine's counters.

    Args:
        readings: Rows of the engine's counters.
        declared: Declaration of the counters.
        span: The time span of the work.
        pooled: Number of pages in the buffer pool, by index.
    """
    own = readings.filter(
        pl.col("source") == declared.source, ~pl.col("object").is_in(list(declared.without))
    )
    counted = own.filter(pl.col("counter").is_in([declared.touches, declared.reads]))
    # An index without any use is in no reading, so the instants come from all indexes.
    within = around(readings, *span)
    edges = within["time_ns"].min(), within["time_ns"].max()
    if edges[0] is None or edges[0] == edges[1]:
        return None
    before, after = (_at(counted, edge) for edge in edges)
    kinds = {name: kind for kind, names in declared.holds.items() for name in names}

    def grown(thing: str, counter: str) -> float | None:
        begun, ended = before.get((thing, counter), 0.0), after.get((thing, counter))
        return ended - begun if ended is not None and ended >= begun else None

    indexes = [
        IndexWork(
            thing,
            grown(thing, declared.touches),
            grown(thing, declared.reads),
            pooled.get(thing),
            kinds.get(thing),
        )
        for thing in dict.fromkeys(thing for thing, _ in after)
    ]
    used = [index for index in indexes if index.touches or index.reads]
    return tuple(
        sorted(used, key=lambda index: (-(index.reads or 0), -(index.touches or 0), index.object))
    )


def _at(counted: pl.DataFrame, time_ns: object) -> dict[tuple[str, str], float]:
    rows = counted.filter(pl.col("time_ns") == time_ns).select("object", "counter", "value")
    return {(thing, counter): value for thing, counter, value in rows.iter_rows()}


def index_documents(run: Run) -> list[dict[str, Any]] | None:
    """Return the indexes of the measured part for documents: object, holds, touches, reads."""
    window = window_of(run)
    indexes = None if window is None else index_work(run, Span(*window))
    if indexes is None:
        return None
    return [
        {
            "object": index.object,
            "holds": index.holds,
            "touches": index.touches,
            "reads": index.reads,
        }
        for index in indexes
    ]


def read_index_work(counted: Mapping[str, Any] | None) -> list[IndexWork]:
    """Return the index work stored in a document of counters; empty if the document has none."""
    entries = (counted or {}).get("index_work") or []
    return [
        IndexWork(entry["object"], entry["touches"], entry["reads"], holds=entry["holds"])
        for entry in entries
    ]


def share_of_reads(work: Sequence[IndexWork], *holds: Holds) -> float | None:
    """Return the share of read pages that belong to indexes with this content.

    Only indexes with a known content count, so internal reads of the engine are left out.
    """
    indexes = [index for index in work if index.holds is not None]
    whole = sum(index.reads or 0.0 for index in indexes)
    return (
        sum(index.reads or 0.0 for index in indexes if index.holds in holds) / whole
        if whole
        else None
    )
