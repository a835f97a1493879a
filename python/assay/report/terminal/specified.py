"""What the terminal tells of a test: its metrics, its runs, and what moves them."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from assay.model.units import bytes_text, percent_text, seconds_text
from assay.report.words.specified import first_weight, metric_text, spread_moves

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.specified import (
        PassTimes,
        QueryMemory,
        SpecifiedMetric,
        SpecifiedRun,
        SpecifiedTestSection,
        SpecifiedWeight,
        SteadyPasses,
    )

LEAD = "  "
TOP_WEIGHTS = 3
# Columns of the table of weights: heading and width.
WEIGHTS = (
    ("power test", 11),
    ("in streams", 12),
    ("weight", 9),
    ("spread", 20),
    ("moves it", 9),
)
# Columns of the table of runs: heading, width, key.
COLUMNS = (
    ("composite", 11, "composite_per_h"),
    ("power", 11, "power_per_h"),
    ("throughput", 12, "throughput_per_h"),
    ("power test", 12, "power_seconds"),
    ("Ts", 10, "elapsed_counted_seconds"),
    ("utilised", 10, "share"),
)


def figures_of_test(told: SpecifiedTestSection) -> list[str]:
    """The metrics, and of which run they are."""
    figures = [_figure(one, told) for one in told["metrics"]]
    runs = len(told["runs"])
    which = told["reported_run"]
    return [*figures, f"run {which} of {runs}"] if runs > 1 and which is not None else figures


def _figure(one: SpecifiedMetric, told: SpecifiedTestSection) -> str:
    """A metric; where rounding decides about it, the one that is not rounded stands beside."""
    words = f"{one['label']} {metric_text(one['value'])}"
    if not told["rounding_dominates"] or one["unrounded"] is None:
        return words
    return f"{words} ({metric_text(one['unrounded'])} not rounded)"


def lines_of_test(told: SpecifiedTestSection, width: int, *, all_operations: bool) -> Iterator[str]:
    """All that stands between the metrics and the operations."""
    for words in told["why_not"]:
        yield from _wrapped(f"no metric: {words}", width)
    if told["left_out"]:
        name = told["metrics"][0]["is_not"]
        is_not = "" if name is None else f"; not {name}"
        yield from _wrapped(f"left out: {', '.join(told['left_out'])}{is_not}", width)
    for words in told["warnings"]:
        yield from _wrapped(f"note: {words}", width)
    if told["steady"] is not None:
        yield from _steady_lines(told["steady"], all_operations=all_operations)
    else:
        yield from _run_lines(told)
    yield from _weight_lines(told, all_operations=all_operations)
    yield from _memory_lines(told["memory"], width, all_operations=all_operations)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=LEAD, subsequent_indent=LEAD * 2)


def _run_lines(told: SpecifiedTestSection) -> Iterator[str]:
    """One line a run; a single run of one test has nothing that does not stand above."""
    shares = {one["run"]: one["share"] for one in told["utilisation"]}
    rows = [
        (run["run"], (_run_figures(run) | {"share": shares.get(run["run"])}))
        for run in told["runs"]
    ]
    shown = [column for column in COLUMNS if any(row[column[2]] is not None for _, row in rows)]
    if not shown:
        return
    yield ""
    yield f"  {'run':<4}" + "".join(f"{words:>{wide}}" for words, wide, _ in shown)
    for number, row in rows:
        mark = "*" if len(rows) > 1 and number == told["reported_run"] else ""
        cells = (f"{_cell(key, row[key]):>{wide}}" for _, wide, key in shown)
        yield f"  {number}{mark:<3}" + "".join(cells)
    if not told["why_not"]:
        yield _unrounded_line(told, [column for column in shown if column[2].endswith("_per_h")])


def _run_figures(run: SpecifiedRun) -> dict[str, float | None]:
    return {
        "composite_per_h": run["composite_per_h"],
        "power_per_h": run["power_per_h"],
        "throughput_per_h": run["throughput_per_h"],
        "power_seconds": run["power_seconds"],
        "elapsed_counted_seconds": run["elapsed_counted_seconds"],
    }


def _unrounded_line(told: SpecifiedTestSection, columns: list[tuple[str, int, str]]) -> str:
    """The reported run's metrics from intervals as they were measured, under the rounded ones."""
    found: dict[str, float | None] = {one["metric"]: one["unrounded"] for one in told["metrics"]}
    cells = (f"{_cell(key, found.get(f'test_{key}')):>{wide}}" for _, wide, key in columns)
    return f"  {'':<4}{''.join(cells)}  not rounded"


