"""Charts of a search for better settings: the recommendation, the runs, and settings' effects."""

from __future__ import annotations

import math
from statistics import stdev
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.figures.contract import (
    CURVE_COLUMNS,
    LINE,
    POINT,
    Chart,
    Column,
    Figure,
    Table,
)
from assay.analysis.host.accounts import accounts
from assay.analysis.quantities import COUNT, SHARE, TIMES, change_text, interval_text, text
from assay.analysis.study_runs import SETTING
from assay.analysis.tune.search import (
    ALPHA,
    DEFAULT,
    HOLD_OUT,
    PAIRS_MIN,
    RACE,
    SEARCH,
    SETTINGS_MIN,
    by_value,
    gain,
    hold_outs,
    kind_of,
    leaders,
    metric_of,
    sensitivities,
    standings,
    trial_of,
)
from assay.model.errors import RecordUnreadableError
from assay.model.units import duration_text, percent_text
from assay.record.reader import took_s

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.metrics import Metric
    from assay.analysis.study_runs import StudyRun
    from assay.analysis.tune.search import HoldOut, Standing, Trial
    from assay.record.reader import Run

OPTIONS = {
    "metric": "what is made better: a metric of runs, or an operation's name; without it what the"
    " runs are first judged by",
    "failed": "settings of which a run failed without a record, with the reason",
}
LEADERS_MAX = 8
# An interval whose ends differ by a factor of 100 or more is not shown.
WIDE = math.log(100)
SEARCHED, HELD_OUT = "search", "hold-out"
# Names of a search's phases in the chart.
PHASES = {SEARCH: "searched", RACE: "raced", HOLD_OUT: "held out"}
LEADER = (
    Column("of"),
    Column("quantity"),
    Column("ratio", TIMES),
    Column("at least", TIMES),
    Column("at most", TIMES),
    Column("differs"),
    Column("rounds", COUNT),
)


def figure(asked: Asked) -> Figure:
    """Return charts of a search for better settings."""
    metric = metric_of(asked.options.get("metric"), asked.runs[0])
    begun = sorted(asked.runs, key=lambda run: str(run.run.facts.get("started_utc", "")))
    trials = [trial_of(run, metric) for run in begun]
    ranked, held = standings(trials), hold_outs(trials)
    failed = {trial.setting: str(trial.reason) for trial in trials if trial.cost is None}
    failed |= {str(name): str(why) for name, why in asked.options.get("failed", {}).items()}
    tables = (
        _leaders(ranked, held, metric),
        _conclusion(held, metric),
        _values(ranked, metric),
        _sensitivity(ranked),
        _progress(trials, metric),
        _trials(begun, trials, metric),
    )
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(_says(ranked, held, begun, trials, metric, failed)),
        tables=tuple(table for table in tables if table.rows),
        charts=tuple(_charts(tables, metric)),
        notes=tuple(_notes(held, metric)),
        missing=tuple(_missing(ranked, trials)),
    )


def _says(
    ranked: Sequence[Standing],
    held: Sequence[HoldOut],
    begun: Sequence[StudyRun],
    trials: Sequence[Trial],
    metric: Metric,
    failed: Mapping[str, str],
) -> Iterator[str]:
    better = next((hold_out for hold_out in held if hold_out.is_better), None)
    if better is None:
        yield _refused(ranked, held, metric, failed)
    else:
        mean = better.mean or 0.0
        times = text(math.exp(-mean), TIMES)
        yield (
            f"Recommended: {better.setting}. Beside the default {metric.title} is"
            f" {_gain_text(better, metric)}, {times} as good, over {len(better.ratios)} pairs of"
            " runs that had no part in the choice."
        )
        switches = " ".join(f"--set {_plain(name, value)}" for name, value in better.levels.items())
        yield f"To apply it: {switches}"
    yield _cost(begun)
    alone = [trial.cost for trial in trials if trial.setting == DEFAULT and trial.cost is not None]
    if len(alone) > 1:
        yield (
            f"The default itself differed by {percent_text(stdev(alone))} from run to run (standard"
            f" deviation of {len(alone)} runs)."
        )
    if failed:
        many = len(failed) > 1
        yield (
            f"{len(failed)} setting{'s' if many else ''} failed, which the verdict of the whole"
            f" counts: {'each' if many else 'it'} is a point of the search, and no better."
        )
    yield from _knob_shares(ranked)


def _refused(
    ranked: Sequence[Standing],
    held: Sequence[HoldOut],
    metric: Metric,
    failed: Mapping[str, str],
) -> str:
    """Return a sentence on why no better setting is recommended."""
    lead = "Nothing is recommended:"
    best = min(held, key=lambda hold_out: hold_out.mean or 0.0, default=None)
    if best is not None and best.setting in failed:
        return f"{lead} {best.setting} failed when it was repeated: {failed[best.setting]}."
    if best is not None and best.ratios:
        few = " so far" if len(best.ratios) < PAIRS_MIN else ""
        return (
            f"{lead} no setting is better than the default beyond noise. With {best.setting}, which"
            f" looked best, {metric.title} is {_gain_text(best, metric)}, over"
            f" {len(best.ratios)} pairs of runs{few}{_meaning(best)}."
        )
    ahead = leaders(ranked)
    if not ahead:
        tried = failed.keys() | {standing.setting for standing in ranked}
        return f"{lead} {'every setting that was tried failed' if tried else 'none was tried'}."
    leading = ahead[0].ratio
    if leading is None or leading.value >= 0:
        return f"{lead} none of {len(ranked)} settings looked better than the default."
    if ahead[0].setting in failed:
        return f"{lead} {ahead[0].setting} failed when it was repeated."
    return (
        f"{lead} {ahead[0].setting} looked best, and no time was left to compare it with the"
        " default in runs of their own."
    )


