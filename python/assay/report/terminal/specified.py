"""Terminal output of a TPC-H test: its metrics, runs, and weights of operations."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from assay.model.units import bytes_text, percent_text, seconds_text
from assay.report.words.loads.specified import first_weight, metric_text, spread_moves

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.load.specified import (
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
# Heading and width of the columns in the table of weights.
WEIGHTS = (
    ("power test", 11),
    ("in streams", 12),
    ("weight", 9),
    ("spread", 20),
    ("moves it", 9),
)
# Heading, width and key of the columns in the table of runs.
COLUMNS = (
    ("composite", 11, "composite_per_h"),
    ("power", 11, "power_per_h"),
    ("throughput", 12, "throughput_per_h"),
    ("power test", 12, "power_seconds"),
    ("Ts", 10, "elapsed_counted_seconds"),
    ("utilised", 10, "share"),
)


def figures_of_test(test: SpecifiedTestSection) -> list[str]:
    """Return TPC-H metrics as texts, and the number of the reported run."""
    figures = [_figure(metric, test) for metric in test["metrics"]]
    runs = len(test["runs"])
    which = test["reported_run"]
    return [*figures, f"run {which} of {runs}"] if runs > 1 and which is not None else figures


def _figure(metric: SpecifiedMetric, test: SpecifiedTestSection) -> str:
    """Return a TPC-H metric as text; the unrounded one follows if rounding dominates."""
    text = f"{metric['label']} {metric_text(metric['value'])}"
    if not test["rounding_dominates"] or metric["unrounded"] is None:
        return text
    return f"{text} ({metric_text(metric['unrounded'])} not rounded)"


def lines_of_test(test: SpecifiedTestSection, width: int, *, all_operations: bool) -> Iterator[str]:
    """Return the terminal lines of a TPC-H test's runs, passes and memory."""
    for sentence in test["why_not"]:
        yield from _wrapped(f"no metric: {sentence}", width)
    if test["left_out"]:
        name = test["metrics"][0]["is_not"]
        is_not = "" if name is None else f"; not {name}"
        yield from _wrapped(f"left out: {', '.join(test['left_out'])}{is_not}", width)
    for sentence in test["warnings"]:
        yield from _wrapped(f"note: {sentence}", width)
    if test["steady"] is not None:
        yield from _steady_lines(test["steady"], all_operations=all_operations)
    else:
        yield from _run_lines(test)
    yield from _weight_lines(test, all_operations=all_operations)
    yield from _memory_lines(test["memory"], width, all_operations=all_operations)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=LEAD, subsequent_indent=LEAD * 2)


def _run_lines(test: SpecifiedTestSection) -> Iterator[str]:
    """Yield a terminal line per run of a TPC-H test; nothing for a single run."""
    shares = {used["run"]: used["share"] for used in test["utilisation"]}
    rows = [
        (run["run"], (_run_figures(run) | {"share": shares.get(run["run"])}))
        for run in test["runs"]
    ]
    shown = [column for column in COLUMNS if any(row[column[2]] is not None for _, row in rows)]
    if not shown:
        return
    yield ""
    yield f"  {'run':<4}" + "".join(f"{head:>{wide}}" for head, wide, _ in shown)
    for number, row in rows:
        mark = "*" if len(rows) > 1 and number == test["reported_run"] else ""
        cells = (f"{_cell(key, row[key]):>{wide}}" for _, wide, key in shown)
        yield f"  {number}{mark:<3}" + "".join(cells)
    if not test["why_not"]:
        yield _unrounded_line(test, [column for column in shown if column[2].endswith("_per_h")])


def _run_figures(run: SpecifiedRun) -> dict[str, float | None]:
    return {
        "composite_per_h": run["composite_per_h"],
        "power_per_h": run["power_per_h"],
        "throughput_per_h": run["throughput_per_h"],
        "power_seconds": run["power_seconds"],
        "elapsed_counted_seconds": run["elapsed_counted_seconds"],
    }


def _unrounded_line(test: SpecifiedTestSection, columns: list[tuple[str, int, str]]) -> str:
    """Return the reported run's unrounded TPC-H metrics as one line."""
    unrounded: dict[str, float | None] = {
        metric["metric"]: metric["unrounded"] for metric in test["metrics"]
    }
    cells = (f"{_cell(key, unrounded.get(f'test_{key}')):>{wide}}" for _, wide, key in columns)
    return f"  {'':<4}{''.join(cells)}  not rounded"


