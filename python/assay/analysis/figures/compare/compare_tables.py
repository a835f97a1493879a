"""Tables of a comparison of two engines, versions or settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.compare.ratios import THROUGHPUT, WHOLE
from assay.analysis.figures.contract import Column, Table
from assay.analysis.quantities import COUNT, SECONDS, SHARE, TIMES, text
from assay.analysis.time.statement_times import name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from assay.analysis.compare.evidence import Evidence, Key
    from assay.analysis.compare.gain import SplitGain
    from assay.analysis.compare.sides import Difference, TwoSides
    from assay.analysis.figures.contract import Cell
    from assay.analysis.plans.pruning import TableColumns
    from assay.analysis.stats.student import Mean
    from assay.analysis.time.statement_times import Tail

FOREST, GAIN, STATEMENTS, CAUSES = "ratios", "gain", "statements", "causes"
PLANS, TAIL, CPU, PLANNING, SETTINGS = "plans", "tail", "cpu", "planning", "settings"
PRUNING = "columns"
TOTAL = "all of it"
OF = Column("of")
ENDS = (Column("at least", SECONDS), Column("at most", SECONDS))
# A smaller difference in seconds is a rounding error of sums.
DUST_S = 1e-10
DIFFERS = {True: "yes", False: "no", None: "-"}


def tables_of(comparison: TwoSides, names: Sequence[str]) -> tuple[Table, ...]:
    """Return the non-empty tables of a comparison of two systems."""
    made = [_forest(comparison, names), *_gain_tables(comparison), *_side_tables(comparison, names)]
    return tuple(table for table in made if table.rows)


def _forest(comparison: TwoSides, names: Sequence[str]) -> Table:
    columns = (
        OF,
        Column("quantity"),
        *map(Column, names),
        Column("ratio", TIMES),
        Column("at least", TIMES),
        Column("at most", TIMES),
        Column("differs"),
    )
    return Table(FOREST, f"{names[1]} by {names[0]}", columns, tuple(_ratios(comparison)))


def _gain_tables(comparison: TwoSides) -> Iterator[Table]:
    """Yield tables of the time difference by cause, by statement, and by both."""
    gain, shown = comparison.gain, not is_noise(comparison)
    if gain is None:
        return
    unit = whole_of(gain)
    amount = (Column("seconds", SECONDS), *ENDS, Column("share", SHARE))
    cause, differs = Column("cause"), Column("differs")
    title = f"how much of the difference each change explains ({unit})"
    yield Table(GAIN, title, (cause, *amount, differs), tuple(_gain(gain, shown=shown)))
    title = f"what each statement adds to the difference ({unit})"
    most = (Column("most by"), Column("of that", SECONDS))
    columns = (OF, *amount, differs, *most)
    yield Table(STATEMENTS, title, columns, tuple(_statements(gain, shown=shown)))
    title = f"what each statement adds, by cause ({unit})"
    yield Table(CAUSES, title, (OF, cause, *amount), tuple(_causes(gain, shown=shown)))


def _side_tables(comparison: TwoSides, names: Sequence[str]) -> Iterator[Table]:
    """Yield tables of plans, reads, latency tails, CPU time and settings of two systems."""
    sides = tuple(Column(name, SECONDS) for name in names)
    both = (*sides, Column("difference", SECONDS), *ENDS)
    columns = (OF, Column("what"), Column("says"), *sides)
    rows = tuple(plan_rows(comparison.evidence))
    yield Table(PLANS, "plans, columns and reads that differ", columns, rows)
    read = (Column(f"{name}: {what}", COUNT) for name in names for what in ("reads", "needs"))
    columns = (OF, Column("table"), *read)
    yield Table(
        PRUNING, "columns read against columns needed", columns, tuple(_pruning(comparison))
    )
    tails = (Column(f"{name}: {what}", unit) for name in names for what, unit in TAILS)
    yield Table(TAIL, "which statement makes the tail", (OF, *tails), tuple(_tail(comparison)))
    title = f"CPU time by kind of work ({whole_of(comparison.gain)})"
    yield Table(CPU, title, (Column("work"), *both), tuple(_cpu(comparison)))
    title = "optimiser's time of an execution, by CPU samples"
    columns = (OF, Column("step"), *both, Column("samples", COUNT))
    yield Table(PLANNING, title, columns, tuple(_planning(comparison.planning)))
    columns = (Column("setting"), *map(Column, names))
    yield Table(SETTINGS, "what was asked for otherwise", columns, comparison.settings)


TAILS = (("statement", None), ("share", SHARE), ("slower than", SECONDS))


def is_noise(comparison: TwoSides) -> bool:
    """Return True if the total time difference is within noise, so that shares mean nothing."""
    whole = next((ratio for ratio in comparison.ratios if ratio.what == WHOLE), None)
    if whole is None or comparison.gain is None:
        return True
    return whole.differs is False or not comparison.gain.total.value


def whole_of(gain: SplitGain | None) -> str:
    """Return the name of the compared unit: a transaction, or a pass over all operations."""
    return "a transaction" if gain is None or gain.is_mix else "a pass over all operations"


def statement_label(operation: str | None, statement: str | None) -> str:
    """Return the label of a statement or operation; `all operations` if no name is given."""
    return "all operations" if operation is None else name_of(operation, statement)


def _ends(mean: Mean) -> tuple[float | None, float | None]:
    return (None, None) if mean.interval is None else mean.interval


def _ratios(comparison: TwoSides) -> Iterator[tuple[Cell, ...]]:
    for ratio in comparison.ratios:
        ends = (None, None) if ratio.interval is None else ratio.interval
        name = whole_of(comparison.gain) if ratio.what == WHOLE else ratio.what
        unit = COUNT if ratio.what == THROUGHPUT else SECONDS
        shown = tuple(text(value, unit) for value in (ratio.first, ratio.second))
        yield (name, ratio.quantity, *shown, ratio.ratio, *ends, DIFFERS[ratio.differs])


def _gain(gain: SplitGain, *, shown: bool) -> Iterator[tuple[Cell, ...]]:
    total = gain.total.value
    for row in gain.by_cause:
        share = row.seconds.value / total if shown else None
        (cause,) = row.key
        if abs(row.seconds.value) < DUST_S:
            continue
        differs = None if row.is_noise is None else not row.is_noise
        yield cause, row.seconds.value, *_ends(row.seconds), share, DIFFERS[differs]
    ends = gain.total.interval
    # Use the same test of noise as the sentences: the interval of a ratio may contain 1 although
    # the interval of seconds excludes 0.
    differs = None if ends is None else shown
    yield TOTAL, total, *_ends(gain.total), 1.0 if shown else None, DIFFERS[differs]


def _statements(gain: SplitGain, *, shown: bool) -> Iterator[tuple[Cell, ...]]:
    total = gain.total.value
    for row in gain.by_statement:
        if abs(row.seconds.value) < DUST_S:
            continue
        most = next(part for part in gain.by_both if part.key[:2] == row.key)
        share = row.seconds.value / total if shown else None
        differs = None if row.is_noise is None else not row.is_noise
        yield (
            statement_label(*row.key),
            row.seconds.value,
            *_ends(row.seconds),
            share,
            DIFFERS[differs],
            most.key[2],
            most.seconds.value,
        )


def _causes(gain: SplitGain, *, shown: bool) -> Iterator[tuple[Cell, ...]]:
    total = gain.total.value
    for row in gain.by_both:
        operation, statement, cause = row.key
        share = row.seconds.value / total if shown else None
        if abs(row.seconds.value) >= DUST_S:
            yield (
                statement_label(operation, statement),
                cause,
                row.seconds.value,
                *_ends(row.seconds),
                share,
            )


def plan_rows(evidence: Mapping[Key, Evidence]) -> Iterator[tuple[Cell, ...]]:
    """Yield table rows of differing plans and reads by statement; equal changes share a row."""
    for (operation, statement), own in evidence.items():
        name = statement_label(operation, statement)
        changes = () if own.plans is None else own.plans.changes
        for kind, says in dict.fromkeys((change.kind, change.says) for change in changes):
            same = [change for change in changes if (change.kind, change.says) == (kind, says)]
            times = f" ({len(same)} times)" if len(same) > 1 else ""
            before, after = (
                _sum(getattr(change, side) for change in same) for side in ("before_s", "after_s")
            )
            yield name, kind, f"{says}{times}", before, after
        for sentence in own.columns:
            yield name, "columns read", sentence, None, None
        for sentence in own.reads:
            yield name, "rows read", sentence, None, None


def _sum(seconds: Iterable[float | None]) -> float | None:
    known_seconds = [value for value in seconds if value is not None]
    return sum(known_seconds) if known_seconds else None


def _pruning(comparison: TwoSides) -> Iterator[tuple[Cell, ...]]:
    """Yield table rows of columns read by statement and table, unneeded reads first."""
    rows = [
        (statement_label(*key), pruned.table, *_counts(pruned.first), *_counts(pruned.second))
        for key, evidence in comparison.evidence.items()
        for pruned in evidence.pruned
    ]
    yield from sorted(rows, key=lambda row: not is_remarkable(row[2:]))


def is_remarkable(counts: Sequence[Cell]) -> bool:
    """Return True if unneeded columns are read, or the two systems read different columns.

    Args:
        counts: Number of columns that the first side reads, that it needs, and the same for the
            second side; None if not reported.
    """
    first, first_needs, second, second_needs = counts
    wasted = first != first_needs or second != second_needs
    return wasted or (None not in (first, second) and first != second)


def _counts(columns: TableColumns | None) -> tuple[int | None, int | None]:
    """Return the number of columns that a statement reads, and the number that it needs."""
    return (None, None) if columns is None else (len(columns.read or ()), len(columns.needed))


def _tail(comparison: TwoSides) -> Iterator[tuple[Cell, ...]]:
    for tail in comparison.tails:
        yield tail.operation, *_tail_cells(tail.first), *_tail_cells(tail.second)


def _tail_cells(tail: Tail | None) -> tuple[Cell, ...]:
    return (None, None, None) if tail is None else (tail.statement, tail.share, tail.beyond_s)


def _cpu(comparison: TwoSides) -> Iterator[tuple[Cell, ...]]:
    for difference in comparison.cpu:
        (work,) = difference.key
        yield (
            work,
            difference.first_s,
            difference.second_s,
            difference.seconds.value,
            *_ends(difference.seconds),
        )


def _planning(differences: Sequence[Difference]) -> Iterator[tuple[Cell, ...]]:
    for difference in differences:
        operation, statement, step = difference.key
        yield (
            statement_label(operation, statement),
            step or "all steps",
            difference.first_s,
            difference.second_s,
            difference.seconds.value,
            *_ends(difference.seconds),
            difference.samples,
        )