def _gain_text(hold_out: HoldOut, metric: Metric) -> str:
    """Return the change of the metric by a recommended setting as text, with its interval."""
    mean = change_text(_change(hold_out.mean or 0.0, metric))
    if hold_out.interval is None or hold_out.interval[1] - hold_out.interval[0] >= WIDE:
        return f"{mean} (too few pairs to say how far)"
    # Each end has its own sign; the better end comes first.
    ends = [_change(end, metric) for end in hold_out.interval]
    if ends[0] * ends[1] > 0:
        low, high = sorted(map(abs, ends))
        return f"{mean}{interval_text((low, high), SHARE)}"
    return f"{mean} (between {change_text(ends[0])} and {change_text(ends[1])})"


def _change(ratio: float, metric: Metric) -> float:
    """Return a metric's relative change against the default, from the log of the cost ratio."""
    return gain(ratio, metric) * (1 if metric.is_better == "higher" else -1)


def _meaning(hold_out: HoldOut) -> str:
    """Return text that the default may be as good; empty if the interval excludes that."""
    if hold_out.interval is None or not hold_out.interval[0] <= 0 <= hold_out.interval[1]:
        return ""
    return ": the default may be as good, or better"


def _cost(begun: Sequence[StudyRun]) -> str:
    """Return the cost of the settings search: runs, minutes and CPU seconds."""
    runs = list({run.run.id: run.run for run in begun}.values())
    took = math.fsum(took_s(run) or 0.0 for run in runs)
    cpu = [seconds for run in runs if (seconds := _cpu_s(run)) is not None]
    used = f" and {math.fsum(cpu):,.0f} CPU seconds of engine and client" if cpu else ""
    return f"It cost {len(runs)} runs, {duration_text(took)}{used}."


def _cpu_s(run: Run) -> float | None:
    """Return the CPU seconds of Assay's processes during sampling; None without samples."""
    try:
        cpus, processes = run.table("cpus"), run.table("processes")
    except RecordUnreadableError:
        return None
    ends = processes.select(pl.col("time_ns").min().alias("a"), pl.col("time_ns").max().alias("b"))
    first, last = ends.row(0)
    spent = None if first is None else accounts(cpus, processes, int(first), int(last))
    return None if spent is None else math.fsum(spent.by_process.values())


def _knob_shares(ranked: Sequence[Standing]) -> Iterator[str]:
    """Yield a sentence on the share of the variation that each engine setting explains."""
    shares = sensitivities(ranked)
    if shares:
        parts = ", ".join(f"{knob} {percent_text(share)}" for knob, share in _ordered(shares))
        yield f"Of what settings of the search differ by, each knob by itself tells: {parts}."