def _cell(key: str, value: float | None) -> str:
    if value is None:
        return "-"
    if key == "share":
        return percent_text(value)
    return f"{value:,.2f} s" if key.endswith("_seconds") else metric_text(value)


def _steady_lines(steady: SteadyPasses, *, all_operations: bool) -> Iterator[str]:
    """Yield terminal lines of pass times side by side, and the steady time."""
    yield ""
    yield f"  {'':<14}{'sum':>10}{'geometric mean':>16}"
    passes = steady["passes"]
    shown = passes if all_operations else passes[:1]
    for place, times in enumerate(shown, start=1):
        yield _pass_line("first pass" if place == 1 else f"pass {place}", times)
    if steady["figure"] is not None:
        yield _pass_line("steady", steady["figure"])
    count, before, compared = len(passes), steady["before"], steady["compared"]
    if before is None:
        yield f"  not steady: the last {compared} of {count} passes differ too much"
    else:
        yield (
            f"  steady after {before} of {count} passes; each query's median over the {compared}"
            " that came then"
        )


def _pass_line(label: str, times: PassTimes) -> str:
    mean = seconds_text(times["geometric_mean_seconds"])
    return f"  {label:<14}{seconds_text(times['sum_seconds']):>10}{mean:>16}"


def _weight_lines(test: SpecifiedTestSection, *, all_operations: bool) -> Iterator[str]:
    """Yield the operations with the largest weights in the main TPC-H metric."""
    weighed = test["sensitivity"]
    if not weighed:
        return
    ordered = sorted(weighed, key=_moves)
    shown = ordered if all_operations else ordered[:TOP_WEIGHTS]
    cells = [_weight_cells(weight) for weight in shown]
    columns = [place for place in range(len(WEIGHTS)) if any(row[place] for row in cells)]
    yield ""
    yield f"  {'what moves it':<14}" + _aligned([head for head, _ in WEIGHTS], columns)
    for weight, row in zip(shown, cells, strict=True):
        yield f"  {weight['operation']:<14}{_aligned(row, columns)}".rstrip()
    left = len(ordered) - len(shown)
    if left:
        yield f"  ... {left} more (--all); weight: % of the metric for 1 % of the time"
    if weighed[0]["composite"] is not None:
        yield "  Ts has the weight 50 %; a query has its share of the stream that ends last"


def _moves(weight: SpecifiedWeight) -> tuple[float, float]:
    return -(spread_moves(weight) or 0.0), first_weight(weight)


def _weight_cells(weight: SpecifiedWeight) -> list[str]:
    """Return an operation's cells in the table of weights; empty without weights."""
    spread, moves = "", spread_moves(weight)
    if weight["seconds_min"] is not None:
        low, high = seconds_text(weight["seconds_min"]), seconds_text(weight["seconds_max"])
        spread = f"{low} to {high}"
    power, in_streams = weight["power_seconds"], weight["throughput_seconds"]
    return [
        "" if power is None else seconds_text(power),
        "" if in_streams is None else seconds_text(in_streams),
        f"{100 * abs(first_weight(weight)):.1f} %",
        spread,
        "" if moves is None else f"{100 * moves:.1f} %",
    ]


def _aligned(cells: list[str], columns: list[int]) -> str:
    return "".join(f"{cells[place]:>{WEIGHTS[place][1]}}" for place in columns)


def _memory_lines(memory: QueryMemory | None, width: int, *, all_operations: bool) -> Iterator[str]:
    """Yield terminal lines on the memory of TPC-H queries, with predictions."""
    if memory is None:
        return
    yield ""
    for peak in memory["peaks"] if all_operations else memory["peaks"][:1]:
        streams = f", {peak['streams']} streams" if peak["streams"] > 1 else ""
        peak_text = f"memory of queries M: {bytes_text(peak['bytes'])}, {peak['what']}{streams}"
        larger = peak["larger"] if all_operations else peak["larger"][-1:]
        scales = ", ".join(
            f"{bytes_text(row['bytes'])} at SF {row['scale']:,g} with {row['streams']} streams"
            for row in larger
        )
        by = f"; extrapolated, not measured, by {memory['formula']}: {scales}" if scales else ""
        yield from _wrapped(f"{peak_text}{by}", width)
