"""Tables of a workload at several scales: laws of costs, shares, and what charts of them draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.figures.contract import CURVE_COLUMNS, LINE, POINT, Column, Table
from assay.analysis.figures.quantities import COUNT, SHARE, TIMES, text
from assay.analysis.scales.compared import headline
from assay.analysis.scales.costs import DATA, MEMORY, TIME_OF

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.analysis.figures.contract import Cell
    from assay.analysis.scales.compared import Compared, Extrapolated, Scaled
    from assay.analysis.scales.law import PowerLaw
    from assay.analysis.scales.shares import Shares
    from assay.analysis.stats.rounds import Factor

LAWS, RATIOS, SHARES_OF = "laws", "ratios", "shares of "
PER_CPU, BEYOND = "work of a CPU second", "beyond"
# What costs are of that are not the whole's.
NOT_OF_THE_WHOLE = {MEMORY: "the engine", DATA: "the data"}
CURVES, QUERIES = "curves: ", "queries"
DIGITS = 3
DIFFERS = {True: "yes", False: "no", None: "-"}
# So many of the engine's own counts are drawn and said; so many queries are drawn.
COUNTED_MAX, QUERIES_MAX = 2, 8


@dataclass(frozen=True)
class Drawn:
    """A chart of costs by size, both axes logarithmic.

    Attributes:
        name, title: Of the chart; the title is what its values are.
        axis: What its places are.
        unit: Of its values.
        curves: By the name of the curve the cost.
    """

    name: str
    title: str
    axis: str
    unit: str
    curves: Mapping[str, Scaled]

    @property
    def table(self) -> str:
        """The name of the table that it draws."""
        return f"{CURVES}{self.name}"


def told_name(name: str, subject: str, known: Mapping[str, Compared]) -> str:
    """The name of a subject's table: with the subject where there are several."""
    return name if len(known) == 1 else f"{name} {subject}"


def tables_of(
    known: Mapping[str, Compared],
    further: Mapping[str, Sequence[Extrapolated]],
    *,
    costs: bool,
    shares: bool,
) -> tuple[Table, ...]:
    """All tables that have rows."""
    made: list[Table] = []
    for name, told in known.items():
        if costs:
            made.append(_laws(name, told, known))
            made.append(_ratios(name, told, known))
            made.append(_per_cpu(name, told, known))
            made.append(_beyond(name, told, further[name], known))
        if shares:
            made += [_shares(name, told, one, known) for one in told.shares]
    if costs:
        made += [_curves(one) for one in drawn_curves(known)]
    return tuple(table for table in made if table.rows)


def _title(words: str, name: str, known: Mapping[str, Compared]) -> str:
    return words if len(known) == 1 else f"{name}: {words}"


def _laws(name: str, told: Compared, known: Mapping[str, Compared]) -> Table:
    columns = (
        Column("of"),
        *(Column(size.words) for size in told.sizes),
        Column("exponent", COUNT, DIGITS),
        Column("at least", COUNT, DIGITS),
        Column("at most", COUNT, DIGITS),
    )
    rows = tuple(_law_row(one, one.law, told) for one in told.costs.values() if one.law is not None)
    words = f"what {told.whole} costs by scale, and each cost as a power of the size of the data"
    return Table(told_name(LAWS, name, known), _title(words, name, known), columns, rows)


def _law_row(one: Scaled, law: PowerLaw, told: Compared) -> tuple[Cell, ...]:
    at = dict(zip(law.sizes, law.values, strict=True))
    values = (text(at.get(size.amount), one.unit) for size in told.sizes)
    powers = law.exponent.interval or (None, None)
    return (one.title, *values, law.exponent.value, *powers)


def _ratios(name: str, told: Compared, known: Mapping[str, Compared]) -> Table:
    columns = (
        Column("of"),
        Column("quantity"),
        Column("ratio", TIMES),
        Column("at least", TIMES),
        Column("at most", TIMES),
        Column("differs"),
    )
    rows = tuple(
        _ratio_row(one, one.law.ratio, told.whole)
        for one in told.costs.values()
        if one.law is not None
    )
    words = f"{told.sizes[-1].words} by {told.sizes[0].words}"
    return Table(told_name(RATIOS, name, known), _title(words, name, known), columns, rows)


def _ratio_row(one: Scaled, ratio: Factor, whole: str) -> tuple[Cell, ...]:
    of, quantity = NOT_OF_THE_WHOLE.get(one.group, whole), one.title
    if one.key.startswith(TIME_OF):
        of, quantity = one.key.removeprefix(TIME_OF), "time"
    differs = None if ratio.interval is None else ratio.is_distinct
    ends = ratio.interval or (None, None)
    return (of, quantity, ratio.times, *ends, DIFFERS[differs])


