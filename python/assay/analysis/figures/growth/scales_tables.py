"""Tables of a workload at several scales: growth laws of costs, shares, and chart data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.figures.contract import CURVE_COLUMNS, LINE, POINT, Column, Table
from assay.analysis.quantities import COUNT, SHARE, TIMES, text
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
# Subjects of costs that do not concern the whole workload.
NOT_OF_THE_WHOLE = {MEMORY: "the engine", DATA: "the data"}
CURVES, QUERIES = "curves: ", "queries"
DIGITS = 3
DIFFERS = {True: "yes", False: "no", None: "-"}
# Maximum number of the engine's own counters in charts and sentences, and of queries in charts.
COUNTED_MAX, QUERIES_MAX = 2, 8


@dataclass(frozen=True)
class Drawn:
    """A chart of costs by data size, with two logarithmic axes.

    Attributes:
        name, title: Name of the chart, and its title, which names the values.
        axis: Title of the size axis.
        unit: Unit of the costs.
        curves: Cost that each curve draws, by the curve's name.
    """

    name: str
    title: str
    axis: str
    unit: str
    curves: Mapping[str, Scaled]

    @property
    def table(self) -> str:
        """The name of the table that the chart draws."""
        return f"{CURVES}{self.name}"


def table_name(name: str, subject: str, comparisons: Mapping[str, Compared]) -> str:
    """Return the name of a table, with the engine's or setting's name if there are several."""
    return name if len(comparisons) == 1 else f"{name} {subject}"


def tables_of(
    comparisons: Mapping[str, Compared],
    further: Mapping[str, Sequence[Extrapolated]],
    *,
    costs: bool,
    shares: bool,
) -> tuple[Table, ...]:
    """Return all non-empty tables of a workload measured at several scales."""
    made: list[Table] = []
    for name, comparison in comparisons.items():
        if costs:
            made.append(_laws(name, comparison, comparisons))
            made.append(_ratios(name, comparison, comparisons))
            made.append(_per_cpu(name, comparison, comparisons))
            made.append(_beyond(name, comparison, further[name], comparisons))
        if shares:
            made += [
                _shares(name, comparison, breakdown, comparisons) for breakdown in comparison.shares
            ]
    if costs:
        made += [_curves(drawn) for drawn in drawn_curves(comparisons)]
    return tuple(table for table in made if table.rows)


def _title(title: str, name: str, comparisons: Mapping[str, Compared]) -> str:
    return title if len(comparisons) == 1 else f"{name}: {title}"


def _laws(name: str, comparison: Compared, comparisons: Mapping[str, Compared]) -> Table:
    columns = (
        Column("of"),
        *(Column(size.text) for size in comparison.sizes),
        Column("exponent", COUNT, DIGITS),
        Column("at least", COUNT, DIGITS),
        Column("at most", COUNT, DIGITS),
    )
    rows = tuple(
        _law_row(cost, cost.law, comparison)
        for cost in comparison.costs.values()
        if cost.law is not None
    )
    title = (
        f"what {comparison.whole} costs by scale, and each cost as a power of the size of the data"
    )
    return Table(
        table_name(LAWS, name, comparisons), _title(title, name, comparisons), columns, rows
    )


def _law_row(cost: Scaled, law: PowerLaw, comparison: Compared) -> tuple[Cell, ...]:
    at = dict(zip(law.sizes, law.values, strict=True))
    values = (text(at.get(size.amount), cost.unit) for size in comparison.sizes)
    powers = law.exponent.interval or (None, None)
    return (cost.title, *values, law.exponent.value, *powers)


def _ratios(name: str, comparison: Compared, comparisons: Mapping[str, Compared]) -> Table:
    columns = (
        Column("of"),
        Column("quantity"),
        Column("ratio", TIMES),
        Column("at least", TIMES),
        Column("at most", TIMES),
        Column("differs"),
    )
    rows = tuple(
        _ratio_row(cost, cost.law.ratio, comparison.whole)
        for cost in comparison.costs.values()
        if cost.law is not None
    )
    title = f"{comparison.sizes[-1].text} by {comparison.sizes[0].text}"
    return Table(
        table_name(RATIOS, name, comparisons), _title(title, name, comparisons), columns, rows
    )


def _ratio_row(cost: Scaled, ratio: Factor, whole: str) -> tuple[Cell, ...]:
    of, quantity = NOT_OF_THE_WHOLE.get(cost.group, whole), cost.title
    if cost.key.startswith(TIME_OF):
        of, quantity = cost.key.removeprefix(TIME_OF), "time"
    differs = None if ratio.interval is None else ratio.is_distinct
    ends = ratio.interval or (None, None)
    return (of, quantity, ratio.times, *ends, DIFFERS[differs])


def _per_cpu(name: str, comparison: Compared, comparisons: Mapping[str, Compared]) -> Table:
    columns = (
        Column("work"),
        *(Column(size.text, COUNT, DIGITS) for size in comparison.sizes),
        Column("ratio", TIMES),
        Column("at least", TIMES),
        Column("at most", TIMES),
    )
    rows = []
    for efficiency in comparison.efficiencies:
        at = dict(zip(efficiency.law.sizes, efficiency.law.values, strict=True))
        ends = efficiency.law.ratio.interval or (None, None)
        values = (at.get(size.amount) for size in comparison.sizes)
        rows.append((efficiency.work.title, *values, efficiency.law.ratio.times, *ends))
    title = "what the engine counted in a second of its CPU time"
    return Table(
        table_name(PER_CPU, name, comparisons),
        _title(title, name, comparisons),
        columns,
        tuple(rows),
    )


def _beyond(
    name: str,
    comparison: Compared,
    further: Sequence[Extrapolated],
    comparisons: Mapping[str, Compared],
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
        for key, estimate in there.costs.items():
            cost = comparison.costs[key]
            ends = estimate.interval or (None, None)
            values = (estimate.value, *ends, there.otherwise.get(key))
            shown = (text(value, cost.unit) for value in values)
            rows.append((cost.title, there.size, there.beyond, *shown))
    title = "scales that were not run, by the laws of those that were"
    return Table(
        table_name(BEYOND, name, comparisons),
        _title(title, name, comparisons),
        columns,
        tuple(rows),
    )


def _shares(
    name: str, comparison: Compared, breakdown: Shares, comparisons: Mapping[str, Compared]
) -> Table:
    columns = (
        Column("of"),
        *(Column(size.text, SHARE) for size in comparison.sizes),
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
        for shift in breakdown.shares
    )
    title = _title(f"shares of the {breakdown.of} by scale", name, comparisons)
    return Table(table_name(f"{SHARES_OF}{breakdown.of}", name, comparisons), title, columns, rows)


def drawn_curves(comparisons: Mapping[str, Compared]) -> Iterator[Drawn]:
    """Yield charts of cost by data size: main costs per engine, then each engine's queries."""
    if not comparisons:
        return
    unit = next(iter(comparisons.values())).sizes[0].unit
    chosen = {
        cost.key: cost
        for comparison in comparisons.values()
        for cost in headline(comparison, COUNTED_MAX)
    }
    for key, cost in chosen.items():
        curves = {
            name: comparison.costs[key]
            for name, comparison in comparisons.items()
            if comparison.law(key) is not None
        }
        title = (
            cost.title
            if cost.group in NOT_OF_THE_WHOLE
            else f"{cost.title} of {_whole(comparisons)}"
        )
        yield Drawn(key, title, unit, cost.unit, curves)
    for name, comparison in comparisons.items():
        queries = [
            cost for key, cost in comparison.costs.items() if key.startswith(TIME_OF) and cost.law
        ]
        largest = sorted(queries, key=lambda cost: -(cost.law.values[-1] if cost.law else 0.0))
        curves = {cost.key.removeprefix(TIME_OF): cost for cost in largest[:QUERIES_MAX]}
        if len(curves) > 1:
            title = "time of queries" if len(comparisons) == 1 else f"time of queries, {name}"
            yield Drawn(
                table_name(QUERIES, name, comparisons), title, unit, largest[0].unit, curves
            )


def _whole(comparisons: Mapping[str, Compared]) -> str:
    return next(iter(comparisons.values())).whole


def _curves(drawn: Drawn) -> Table:
    """Return the table of a chart: measured points with their spread, and the fitted line."""
    rows: list[tuple[Cell, ...]] = []
    for name, cost in drawn.curves.items():
        if cost.law is None:
            continue
        for size, value in zip(cost.law.sizes, cost.law.values, strict=True):
            own = [point.value for point in cost.points if point.size == size]
            ends = (min(own), max(own)) if len(own) > 1 else (None, None)
            rows.append((name, None, size, value, *ends, POINT))
        rows += [
            (name, None, size, cost.law.at(size), None, None, LINE)
            for size in (cost.law.sizes[0], cost.law.sizes[-1])
        ]
    units = (None, None, COUNT, drawn.unit, drawn.unit, drawn.unit, None)
    columns = tuple(map(Column, CURVE_COLUMNS, units))
    title = f"what the chart of {drawn.title} draws"
    return Table(drawn.table, title, columns, tuple(rows))