def _cell(key: str, value: float | None) -> str:
    if value is None:
        return "-"
    if key == "share":
        return percent_text(value)
    return f"{value:,.2f} s" if key.endswith("_seconds") else metric_text(value)


def _steady_lines(steady: SteadyPasses, *, all_operations: bool) -> Iterator[str]:
    """The passes beside each other, the first one and the steady figure."""
    yield ""
    yield f"  {'':<14}{'sum':>10}{'geometric mean':>16}"
    passes = steady["passes"]
    shown = passes if all_operations else passes[:1]
    for place, one in enumerate(shown, start=1):
        yield _pass_line("first pass" if place == 1 else f"pass {place}", one)
    if steady["figure"] is not None:
        yield _pass_line("steady", steady["figure"])
    count, before, compared = len(passes), steady["before"], steady["compared"]
    if before is None:
        yield f"  not steady: the last {compared} of {count} passes were not alike"
    else:
        yield (
            f"  steady after {before} of {count} passes; each query's median over the {compared}"
            " that came then"
        )


def _pass_line(words: str, one: PassTimes) -> str:
    mean = seconds_text(one["geometric_mean_seconds"])
    return f"  {words:<14}{seconds_text(one['sum_seconds']):>10}{mean:>16}"


def _weight_lines(told: SpecifiedTestSection, *, all_operations: bool) -> Iterator[str]:
    """What moves the first metric most, by the spread of its intervals where there is any."""
    weighed = told["sensitivity"]
    if not weighed:
        return
    ordered = sorted(weighed, key=_moves)
    shown = ordered if all_operations else ordered[:TOP_WEIGHTS]
    cells = [_weight_cells(one) for one in shown]
    columns = [place for place in range(len(WEIGHTS)) if any(row[place] for row in cells)]
    yield ""
    yield f"  {'what moves it':<14}" + _aligned([words for words, _ in WEIGHTS], columns)
    for one, row in zip(shown, cells, strict=True):
        yield f"  {one['operation']:<14}{_aligned(row, columns)}".rstrip()
    left = len(ordered) - len(shown)
    if left:
        yield f"  ... {left} more (--all); weight: % of the metric for 1 % of the time"
    if weighed[0]["composite"] is not None:
        yield "  Ts weighs 50 %, of which a query has its share in the stream that ends last"


def _moves(one: SpecifiedWeight) -> tuple[float, float]:
    return -(spread_moves(one) or 0.0), first_weight(one)


def _weight_cells(one: SpecifiedWeight) -> list[str]:
    """What the columns of `WEIGHTS` say of an operation; empty where it has none."""
    spread, moves = "", spread_moves(one)
    if one["seconds_min"] is not None:
        low, high = seconds_text(one["seconds_min"]), seconds_text(one["seconds_max"])
        spread = f"{low} to {high}"
    power, in_streams = one["power_seconds"], one["throughput_seconds"]
    return [
        "" if power is None else seconds_text(power),
        "" if in_streams is None else seconds_text(in_streams),
        f"{100 * abs(first_weight(one)):.1f} %",
        spread,
        "" if moves is None else f"{100 * moves:.1f} %",
    ]


def _aligned(cells: list[str], columns: list[int]) -> str:
    return "".join(f"{cells[place]:>{WEIGHTS[place][1]}}" for place in columns)


def _memory_lines(memory: QueryMemory | None, width: int, *, all_operations: bool) -> Iterator[str]:
    """What queries took and would take at larger scales; without `--all` only the first peak."""
    if memory is None:
        return
    yield ""
    for peak in memory["peaks"] if all_operations else memory["peaks"][:1]:
        streams = f", {peak['streams']} streams" if peak["streams"] > 1 else ""
        told = f"memory of queries M: {bytes_text(peak['bytes'])}, {peak['what']}{streams}"
        larger = peak["larger"] if all_operations else peak["larger"][-1:]
        scales = ", ".join(
            f"{bytes_text(one['bytes'])} at SF {one['scale']:,g} with {one['streams']} streams"
            for one in larger
        )
        by = f"; extrapolated, not measured, by {memory['formula']}: {scales}" if scales else ""
        yield from _wrapped(f"{told}{by}", width)
