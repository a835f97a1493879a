"""Laws of costs by scale: exact ones, noisy ones, those of an article's figures and of records."""

from __future__ import annotations

import json
import math
import random
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import assay
from assay.analysis.data_size import cache_bytes, host_memory_bytes, size_of
from assay.analysis.figures.contract import Asked, Chart, Column, Figure, Table
from assay.analysis.figures.discovery import make
from assay.analysis.figures.growth import scales
from assay.analysis.figures.growth.scales_words import exponent_text, says_of, times_text
from assay.analysis.published.facts import read_published
from assay.analysis.scales.compared import compared
from assay.analysis.scales.costs import costs_of, whole_name
from assay.analysis.scales.law import Point, PowerLaw, power_law
from assay.analysis.scales.shares import Shares, Shift
from assay.analysis.stats.rounds import factor_of
from assay.analysis.stats.student import Mean
from assay.analysis.study_runs import StudyRun
from assay.model.errors import UsageError
from assay.probes.streams import ENGINE, Stream
from assay.record.reader import Run
from assay.record.seal import write_seal
from assay.record.writer import write_json
from assay.report.study.charts import SUBJECTS_MAX, charts_of
from tests.conftest import write_stream
from tests.plans import made, made_plan
from tests.records import BEGUN_NS, S
from tests.sides import OPERATION, Doing, Side

SIZES = (1.0, 10.0, 100.0)
NOISE, TRIALS = 0.1, 600
STATEMENT = "find"
# Planning takes the same time at every scale; scanning takes 7.1 times as long at ten times.
PLANNING_MS, SCAN_MS, TIMES = 0.4, 1.0, 7.1
LOOKUPS = 100.0
COUNTERS = {
    "counters": [
        {
            "name": "lookups",
            "title": "Look-ups",
            "unit": "look-ups",
            "source": "status",
            "counter": "rnd",
        }
    ]
}


def law(
    *points: Point, exponent: float = 0.7, rounds: int = 3, sizes: tuple[float, ...] = SIZES
) -> PowerLaw:
    """A law of these points; without any those of 2 size^exponent, each round 10 % higher."""
    drifting = [
        Point(number, size, 2 * size**exponent * 1.1**number)
        for number in range(rounds)
        for size in sizes
    ]
    fitted_law = power_law(points or drifting)
    assert fitted_law is not None
    return fitted_law


def noisy(seed: int, rounds: int, sizes: tuple[float, ...]) -> tuple[PowerLaw, random.Random]:
    dice = random.Random(seed)
    points = [
        Point(number, size, 2 * size**0.7 * math.exp(dice.gauss(0, NOISE)))
        for number in range(rounds)
        for size in sizes
    ]
    return law(*points), dice