def _per_cpu(name: str, told: Compared, known: Mapping[str, Compared]) -> Table:
    columns = (
        Column("work"),
        *(Column(size.words, COUNT, DIGITS) for size in told.sizes),
        Column("ratio", TIMES),
        Column("at least", TIMES),
        Column("at most", TIMES),
    )
    rows = []
    for one in told.efficiencies:
        at = dict(zip(one.law.sizes, one.law.values, strict=True))
        ends = one.law.ratio.interval or (None, None)
        values = (at.get(size.amount) for size in told.sizes)
        rows.append((one.work.title, *values, one.law.ratio.times, *ends))
    words = "what the engine counted in a second of its CPU time"
    return Table(told_name(PER_CPU, name, known), _title(words, name, known), columns, tuple(rows))


def _beyond(
    name: str, told: Compared, further: Sequence[Extrapolated], known: Mapping[str, Compared]
) -> Table:
    columns = (
        Column("of"),
        Column("scale"),
        Column("times the largest run", TIMES),
        Column("would be"),
        Column("at least"),
        Column("at most"),
        Column("with a fixed part"),
    )
    rows: list[tuple[Cell, ...]] = []
    for there in further:
        for key, one in there.costs.items():
            cost = told.costs[key]
            ends = one.interval or (None, None)
            values = (one.value, *ends, there.otherwise.get(key))
            shown = (text(value, cost.unit) for value in values)
            rows.append((cost.title, there.size, there.beyond, *shown))
    words = "scales that were not run, by the laws of those that were"
    return Table(told_name(BEYOND, name, known), _title(words, name, known), columns, tuple(rows))


def _shares(name: str, told: Compared, one: Shares, known: Mapping[str, Compared]) -> Table:
    columns = (
        Column("of"),
        *(Column(size.words, SHARE) for size in told.sizes),
        Column("change", SHARE),
        Column("at least", SHARE),
        Column("at most", SHARE),
        Column("shifts"),
    )
    rows = tuple(
        (
            shift.name,
            *shift.means,
            shift.change.value,
            *(shift.change.interval or (None, None)),
            DIFFERS[shift.shifts],
        )
        for shift in one.shares
    )
    title = _title(f"shares of the {one.of} by scale", name, known)
    return Table(told_name(f"{SHARES_OF}{one.of}", name, known), title, columns, rows)


def drawn_curves(known: Mapping[str, Compared]) -> Iterator[Drawn]:
    """What is drawn by size: what is said first, a line a subject; of each its queries."""
    if not known:
        return
    unit = next(iter(known.values())).sizes[0].unit
    chosen = {one.key: one for told in known.values() for one in headline(told, COUNTED_MAX)}
    for key, one in chosen.items():
        curves = {
            name: told.costs[key] for name, told in known.items() if told.law(key) is not None
        }
        title = one.title if one.group in NOT_OF_THE_WHOLE else f"{one.title} of {_whole(known)}"
        yield Drawn(key, title, unit, one.unit, curves)
    for name, told in known.items():
        queries = [one for key, one in told.costs.items() if key.startswith(TIME_OF) and one.law]
        largest = sorted(queries, key=lambda one: -(one.law.values[-1] if one.law else 0.0))
        curves = {one.key.removeprefix(TIME_OF): one for one in largest[:QUERIES_MAX]}
        if len(curves) > 1:
            title = "time of queries" if len(known) == 1 else f"time of queries, {name}"
            yield Drawn(told_name(QUERIES, name, known), title, unit, largest[0].unit, curves)


def _whole(known: Mapping[str, Compared]) -> str:
    return next(iter(known.values())).whole


def _curves(drawn: Drawn) -> Table:
    """The measured points with their lowest and highest, and the line of the law."""
    rows: list[tuple[Cell, ...]] = []
    for name, one in drawn.curves.items():
        if one.law is None:
            continue
        for size, value in zip(one.law.sizes, one.law.values, strict=True):
            own = [point.value for point in one.points if point.size == size]
            ends = (min(own), max(own)) if len(own) > 1 else (None, None)
            rows.append((name, None, size, value, *ends, POINT))
        rows += [
            (name, None, size, one.law.at(size), None, None, LINE)
            for size in (one.law.sizes[0], one.law.sizes[-1])
        ]
    units = (None, None, COUNT, drawn.unit, drawn.unit, drawn.unit, None)
    columns = tuple(map(Column, CURVE_COLUMNS, units))
    title = f"what the chart of {drawn.title} draws"
    return Table(drawn.table, title, columns, tuple(rows))