def _ordered(shares: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(shares.items(), key=lambda pair: -pair[1])


def _plain(name: str, value: str) -> str:
    assignment = f"{name.removeprefix(SETTING)}={value}"
    return f"'{assignment}'" if " " in assignment else assignment


def _short(levels: Mapping[str, str]) -> str:
    """Return the values of a group of settings as text, without their names."""
    return " / ".join(levels.values())


def _leaders(ranked: Sequence[Standing], held: Sequence[HoldOut], metric: Metric) -> Table:
    """Return a table of the best settings and the results of their hold-out runs."""
    rows: list[tuple[Cell, ...]] = []
    sign = 1 if metric.is_better == "lower" else -1
    for out in held:
        if out.mean is not None:
            ends, count = _ends(out.interval, sign), len(out.ratios)
            ratio = math.exp(sign * out.mean)
            rows.append((_short(out.levels), HELD_OUT, ratio, *ends, _differs(ends), count))
    for leader in leaders(ranked)[:LEADERS_MAX]:
        if leader.ratio is not None:
            ends, ratio = _ends(leader.ratio.interval, sign), math.exp(sign * leader.ratio.value)
            rows.append(
                (_short(leader.levels), SEARCHED, ratio, *ends, _differs(ends), leader.rounds)
            )
    knobs = list(ranked[0].levels) if ranked else []
    of = " / ".join(name.removeprefix(SETTING) for name in knobs)
    return Table("leaders", f"{metric.title} by the default's, of {of}", LEADER, tuple(rows))


def _ends(interval: tuple[float, float] | None, sign: int) -> tuple[Cell, Cell]:
    if interval is None:
        return None, None
    ends = sorted(math.exp(sign * end) for end in interval)
    return ends[0], ends[1]


def _differs(ends: tuple[Cell, Cell]) -> str:
    low, high = ends
    if not isinstance(low, float) or not isinstance(high, float):
        return "not known"
    return "no" if low <= 1.0 <= high else "yes"


def _conclusion(held: Sequence[HoldOut], metric: Metric) -> Table:
    """Return a table of each hold-out comparison and its gain, for programs to read."""
    columns = (
        Column("setting"),
        Column("recommended"),
        Column("metric"),
        Column("gain", SHARE),
        Column("at least", SHARE),
        Column("at most", SHARE),
        Column("pairs", COUNT),
        Column("may be wrong", SHARE),
    )
    rows: list[tuple[Cell, ...]] = []
    for hold_out in held:
        share = None if hold_out.mean is None else gain(hold_out.mean, metric)
        ends = sorted(gain(end, metric) for end in hold_out.interval or ())
        low, high = ends or (None, None)
        yes = "yes" if hold_out.is_better else "no"
        rows.append(
            (
                hold_out.setting,
                yes,
                metric.name,
                share,
                low,
                high,
                len(hold_out.ratios),
                hold_out.alpha,
            )
        )
    return Table("conclusion", "what was compared to decide", columns, tuple(rows))


def _values(ranked: Sequence[Standing], metric: Metric) -> Table:
    columns = (
        Column("knob"),
        Column("values"),
        Column("settings", COUNT),
        Column("by the default's", TIMES),
    )
    sign = 1 if metric.is_better == "lower" else -1
    rows = tuple(
        (outcome.knob, outcome.values, outcome.settings, math.exp(sign * outcome.ratio))
        for outcome in by_value(ranked)
    )
    return Table("values", f"{metric.title} by each knob's values", columns, rows)


def _sensitivity(ranked: Sequence[Standing]) -> Table:
    columns = (Column("knob"), Column("tells", SHARE))
    rows = tuple(_ordered(sensitivities(ranked)))
    return Table("sensitivity", "what settings differ by", columns, rows)


def _progress(trials: Sequence[Trial], metric: Metric) -> Table:
    """Return a table of each run's cost relative to the default settings, and the best mean."""
    sign = 1 if metric.is_better == "lower" else -1
    defaults = {
        (trial.part, trial.round): trial.cost for trial in trials if trial.setting == DEFAULT
    }
    rows: list[tuple[Cell, ...]] = []
    for number, trial in enumerate(trials, 1):
        base = defaults.get((trial.part, trial.round))
        if trial.setting != DEFAULT and trial.cost is not None and base is not None:
            ratio = math.exp(sign * (trial.cost - base))
            rows.append((PHASES[kind_of(trial.part)], None, number, ratio, None, None, POINT))
        best = leaders(standings(trials[:number]))
        if best and best[0].ratio is not None:
            mean = math.exp(sign * best[0].ratio.value)
            rows.append(("best mean so far", None, number, mean, None, None, LINE))
    units = {"x": COUNT, "y": TIMES, "low": TIMES, "high": TIMES}
    columns = tuple(Column(name, units.get(name)) for name in CURVE_COLUMNS)
    return Table("progress", "settings by the default's, in their order", columns, tuple(rows))


def _trials(begun: Sequence[StudyRun], trials: Sequence[Trial], metric: Metric) -> Table:
    columns = (
        Column("run"),
        Column("part"),
        Column("round", COUNT),
        Column("setting"),
        Column("value", metric.unit),
        Column("failed"),
    )
    rows = tuple(
        (run.run.id, trial.part, trial.round, trial.setting, trial.value, trial.reason)
        for run, trial in zip(begun, trials, strict=True)
    )
    return Table("trials", "every run", columns, rows)


def _charts(tables: Sequence[Table], metric: Metric) -> Iterator[Chart]:
    names = {table.name for table in tables if table.rows}
    if "leaders" in names:
        title = f"{metric.title} by the default's"
        yield Chart("leaders", title, "forest", ("ratio",), table="leaders")
    if "progress" in names:
        title = f"{metric.title} by the default's"
        keys = ("run, in their order", title)
        yield Chart("progress", title, "fitted", keys, axis="x", table="progress")


def _notes(held: Sequence[HoldOut], metric: Metric) -> Iterator[str]:
    yield (
        "Every ratio is of runs of one round, which stood side by side; intervals of the search are"
        " each setting's own (95 %, Student's t) and do not allow for its having been chosen."
    )
    if held:
        yield (
            "Intervals of hold-outs allow for all: they hold at every moment at once, and for all"
            f" hold-outs of this tune together with {percent_text(1 - ALPHA)}."
        )
    yield f"Better is {metric.is_better}: {metric.title}."


def _missing(ranked: Sequence[Standing], trials: Sequence[Trial]) -> Iterator[str]:
    failed = {trial.setting: trial.reason for trial in trials if trial.cost is None}
    yield from (f"{setting} failed: {reason}" for setting, reason in failed.items())
    if len(leaders(ranked)) < SETTINGS_MIN:
        yield (
            f"how much each knob tells: that takes {SETTINGS_MIN} settings, and"
            f" {len(leaders(ranked))} gave a ratio"
        )