class TestLaw:
    def test_what_drifts_from_round_to_round_goes_out(self) -> None:
        fitted_law = law()
        assert fitted_law.exponent.value == pytest.approx(0.7)
        assert fitted_law.exponent.interval == pytest.approx((0.7, 0.7))
        assert fitted_law.ratio.times == pytest.approx(100**0.7)
        assert (fitted_law.sizes, fitted_law.rounds) == (SIZES, 3)
        assert not fitted_law.is_bent

    def test_of_two_sizes_it_is_the_interval_of_the_ratio(self) -> None:
        values = {1: (3.0, 20.0), 2: (3.3, 19.0), 3: (2.9, 24.0)}
        points = [
            Point(number, size, value)
            for number, own in values.items()
            for size, value in zip((1.0, 10.0), own, strict=True)
        ]
        fitted_law = law(*points)
        factor = factor_of([last / first for first, last in values.values()])
        assert factor is not None
        assert factor.interval is not None
        assert fitted_law.exponent.interval is not None
        assert fitted_law.exponent.value == pytest.approx(math.log10(factor.times))
        assert fitted_law.exponent.interval == pytest.approx(
            [math.log10(end) for end in factor.interval]
        )
        assert fitted_law.bend is None

    def test_one_round_has_no_interval_anywhere(self) -> None:
        fitted_law = law(rounds=1)
        assert fitted_law.exponent.interval is None
        assert fitted_law.ratio.interval is None
        assert fitted_law.predicted(1000.0).interval is None
        assert fitted_law.predicted(1000.0).value == pytest.approx(2 * 1000**0.7)

    def test_a_size_beyond_the_range_is_less_sure(self) -> None:
        fitted_law, _ = noisy(5, 3, SIZES)
        widths = []
        for size in (10.0, 100.0, 1000.0, 1e5):
            prediction = fitted_law.predicted(size)
            assert prediction.interval is not None
            widths.append(math.log(prediction.interval[1] / prediction.interval[0]))
        assert widths == sorted(widths)
        beyond = [fitted_law.predicted(size).beyond for size in (0.1, 1.0, 50.0, 100.0, 1000.0)]
        assert beyond == pytest.approx([10.0, 1.0, 1.0, 1.0, 10.0])

    @pytest.mark.parametrize(("rounds", "sizes"), [(2, SIZES[:2]), (3, SIZES), (5, SIZES[:2])])
    def test_intervals_hold_what_they_say(self, rounds: int, sizes: tuple[float, ...]) -> None:
        held = foreseen = 0
        for seed in range(TRIALS):
            fitted_law, dice = noisy(seed, rounds, sizes)
            there = fitted_law.predicted(1000.0).interval
            assert fitted_law.exponent.interval is not None
            assert there is not None
            held += fitted_law.exponent.interval[0] <= 0.7 <= fitted_law.exponent.interval[1]
            new = 2 * 1000**0.7 * math.exp(dice.gauss(0, NOISE))
            foreseen += there[0] <= new <= there[1]
        # 600 trials of 95 %: three standard deviations are 2.7 %.
        assert held / TRIALS == pytest.approx(0.95, abs=0.027)
        assert foreseen / TRIALS == pytest.approx(0.95, abs=0.027)

    def test_a_fixed_part_is_told_from_a_power(self) -> None:
        points = [Point(n, size, 3 + 0.5 * size) for n in (1, 2) for size in SIZES]
        fitted_law = law(*points)
        assert fitted_law.is_bent
        assert fitted_law.locals[0].value < 0.5 < fitted_law.locals[-1].value
        assert fitted_law.with_fixed_part(1000.0) == pytest.approx(503.0)
        assert fitted_law.by_last_two(1000.0) < fitted_law.with_fixed_part(1000.0) * 1.5
        # Neither part is below 0: what grows faster than the data has no fixed part.
        assert law(exponent=1.5, rounds=1).with_fixed_part(0.0) == 0.0
        assert law(exponent=-0.5, rounds=1).with_fixed_part(1e9) > 0.0

    def test_rounds_that_lack_a_size_do_not_count(self) -> None:
        whole = [Point(n, size, size) for n in (1, 2) for size in SIZES]
        fitted_law = law(*whole, Point(3, 1.0, 50.0))
        assert (fitted_law.rounds, fitted_law.exponent.value) == (2, pytest.approx(1.0))

    @pytest.mark.parametrize(
        "points",
        [
            [],
            [Point(1, 1.0, 2.0), Point(2, 1.0, 3.0)],
            [Point(1, 1.0, 0.0), Point(1, 10.0, 3.0)],
            [Point(1, 0.0, 1.0), Point(1, 10.0, 3.0)],
            [Point(1, -1.0, 1.0), Point(1, 10.0, 3.0)],
        ],
        ids=["nothing", "one size", "no cost", "size 0", "size below 0"],
    )
    def test_there_is_none_of_fewer_than_two_sizes_or_of_no_cost(self, points: list[Point]) -> None:
        assert power_law(points) is None


