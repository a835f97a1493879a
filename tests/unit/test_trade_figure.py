"""A knob's trade on made records: an effect, none, and one that nobody can know."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.analysis.figures.contract import Asked, Figure
from assay.analysis.figures.discovery import make
from assay.analysis.tune.knob_counters import NAMES, counted
from assay.analysis.tune.knob_effect import same_value
from assay.analysis.tune.trade import variability_of
from assay.engines.discovery import find_engine, find_engines
from assay.record.seal import write_seal
from assay.record.studies import read_study
from assay.record.writer import write_json
from assay.report.study.charts import charts_of
from assay.report.study.document import study_document
from assay.report.study.trade_text import trade_lines
from tests.conftest import write_stream
from tests.records import OPERATIONS, write_run
from tests.studies import MadeStudy, figure, shortened

WHOLE_S = sum(OPERATIONS.values())
KNOB = {
    "setting": "threads",
    "about": "threads of a query",
    "values": "count",
    "effective": None,
    "moves": ["minor_faults"],
    "scheduling": ["run_delay_ns"],
    "blocking": ["voluntary_switches", "latch_wait_ns"],
}


@dataclass(frozen=True)
class Made:
    """A run of a level: how long it takes, what is in force, and what moves with it."""

    value: str
    factor: float = 1.0
    in_force: str | None = None
    faults: int = 100
    switches: int | None = 10


def knob_run(place: Path, made: Made, knobs: Mapping[str, Any]) -> Path:
    """A run whose setting `threads` has a value, and whose meters say what they are told to."""
    run = write_run(place)
    facts = json.loads((run / "run.json").read_text("utf-8"))
    facts["request"]["settings"] = {"threads": made.value}
    facts["engine"]["knobs"] = {"knobs": dict(knobs), "without": {}}
    write_json(run / "run.json", facts)
    environment = json.loads((run / "environment.json").read_text("utf-8"))
    in_force = made.value if made.in_force is None else made.in_force
    environment["engine"]["settings"] = {"threads": in_force}
    write_json(run / "environment.json", environment)
    tasks = run / "raw" / "tasks.arrows"
    is_end = pl.col("edge").cast(pl.String) == "end"
    table = pl.read_ipc_stream(tasks).with_columns(
        pl.when(is_end).then(made.faults).otherwise(0).alias("minor_faults"),
        pl.when(is_end).then(pl.lit(made.switches)).otherwise(0).alias("voluntary_switches"),
    )
    tasks.unlink()
    write_stream(tasks, table.to_dicts())
    if made.factor != 1.0:
        shortened(run / "raw" / "events.arrows", made.factor)
    write_seal(run)
    return run


def study(
    runs: Path, rounds: Sequence[Sequence[Made]], knobs: Mapping[str, Any] | None = None
) -> MadeStudy:
    """A study of rounds with a run at each level."""
    made = MadeStudy(runs)
    declared_knobs = {"threads": KNOB} if knobs is None else knobs
    for number, levels in enumerate(rounds, 1):
        for level in levels:
            run = knob_run(runs / "made", level, declared_knobs)
            made.add("knob", {"set.threads": level.value}, run, number)
    return made


def figure_of(made: MadeStudy, **options: Any) -> Figure:
    return make(Asked("threads", "trade", "By threads", tuple(made.studied), options))


def rows(made: Figure, table: str) -> list[dict[str, Any]]:
    candidate = next(result_table for result_table in made.tables if result_table.name == table)
    heads = [column.name for column in candidate.columns]
    return [dict(zip(heads, row, strict=True)) for row in candidate.rows]


def two_that_differ(runs: Path) -> MadeStudy:
    """Twice the threads take half the time and more faults, in each of three rounds."""
    noise = (1.0, 1.01, 0.99)
    return study(
        runs,
        [
            [
                Made("1", 1.0 * by, faults=100 + turn),
                Made("2", 0.5 * by, faults=400 + turn, switches=40),
            ]
            for turn, by in enumerate(noise)
        ],
    )


class TestEffect:
    def test_a_knob_that_moves_its_counters_took_effect(self, tmp_path: Path) -> None:
        shown = figure_of(two_that_differ(tmp_path))
        best, effect = shown.says[:2]
        assert "threads 2 is best" in best
        assert "1 takes 2 x as long [2 x, 2 x]" in best
        assert "threads took effect: minor page faults moved with it" in effect
        (trade_row, two) = rows(shown, "trade")
        assert trade_row["time"] == pytest.approx(WHOLE_S, rel=0.01)
        assert trade_row["at least"] < WHOLE_S < trade_row["at most"]
        assert (trade_row["beside the best"], two["beside the best"]) == (pytest.approx(2.0), 1.0)
        # A twentieth of each operation was waited for a CPU.
        assert trade_row["waiting for a CPU"] == pytest.approx(WHOLE_S / 20, rel=0.03)
        assert (trade_row["voluntary switches"], two["voluntary switches"]) == (30, 120)

    def test_one_that_moves_nothing_is_called_so_first(self, tmp_path: Path) -> None:
        by = (1.0, 1.02, 0.99)
        made = study(
            tmp_path,
            [[Made("1", level), Made("2", two)] for level, two in zip(by, by[::-1], strict=True)],
        )
        shown = figure_of(made)
        message = "it is in force as asked, but minor page faults did not move"
        assert f"no effect: {message}" in shown.says[0]
        assert "no other level differs from it" in shown.says[1]
        moved_rows = [row for row in rows(shown, "counters") if row["side"] == "has to move"]
        assert [(row["counter"], row["moved"]) for row in moved_rows] == [
            ("minor page faults", "no")
        ]

    def test_one_that_was_not_taken_is_told_by_what_is_in_force(self, tmp_path: Path) -> None:
        levels = [Made("1", in_force="1"), Made("2", in_force="1", faults=900)]
        shown = figure_of(study(tmp_path, [levels, levels]))
        # Whatever moved, it was not moved by this.
        assert "no effect: threads is 1 in force at all levels" in shown.says[0]
        assert any(
            "not as asked at 1 of its levels: 1 in force for 2" in sentence
            for sentence in shown.says
        )
        assert [row["as asked"] for row in rows(shown, "read-back")] == ["yes", "no"]

    def test_without_a_counter_nobody_knows(self, tmp_path: Path) -> None:
        levels = [Made("1"), Made("2")]
        shown = figure_of(study(tmp_path, [levels, levels], {}))
        said = " ".join(shown.says)
        assert "not known whether threads took effect: no counter is known that it moves" in said
        # The kernel's meters are the sides then.
        assert "by the kernel's meters" in said

    def test_a_counter_that_nobody_counts_says_so(self, tmp_path: Path) -> None:
        levels = [Made("1", switches=None), Made("2", switches=None)]
        knob = KNOB | {"moves": ["block_delay_ns"]}
        shown = figure_of(study(tmp_path, [levels, levels], {"threads": knob}))
        assert any("this host's kernel does not report it" in sentence for sentence in shown.says)
        assert any("voluntary switches: not measured" in sentence for sentence in shown.missing)

    def test_one_round_tells_nothing_from_noise(self, tmp_path: Path) -> None:
        shown = figure_of(study(tmp_path, [[Made("1"), Made("2", 0.5, faults=700)]]))
        said = " ".join(shown.says)
        assert "one run a level, so the others may be noise" in said
        assert "not known whether threads took effect: there is one run a level" in said

    @pytest.mark.parametrize(
        ("asked", "effective", "same"),
        [
            ("64MB", "64MB", True),
            ("65536kB", "64MB", True),
            ("1GB", "953.6 MiB", True),
            ("10000", "10000.0", True),
            ("on", "true", True),
            ("OFF", "0", True),
            ("64MB", "256MB", False),
            ("1", "2", False),
            ("on", "off", False),
            ("hash", "merge", False),
        ],
    )
    def test_values_are_compared_by_what_they_mean(
        self, asked: str, effective: str, same: bool
    ) -> None:
        assert same_value(asked, effective) is same


class TestFirst:
    def test_the_first_execution_is_apart_and_in_no_interval(self, tmp_path: Path) -> None:
        shown = figure_of(two_that_differ(tmp_path))
        (first_row, two) = rows(shown, "first")
        # The untimed pass of a made run takes half as long again.
        assert first_row["first / later"] == pytest.approx(1.5, rel=0.01)
        assert first_row["first"] == pytest.approx(1.5 * WHOLE_S, rel=0.02)
        measure = shown.measure("1 first times")
        assert measure is not None
        assert measure.values["DuckDB"].middle == pytest.approx(1.5, rel=0.01)
        assert rows(shown, "trade")[0]["at most"] < first_row["first"]
        assert "the first execution, in no interval, takes up to 1.5 x" in " ".join(shown.says)
        assert two["executions of one run differ by"] == pytest.approx(0.075, abs=0.02)

    def test_variability_has_a_reason_where_it_is_not_small(self, tmp_path: Path) -> None:
        made = two_that_differ(tmp_path)
        variability = variability_of([made.studied[0].run])
        assert variability is not None
        # Passes of 0.95, 1.1 and 1.0, of which a fixed part was waiting for a CPU.
        assert variability.share > 0.05
        assert (
            variability.reason == "they waited for a CPU for different times: others used this host"
        )


class TestGrid:
    def test_two_knobs_are_a_field_with_its_best(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        for number, by in ((1, 1.0), (2, 1.01)):
            for threads in ("1", "2"):
                for buffer in ("64MB", "1GB"):
                    factor = by / int(threads) * (1.0 if buffer == "1GB" else 1.5)
                    run = knob_run(tmp_path / "made", Made(threads, factor), {})
                    made.add("knob", {"set.threads": threads, "buffer": buffer}, run, number)
        shown = figure_of(made, factor="set.threads", grid="buffer")
        (table,) = shown.tables
        assert [column.name for column in table.columns] == ["threads", "64MB", "1GB"]
        assert "2 with 1GB is best" in shown.says[0]
        assert "every other combination differs from it" in shown.says[0]
        assert shown.measure("1 64MB") is not None
        assert shown.charts[0].kind == "heat"


class TestShown:
    def test_the_page_and_the_terminal_have_the_curve_with_both_sides(self, tmp_path: Path) -> None:
        directory = two_that_differ(tmp_path).write([figure("trade", "knob", "threads")])
        (figures,) = study_document(read_study(directory))["figures"]
        (chart,) = charts_of(figures).values()
        drawn = chart.to_dict()
        titles = [panel["title"]["text"] for panel in drawn["vconcat"]]
        assert titles == [
            "seconds of all operations (triangles: the first execution), seconds",
            "scheduling: waiting for a CPU, ms",
            "blocking: voluntary switches",
        ]
        text = list(trade_lines(figures, 80))
        assert all(len(line) <= 80 for line in text)
        (first, second) = (line.split() for line in text if line.split()[:1] in (["1"], ["2"]))
        # Half the time is half a bar; four times the switches are four times the bar.
        assert first[1:3] == ["700", "ms"]
        assert len(first[3]) == pytest.approx(2 * len(second[3]), abs=1)
        assert 4 * len(first[-1]) == pytest.approx(len(second[-1]), abs=4)

    def test_an_article_stands_beside_by_level(self, tmp_path: Path) -> None:
        shown = figure_of(two_that_differ(tmp_path))
        keys = [measure.key for measure in shown.measures]
        assert keys[:2] == ["1 time", "1 first"]
        assert {"2 scheduling", "2 blocking", "2 variability"} <= set(keys)

    def test_a_study_may_name_other_counters(self, tmp_path: Path) -> None:
        made = two_that_differ(tmp_path)
        shown = figure_of(made, scheduling=["minor_faults"], blocking=["cpu_ns"])
        heads = [column.name for column in shown.tables[0].columns]
        assert heads[-2:] == ["minor page faults", "CPU time"]
        assert "list of counter names" in figure_of(made, moves="minor_faults").missing[0]


class TestCounters:
    def test_names_that_knobs_give_are_resolved_in_one_place(self, tmp_path: Path) -> None:
        run = two_that_differ(tmp_path).studied[0].run
        figure_counter = counted(run, "minor_faults")
        assert (figure_counter.value, figure_counter.unit) == (300, "count")
        cpu = counted(run, "cpu_ns")
        # Nine tenths of each operation were on a CPU; passes are 1.7 % longer than the median.
        assert cpu.unit == "s"
        assert cpu.value == pytest.approx(0.9 * WHOLE_S, rel=0.03)
        assert counted(run, "messages").why_not == "the engine is no cluster of nodes"
        assert "did you mean 'minor_faults'?" in str(counted(run, "minor_fault").why_not)
        for name in NAMES:
            counter = counted(run, name)
            assert (counter.value is None) == (counter.why_not is not None)

    @pytest.mark.parametrize("engine", sorted(find_engines()))
    def test_every_counter_of_a_knob_is_one_that_somebody_counts(self, engine: str) -> None:
        folder = find_engine(engine)
        own = [entry["name"] for entry in (folder.counters() or {}).get("counters", [])]
        for name, knob in folder.knobs().knobs.items():
            for counter in (*knob.moves, *knob.scheduling, *knob.blocking):
                assert counter in {*NAMES, *own}, f"{engine}: knob {name}: {counter}"