def test_ten_times_the_triples_are_seven_times_the_lookups_by_four_times_the_cpu() -> None:
    """The article's own totals: work a second of CPU time at 1000 Mt over that at 100 Mt."""
    folder = Path(assay.__file__).parent / "studies" / "bsbm-scale"
    published = read_published(folder / "published.toml")
    tables = {
        (made_figure.name, t.name): t
        for made_figure in published.figures
        for t in made_figure.tables
    }

    def cell(figure: str, table: str, row: str, column: str) -> float:
        table_facts = tables[figure, table]
        value = next(r[table_facts.place(column)] for r in table_facts.rows if row in r)
        assert isinstance(value, int | float)
        return float(value)

    sizes = {100e6: "100 Mt", 1000e6: "1000 Mt"}
    top = "cmpf_iri64n_iri64n_anyn_gt_lt"
    # All samples of a profile are those of a function by the share that is printed beside it.
    samples = {
        size: cell("profile", name, top, "samples") / cell("profile", name, top, "share")
        for size, name in sizes.items()
    }
    lookups = {
        size: cell("activity", "meters", "random look-ups", name) for size, name in sizes.items()
    }
    cpu = law(*(Point(1, size, value) for size, value in samples.items()))
    work = law(*(Point(1, size, value) for size, value in lookups.items()))
    each = law(*(Point(1, size, lookups[size] / samples[size]) for size in sizes))
    assert times_text(work.ratio.times) == "7.1 times"
    assert times_text(cpu.ratio.times) == "4.0 times"
    # Its author says about two times, from a throughput of a third and seven times the work.
    assert each.ratio.times == pytest.approx(work.ratio.times / cpu.ratio.times)
    assert times_text(each.ratio.times) == "1.8 times"
    assert work.exponent.value == pytest.approx(0.854, abs=0.001)
    assert cpu.exponent.value == pytest.approx(0.601, abs=0.001)


def at_scale(path: Path, scale: float, number: int, jitter: float = 0.02, **more: Any) -> Run:
    """A run at a scale: its look-ups and its scan grow as 7.1 times for ten times the data."""
    grown = TIMES ** math.log10(scale)
    doing = {STATEMENT: Doing(PLANNING_MS, SCAN_MS * grown)}
    side = Side(doing, count=200, jitter=jitter, seed=round(1000 * scale) + number, between_ms=0.0)
    run = replace(side, **more).write(path / f"{scale}-{number}")
    facts = json.loads((run.dir / "run.json").read_text("utf-8"))
    facts["request"]["scale"] = scale
    facts["workload"]["scale_name"] = "SF"
    facts["engine"]["counters"] = COUNTERS
    facts["engine"]["advice"] = {"settings": {"cache": {"name": "pool"}}}
    write_json(run.dir / "run.json", facts)
    environment = json.loads((run.dir / "environment.json").read_text("utf-8"))
    environment["data"] = {
        "load": {"rows": round(1000 * scale)},
        "tables": {"triples": {"rows": round(5000 * scale)}},
        "files": {"a": {"bytes": round(scale * (1 << 20))}},
    }
    environment.setdefault("engine", {})["settings"] = {"pool": "8MB"}
    write_json(run.dir / "environment.json", environment)
    ended_ns = max(finished_ns for finished_ns in run.table("events")["finished_ns"])
    with Stream(run.dir / "raw", "engine", ENGINE) as stream:
        stream.push(BEGUN_NS - S, "status", "", "rnd", 0.0)
        stream.push(ended_ns + S, "status", "", "rnd", 200 * LOOKUPS * grown)
    write_seal(run.dir)
    return Run(run.dir)


def figure(
    path: Path, levels: tuple[float, ...] = (1.0, 10.0), rounds: int = 3, **options: Any
) -> Figure:
    runs = tuple(
        StudyRun("scales", {"scale": f"{scale:g}"}, number, at_scale(path, scale, number))
        for number in range(1, rounds + 1)
        for scale in levels
    )
    return make(Asked("scales", "scales", "scales", runs, options))


def rows(made_figure: Figure, table: str) -> list[dict[str, Any]]:
    candidate = next(
        result_table for result_table in made_figure.tables if result_table.name == table
    )
    heads = [column.name for column in candidate.columns]
    return [dict(zip(heads, row, strict=True)) for row in candidate.rows]


def drawn_rows(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of the one data set of a chart."""
    (values,) = spec["datasets"].values()
    return list(values)


class TestFigure:
    def test_costs_shares_and_the_finding_are_found_in_records(self, tmp_path: Path) -> None:
        made_figure = figure(tmp_path)
        assert made_figure.says[0].startswith("Ten times the data (SF 1 to SF 10): 5.4 times")
        assert "7.1 times [7.1, 7.1] the look-ups" in made_figure.says[0]
        assert "the look-ups, for an operation; " in made_figure.says[0]
        assert made_figure.says[0].endswith(" the peak memory.")
        laws = {row["of"]: row for row in rows(made_figure, "laws")}
        assert laws["look-ups"]["exponent"] == pytest.approx(math.log10(TIMES), abs=1e-6)
        scanning = laws["CPU: scan"]
        assert scanning["exponent"] == pytest.approx(math.log10(TIMES), rel=0.05)
        planning = laws["CPU: before execution"]
        assert planning["exponent"] == pytest.approx(0.0, abs=0.1)
        said = " ".join(made_figure.says)
        assert "SF 1 and SF 10 measure different things: " in said
        assert "scan from 71 % to 95 %" in said
        shares = {row["of"]: row for row in rows(made_figure, "shares of CPU time")}
        assert shares["scan"]["shifts"] == "yes"
        assert shares["scan"]["SF 1"] == pytest.approx(1 / 1.4, abs=0.02)
        assert shares["scan"]["at least"] <= shares["scan"]["change"] <= shares["scan"]["at most"]
        by_key = {measure.key: measure for measure in made_figure.measures}
        assert by_key["counter lookups times"].values["PostgreSQL"].middle == pytest.approx(TIMES)
        assert by_key["largest scan"].values["PostgreSQL"].middle == pytest.approx(0.95, abs=0.01)

    def test_the_optimiser_of_many_executions_is_a_share_that_falls(self, tmp_path: Path) -> None:
        made_figure = figure(tmp_path, of="shares")
        shares = {row["of"]: row for row in rows(made_figure, "shares of CPU time")}
        falling = [row for name, row in shares.items() if name in ("optimiser/parse", "memory")]
        assert sum(row["SF 1"] for row in falling) == pytest.approx(0.4 / 1.4, abs=0.02)
        assert sum(row["SF 10"] for row in falling) == pytest.approx(0.4 / 7.5, abs=0.02)
        # Costs were not asked for.
        assert not any("times the" in sentence for sentence in made_figure.says)
        assert "laws" not in {table.name for table in made_figure.tables}

    def test_work_a_second_of_cpu_time_is_told(self, tmp_path: Path) -> None:
        made_figure = figure(tmp_path)
        (row,) = rows(made_figure, "work of a CPU second")
        assert row["work"] == "look-ups"
        expected = TIMES / (laws_ratio(made_figure, "CPU time"))
        assert row["ratio"] == pytest.approx(expected, rel=1e-6)
        assert any(
            "as many a second of CPU time as SF 1" in sentence for sentence in made_figure.says
        )

    def test_a_scale_that_was_not_run_has_interval_and_warnings(self, tmp_path: Path) -> None:
        made_figure = figure(tmp_path, (1.0, 3.0, 5.0), extrapolate=[100.0, 4.0])
        beyond = {row["of"]: row for row in rows(made_figure, "beyond")}
        assert beyond["time"]["scale"] == "SF 100"
        assert beyond["time"]["times the largest run"] == pytest.approx(20.0)
        assert {row["scale"] for row in rows(made_figure, "beyond")} == {"SF 100"}
        said = " ".join(made_figure.says)
        assert "SF 100 was not run; by these laws an operation would have: time " in said
        assert "SF 100 is 20 times as large as the largest scale that was run; so far" in said
        assert "Its data would take 100 MiB and do not fit into the engine's cache (8 MiB)" in said
        assert ", where those that were run fit" in said
        assert "As a fixed part and one in proportion to the data the time would be " in said
        assert "where the power law is off by" in said
        assert any(
            "scale 4 is no extrapolation, as 5 was run" in sentence
            for sentence in made_figure.missing
        )

    def test_one_round_has_no_interval_and_says_so(self, tmp_path: Path) -> None:
        made_figure = figure(tmp_path, rounds=1)
        assert made_figure.says[0].endswith("From one round, so its certainty is unknown.")
        assert any("a single round has no interval" in sentence for sentence in made_figure.missing)
        assert not any("different things" in sentence for sentence in made_figure.says)
        assert any("with one round this may be noise" in sentence for sentence in made_figure.says)
        assert {row["differs"] for row in rows(made_figure, "ratios")} == {"-"}

    def test_one_scale_is_no_comparison(self, tmp_path: Path) -> None:
        made_figure = figure(tmp_path, (1.0,), rounds=2)
        assert made_figure.missing == (
            "PostgreSQL: only SF 1 was run: a comparison of scales takes two at least",
        )
        assert (made_figure.tables, made_figure.charts, made_figure.says) == ((), (), ())

    @pytest.mark.parametrize(
        ("ends", "message"),
        [
            (
                (-0.01, 0.02),
                "SF 1 and SF 10 measure the same: no share of the time shifts by more than 2.0 %.",
            ),
            (
                (-0.10, 0.14),
                (
                    "Nothing says that SF 1 and SF 10 measure different things: no share of the"
                    " time shifts beyond what rounds differ by, and shifts of up to 14 % would not"
                    " be seen."
                ),
            ),
        ],
        ids=["known", "noise"],
    )
    def test_shares_are_the_same_only_where_noise_hides_no_shift(
        self, ends: tuple[float, float], message: str, tmp_path: Path
    ) -> None:
        shift = Shift("q", (0.5, 0.52), Mean(0.01, ends))
        shares = Shares("time", (1.0, 10.0), 2, (shift,), 0.01)
        comparison = compared([(n, at_scale(tmp_path, s, n)) for n in (1, 2) for s in (1.0, 10.0)])
        assert comparison is not None
        said = says_of(replace(comparison, shares=(shares,)), (), "", costs=False, shares=True)
        assert list(said) == [message]

    @pytest.mark.parametrize(
        ("means", "ends", "shifts"),
        [
            ((0.1, 0.3), (0.1, 0.3), True),
            ((0.3, 0.1), (-0.3, -0.1), True),
            ((0.1, 0.3), (-0.1, 0.5), False),
            ((0.42, 0.39), (-0.04, -0.02), False),
            ((0.02, 0.06), (0.03, 0.05), True),
            ((0.0, 0.04), (0.03, 0.05), True),
            ((0.01, 0.03), (0.01, 0.03), False),
            ((0.1, 0.3), None, None),
        ],
    )
    def test_a_shift_is_large_and_more_than_noise(
        self,
        means: tuple[float, float],
        ends: tuple[float, float] | None,
        shifts: bool | None,
    ) -> None:
        assert Shift("q", means, Mean(means[1] - means[0], ends)).shifts is shifts

    def test_of_samples_that_nobody_explains_plans_tell_the_work(self, tmp_path: Path) -> None:
        runs = []
        for number in (1, 2):
            for scale, way in ((1.0, "hash join"), (10.0, "nested loop")):
                scanning = made("scan", object="stock", seconds=0.3)
                plan = made_plan(
                    made(way, scanning, seconds=0.1 * scale),
                    operation=OPERATION,
                    native=f"{OPERATION}-0.json",
                    name=STATEMENT,
                )
                run = at_scale(tmp_path, scale, number, plans=[plan])
                run.facts["engine"]["operations"] = {}
                runs.append(StudyRun("s", {"scale": f"{scale:g}"}, number, run))
        made_figure = make(Asked("s", "scales", "s", tuple(runs), {}))
        assert made_figure.says, made_figure.missing
        shares = {row["of"]: row for row in rows(made_figure, "shares of time of plans' operators")}
        assert shares["scan"]["SF 1"] == pytest.approx(0.75)
        assert shares["join"]["SF 10"] == pytest.approx(1.0 / 1.3)
        assert "shares of CPU time" not in {table.name for table in made_figure.tables}
        said = " ".join(made_figure.says)
        assert "By another plan at SF 10 than at SF 1: update.find; of update.find " in said
        assert "nested loop, not hash join" in said

    def test_samples_that_nobody_explains_are_said_to_be_unexplained(self, tmp_path: Path) -> None:
        runs = []
        for number in (1, 2):
            for scale in (1.0, 10.0):
                run = at_scale(tmp_path, scale, number)
                run.facts["engine"]["operations"] = {}
                runs.append(StudyRun("s", {"scale": f"{scale:g}"}, number, run))
        made_figure = make(Asked("s", "scales", "s", tuple(runs), {"of": "shares"}))
        assert not any("unclassified" in sentence for sentence in made_figure.says)
        assert any("no rule knows its functions" in sentence for sentence in made_figure.missing)

    def test_charts_have_both_axes_logarithmic(self, tmp_path: Path) -> None:
        made_figure = figure(tmp_path, (1.0, 3.0, 10.0), rounds=2)
        kinds = {chart.name: chart.kind for chart in made_figure.charts}
        assert kinds["time"] == "fitted"
        assert kinds["ratios"] == "forest"
        assert kinds["shares of CPU time"] == "stacked"
        drawn = charts_of(asdict(made_figure) | {"article": None})
        along = drawn["scales-time"].to_dict()["layer"][1]["encoding"]
        assert [along[axis]["scale"]["type"] for axis in ("x", "y")] == ["log", "log"]
        values = drawn_rows(drawn["scales-shares of CPU time"].to_dict())
        assert {row["subject"] for row in values} == {"SF 1", "SF 3", "SF 10"}
        for bar in ("SF 1", "SF 3", "SF 10"):
            ends = [row["end"] for row in values if row["subject"] == bar]
            assert max(ends) == pytest.approx(1.0)

    def test_a_share_that_is_small_everywhere_is_drawn_with_the_others(self) -> None:
        columns = (Column("of"), Column("a", "share"), Column("b", "share"))
        rows_ = tuple((f"q{number:02}", 0.05, 0.05) for number in range(20))
        chart = Chart("shares", "share", "stacked", ("a", "b"), table="shares")
        made_figure = Figure(
            "f", "scales", "f", tables=(Table("shares", "shares", columns, rows_),), charts=(chart,)
        )
        spec = charts_of(asdict(made_figure) | {"article": None})["f-shares"].to_dict()
        values = drawn_rows(spec)
        names = {row["measure"] for row in values}
        assert (len(names), "others" in names) == (SUBJECTS_MAX, True)
        assert max(row["end"] for row in values) == pytest.approx(1.0)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"of": "times"}, "option 'of' must be costs or shares,"),
            ({"extrapolate": 0}, "a scale above 0, not 0"),
            ({"extrapolate": [10, "x"]}, "a scale above 0, not 'x'"),
            ({"extrapolate": True}, "a scale above 0, not True"),
        ],
    )
    def test_wrong_options_are_refused(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(UsageError, match=message):
            scales.figure(Asked("scales", "scales", "scales", (), options))


class TestSize:
    def test_it_is_in_the_measure_that_results_are_named_with(self, tmp_path: Path) -> None:
        run = at_scale(tmp_path, 10.0, 1)
        assert (size_of(run).amount, size_of(run).text) == (10.0, "SF 10")
        run.facts["workload"]["sequence"] = {"size": "triples"}
        assert (size_of(run).amount, size_of(run).text) == (50_000.0, "50 k triples")
        run.facts["workload"]["sequence"] = {"size": ""}
        assert size_of(run).text == "SF 10"
        run.facts["workload"]["scale_name"] = "warehouses"
        assert size_of(run).text == "10 warehouses"
        del run.facts["workload"]["scale_name"]
        assert size_of(run).text == "scale 10"

    def test_memory_is_the_hosts_or_the_limit_and_the_engines_cache(self, tmp_path: Path) -> None:
        run = at_scale(tmp_path, 1.0, 1)
        assert cache_bytes(run) == 8 << 20
        assert host_memory_bytes(run) == 8 << 30
        run.facts["request"]["limits"] = {"memory": float(1 << 30)}
        assert host_memory_bytes(run) == 1 << 30
        run.environment["host"]["memory_bytes"] = None
        run.facts["request"]["limits"] = {}
        assert host_memory_bytes(run) is None
        run.environment["engine"]["settings"] = {}
        assert cache_bytes(run) is None

    def test_sizes_of_scales_that_were_not_run_are_in_that_measure(self, tmp_path: Path) -> None:
        runs = [
            StudyRun("s", {"scale": f"{scale:g}"}, number, at_scale(tmp_path, scale, number))
            for number in (1, 2)
            for scale in (1.0, 2.0)
        ]
        for run in runs:
            run.run.facts["workload"]["sequence"] = {"size": "triples"}
        made_figure = make(Asked("s", "scales", "s", tuple(runs), {"extrapolate": 20}))
        assert any(
            sentence.startswith("100 k triples (SF 20) was not run")
            for sentence in made_figure.says
        )
        assert "2.0 times the data (5 k triples to 10 k triples)" in made_figure.says[0]


class TestCosts:
    def test_they_are_of_an_operation_of_a_load(self, tmp_path: Path) -> None:
        costs = costs_of(at_scale(tmp_path, 1.0, 1, jitter=0.0))
        assert whole_name(at_scale(tmp_path, 1.0, 2)) == "an operation"
        assert costs["counter lookups"].value == pytest.approx(LOOKUPS)
        assert costs[f"time {OPERATION}"].value == pytest.approx(0.0014, rel=0.01)
        assert costs["cpu scan"].value == pytest.approx(0.001, rel=0.05)
        assert costs["rows"].value == 1000
        assert costs["data bytes"].value == 1 << 20
        assert costs["per second"].value == pytest.approx(1 / 0.0014, rel=0.05)

    def test_a_run_in_which_nothing_succeeded_has_none(self, tmp_path: Path) -> None:
        run = at_scale(tmp_path, 1.0, 1)
        events = run.table("events").with_columns(pl.lit("failed").alias("outcome")).to_dicts()
        (run.dir / "raw" / "events.arrows").unlink()
        write_stream(run.dir / "raw" / "events.arrows", events)
        write_seal(run.dir)
        assert costs_of(Run(run.dir)) == {}


@pytest.mark.parametrize(
    ("exponents", "message"),
    [
        ((0.5, 0.5, 0.5), "less than in proportion"),
        ((1.5, 1.5, 1.5), "more than in proportion"),
        ((0.9, 1.0, 1.1), "in proportion"),
        ((-0.1, 0.0, 0.1), "no growth beyond noise"),
        ((0.0, 0.5, 1.0), "between no growth and growth in proportion"),
        ((0.97,), "in proportion"),
        ((0.8,), "less than in proportion"),
    ],
)
def test_an_exponent_is_told_with_what_it_means(exponents: tuple[float, ...], message: str) -> None:
    points = [Point(n, size, size**b) for n, b in enumerate(exponents) for size in SIZES]
    assert exponent_text(law(*points)).endswith(f": {message}")


@pytest.mark.parametrize(
    ("times", "message"),
    [(7.145, "7.1 times"), (25.4, "25 times"), (1234.0, "1,234 times"), (0.512, "0.51 times")],
)
def test_times_are_told_as_far_as_they_are_known(times: float, message: str) -> None:
    assert times_text(times) == message


def laws_ratio(made_figure: Figure, quantity: str) -> float:
    return float(
        next(row["ratio"] for row in rows(made_figure, "ratios") if row["quantity"] == quantity)
    )
