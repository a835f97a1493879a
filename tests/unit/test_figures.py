"""Each kind of figure on small records whose times are known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.analysis.figures.contract import Asked, Figure
from assay.analysis.figures.discovery import check_asked, kinds, make
from assay.analysis.quantities import listed, spread, text
from assay.model.errors import UsageError
from assay.record.seal import write_seal
from tests.plans import tpch_plans, with_plans
from tests.records import OPERATIONS, write_run
from tests.sampled import as_sampled
from tests.specified import PlayedTest, even_times, write_test
from tests.studies import WRONG, MadeStudy, full_test, three_states, two_engines, two_rounds
from tests.style.sources import ROOT


def made_of(made: MadeStudy, kind: str, **options: Any) -> Figure:
    return make(Asked(kind, kind, kind, tuple(made.studied), options))


def value(figure: Figure, key: str, subject: str) -> float:
    measure = figure.measure(key)
    assert measure is not None
    return measure.values[subject].middle


def rows(figure: Figure, table: str) -> list[dict[str, Any]]:
    candidate = next(result_table for result_table in figure.tables if result_table.name == table)
    heads = [column.name for column in candidate.columns]
    return [dict(zip(heads, row, strict=True)) for row in candidate.rows]


class TestComposite:
    def test_has_both_runs_and_how_far_they_are_apart(self, tmp_path: Path) -> None:
        figure = made_of(two_engines(tmp_path), "composite")
        assert figure.subjects == ("DuckDB", "PostgreSQL")
        # Twice the time is half of each metric; the second power test takes nine tenths.
        assert value(figure, "power_1", "DuckDB") == pytest.approx(
            2 * value(figure, "power_1", "PostgreSQL"), rel=0.02
        )
        assert value(figure, "power_gain", "DuckDB") == pytest.approx(1 / 0.9 - 1, rel=0.02)
        assert value(figure, "throughput_gain", "DuckDB") == pytest.approx(0, abs=0.01)
        reported = [row for row in rows(figure, "runs") if row["reported"]]
        assert [(row["subject"], row["run"]) for row in reported] == [
            ("DuckDB", 1),
            ("PostgreSQL", 1),
        ]

    def test_a_run_without_a_test_is_missing_and_why(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        made.add("plain", {"engine": "duckdb"}, write_run(tmp_path / "made"))
        figure = made_of(made, "composite")
        assert figure.missing == ("DuckDB was put to no test, so it has no metric",)
        assert figure.says == ()

    def test_a_test_that_failed_has_no_metric_and_why(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        failing = full_test(tmp_path / "made", failing=("power-1", 0, "q03"))
        made.add("full", {"engine": "duckdb"}, failing)
        assert "q03" in made_of(made, "composite").missing[0]


class TestUtilisation:
    def test_is_the_time_of_a_stream_over_that_of_a_power_test(self, tmp_path: Path) -> None:
        figure = made_of(two_engines(tmp_path), "utilisation")
        streams = value(figure, "streams", "DuckDB")
        share = value(figure, "elapsed_seconds", "DuckDB") / streams
        assert value(figure, "share", "DuckDB") == pytest.approx(
            share / value(figure, "power_seconds", "DuckDB")
        )
        assert len(rows(figure, "runs")) == 4

    def test_runs_that_did_not_begin_alike_are_said(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        made.add("full", {"engine": "duckdb"}, full_test(tmp_path / "made", factors=(3.0, 0.9)))
        figure = made_of(made, "utilisation")
        share = value(figure, "elapsed_seconds", "DuckDB") / value(figure, "streams", "DuckDB")
        assert value(figure, "share", "DuckDB") == pytest.approx(
            share / value(figure, "power_seconds", "DuckDB")
        )
        assert "did not begin alike" in figure.says[0]


class TestFirstRun:
    def test_second_power_test_beside_the_first(self, tmp_path: Path) -> None:
        figure = made_of(two_engines(tmp_path), "first_run")
        assert value(figure, "power_gain", "DuckDB") == pytest.approx(1 / 0.9 - 1, rel=0.02)
        first = rows(figure, "operations")[0]
        assert first["first / second"] == pytest.approx(1 / 0.9, rel=0.02)
        assert "24 operations took over 10 % longer at first" in figure.says[1]

    def test_what_loading_left_stands_beside_it(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        played = full_test(tmp_path / "made", 1.0)
        held = [
            {"name": "part", "cached_bytes": 300, "bytes": 400},
            {"name": "", "cached_bytes": 100, "bytes": None},
        ]
        facts = json.loads((played / "run.json").read_text())
        facts["state"] = {
            "asked": "loaded",
            "passes": 0,
            "how": [],
            "host_changes": [],
            "data_bytes": 1000,
            "resident_bytes_before_start": None,
            "engine_cache": held,
        }
        (played / "run.json").write_text(json.dumps(facts))
        write_seal(played)
        made.add("full", {"engine": "duckdb"}, played)
        figure = made_of(made, "first_run")
        assert [tuple(row.values())[1:] for row in rows(figure, "cached")] == [
            ("part", 300, 0.75),
            ("all together", 100, None),
        ]
        assert [
            table.name for table in made_of(two_engines(tmp_path / "other"), "first_run").tables
        ] == ["operations"]


class TestStates:
    def test_tells_what_was_in_memory_and_what_it_costs(self, tmp_path: Path) -> None:
        figure = made_of(three_states(MadeStudy(tmp_path)), "states")
        assert [m.key for m in figure.measures if m.unit == "s"] == ["cold", "os-warm", "hot"]
        hot = value(figure, "hot", "DuckDB")
        assert value(figure, "cold", "DuckDB") == pytest.approx(2 * hot, rel=0.01)
        assert "cold (2 x)" in figure.says[0]
        assert [row["data in memory before"] for row in rows(figure, "runs")] == [
            "0 %",
            "100 %",
            "100 %",
        ]
        assert figure.notes == ("DuckDB, cold: programs stayed in memory.",)

    def test_what_memory_does_not_explain_is_said(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        for state, slower in (("cold", 1.0), ("hot", 1.5)):
            times = {query: seconds * slower for query, seconds in even_times().items()}
            played_test = PlayedTest(kind="power", seconds=times)
            made.add("states", {"state": state}, write_test(tmp_path / "made", played_test))
        assert "DuckDB took longer hot than cold" in made_of(made, "states").notes[-1]

    def test_one_state_alone_is_nothing_to_compare(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        test = write_test(tmp_path / "made", PlayedTest(kind="power"))
        made.add("states", {"state": "hot"}, test)
        assert made_of(made, "states").missing == (
            "all runs began hot: another state is nothing to compare with",
        )


class TestSweep:
    def test_medians_of_rounds_along_a_factor(self, tmp_path: Path) -> None:
        figure = made_of(two_rounds(MadeStudy(tmp_path)), "sweep")
        assert [measure.at for measure in figure.measures] == [1.0, 2.0]
        single, two = (measure.values["DuckDB"] for measure in figure.measures)
        assert single.count == two.count == 2
        assert single.middle == pytest.approx(2 * two.middle)
        assert figure.charts[0].kind == "lines"
        assert figure.says[0].startswith("DuckDB: threads 2 is best, 1 worst")
        assert "noise" not in figure.says[0]

    def test_an_operation_is_a_metric_too(self, tmp_path: Path) -> None:
        figure = made_of(two_rounds(MadeStudy(tmp_path)), "sweep", metric="q01")
        assert value(figure, "2", "DuckDB") == pytest.approx(OPERATIONS["q01"] / 2, rel=0.05)

    def test_levels_that_overlap_are_not_told_apart(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        for number in (1, 2):
            for name in ("on", "off"):
                made.add("jit", {"set.jit": name}, write_run(tmp_path / "made"), number)
        figure = made_of(made, "sweep")
        assert "does not depend on jit" in figure.says[0]
        assert figure.charts[0].kind == "dots"

    def test_equal_levels_have_no_best(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        for name in ("on", "off"):
            made.add("jit", {"set.jit": name}, write_run(tmp_path / "made"))
        assert "at all levels of jit" in made_of(made, "sweep").says[0]

    def test_one_level_alone_is_nothing_to_compare(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        made.add("jit", {"set.jit": "on"}, write_run(tmp_path / "made"))
        assert made_of(made, "sweep").missing == (
            "of jit only on was run: nothing to compare with",
        )

    def test_an_unknown_factor_or_metric_is_said(self, tmp_path: Path) -> None:
        made = two_rounds(MadeStudy(tmp_path))
        assert "set.threads" in made_of(made, "sweep", factor="set.thread").missing[0]
        assert "q01" in made_of(made, "sweep", metric="q1").missing[0]


class TestMemory:
    def test_is_extrapolated_by_scale_and_streams(self, tmp_path: Path) -> None:
        figure = made_of(two_engines(tmp_path), "memory", scale=100, streams=5)
        peak = value(figure, "streams", "DuckDB")
        assert value(figure, "extrapolated", "DuckDB") == pytest.approx(peak * 100 * 5 / 2)
        assert any("Nothing at other scales was measured" in note for note in figure.notes)

    def test_sentence_table_and_comparison_are_of_one_peak(self, tmp_path: Path) -> None:
        figure = made_of(two_engines(tmp_path), "memory")
        together = value(figure, "streams", "DuckDB")
        first = next(row for row in rows(figure, "scales") if row["subject"] == "DuckDB")
        assert first["memory"] == together
        assert f"2 streams together {text(together, 'bytes')}" in figure.says[1]

    def test_a_scale_that_is_none_is_refused(self, tmp_path: Path) -> None:
        assert "option scale" in made_of(two_engines(tmp_path), "memory", scale="x").missing[0]


class TestGains:
    def test_a_change_that_is_asked_for(self, tmp_path: Path) -> None:
        change = {"name": "reuse", "scale": {"q15": 0.5, "q17": 0.5}}
        figure = made_of(two_engines(tmp_path), "gains", changes=[change])
        # Two of 24 intervals halved: the power metric gains 2^(2/24), the composite its root.
        assert value(figure, "reuse", "DuckDB") > 2 ** (1 / 24) - 1.01
        assert figure.notes[0] == "Predicted by a model, not measured."

    def test_only_kinds_of_work_without_the_waiting(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        made.add("profile", {"engine": "duckdb"}, as_sampled(write_run(tmp_path / "made")))
        every = {measure.key for measure in made_of(made, "gains").measures}
        work = {measure.key for measure in made_of(made, "gains", of="work").measures}
        wait = {measure.key for measure in made_of(made, "gains", of="wait").measures}
        assert "no hash probe" in work
        assert not work & wait
        assert work | wait == every
        assert "option 'of'" in made_of(made, "gains", of="rest").missing[0]

    def test_an_unknown_operation_or_key_is_said(self, tmp_path: Path) -> None:
        made = two_engines(tmp_path)
        unknown = made_of(made, "gains", changes=[{"name": "x", "scale": {"q99": 0.5}}])
        assert "q99" in unknown.missing[0]
        wrong = made_of(made, "gains", changes=[{"name": "x", "halve": "q01"}])
        assert "no key 'halve'" in wrong.missing[0]
        assert (
            "change 'x' does not say what to change: add one of"
            in made_of(made, "gains", changes=[{"name": "x"}]).missing[0]
        )


class TestProfile:
    def test_kinds_of_work_functions_and_queries_of_samples(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        made.add("profile", {"engine": "duckdb"}, as_sampled(write_run(tmp_path / "made")))
        figure = made_of(made, "profile")
        shares = [measure.values["DuckDB"].middle for measure in figure.measures]
        assert sum(shares) == pytest.approx(1)
        probe = next(row for row in rows(figure, "work") if row["work"] == "hash probe")
        assert probe["DuckDB"] == pytest.approx(value(figure, "hash probe", "DuckDB"))
        assert "q03" in probe["most of it in"]
        functions = rows(figure, "functions DuckDB")
        assert functions[0]["samples"] >= functions[-1]["samples"]
        assert "CPU samples" in figure.notes[0]

    def test_plans_where_there_are_no_samples_and_it_is_said(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        planned = with_plans(write_run(tmp_path / "made"), tpch_plans())
        made.add("profile", {"engine": "duckdb"}, planned)
        figure = made_of(made, "profile")
        assert "by its own plans" in figure.notes[0]
        assert "it has no CPU samples" in figure.notes[0]
        assert value(figure, "scan", "DuckDB") > 0
        assert [table.name for table in figure.tables] == ["work"]

    def test_neither_is_missing_and_why(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        made.add("profile", {"engine": "duckdb"}, write_run(tmp_path / "made"))
        assert "profile = true" in made_of(made, "profile").missing[0]


class TestOperations:
    def test_seconds_of_each_and_who_is_faster(self, tmp_path: Path) -> None:
        figure = made_of(two_engines(tmp_path), "operations")
        q05 = next(row for row in rows(figure, "operations") if str(row["operation"])[:3] == "q05")
        assert q05["DuckDB / PostgreSQL"] == pytest.approx(0.5)
        assert figure.says[1] == (
            "PostgreSQL takes 2 times as long as DuckDB and is faster in none."
        )


class TestAnswers:
    def test_wrong_ones_are_named_in_every_figure(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        made.add("full", {"engine": "duckdb"}, full_test(tmp_path / "made"))
        made.add("full", {"engine": "postgresql"}, full_test(tmp_path / "made"), check=WRONG)
        figure = made_of(made, "answers")
        assert figure.says[:2] == (
            "The answers of 1 of 2 runs are right.",
            "Wrong answers came from PostgreSQL.",
        )
        assert value(figure, "right", "PostgreSQL") == 0
        assert any("prove nothing" in note for note in made_of(made, "composite").notes)

    def test_a_run_of_two_parts_is_one_run(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        made.add("full", {"engine": "duckdb"}, full_test(tmp_path / "made"))
        run = made.studied[0]
        both = (run, replace(run, part="again"))
        figure = make(Asked("answers", "answers", "", both))
        assert figure.says == ("The answers of the one run are right.",)


class TestKinds:
    def test_all_of_them_are_found(self) -> None:
        assert set(kinds()) == {
            "activity",
            "answers",
            "barriers",
            "clients",
            "cluster",
            "compare",
            "composite",
            "durability",
            "elasticity",
            "first_run",
            "gains",
            "indexes",
            "memory",
            "multiples",
            "nodes",
            "operations",
            "plans",
            "profile",
            "read_sizes",
            "removed",
            "roofline",
            "scales",
            "sequences",
            "series",
            "sizing",
            "statements",
            "states",
            "sweep",
            "techniques",
            "trade",
            "transactions",
            "tuning",
            "utilisation",
            "verdict",
        }
        assert all(kind.about.endswith(".") for kind in kinds().values())

    @pytest.mark.parametrize("kind", sorted(kinds()))
    def test_none_of_them_breaks_down_without_runs_or_with_any(
        self, kind: str, tmp_path: Path
    ) -> None:
        assert make(Asked("x", kind, "x", ())).missing == ("none of its runs was made",)
        made = MadeStudy(tmp_path)
        made.add("plain", {}, write_run(tmp_path / "made", probes=False, failing="q02"))
        assert not any("broke down" in sentence for sentence in made_of(made, kind).missing)

    def test_what_nobody_knows_is_refused_with_what_there_is(self) -> None:
        with pytest.raises(UsageError, match="sweep"):
            check_asked("sweeps", {}, "figure x")
        with pytest.raises(UsageError, match="metric"):
            check_asked("sweep", {"metrics": "power"}, "figure x")
        with pytest.raises(UsageError, match="it has none"):
            check_asked("answers", {"all": True}, "figure x")


class TestQuantities:
    @pytest.mark.parametrize(
        ("number", "unit", "message"),
        [
            (None, "s", "-"),
            (0.123, "s", "123 ms"),
            (-0.5, "share", "-50 %"),
            (2.857, "times", "2.86 x"),
            (1406009, "count", "1,406,009"),
            (51363.4, "/h", "51,363"),
            (9060.72, "/h", "9,060.7"),
            (3.5 * (1 << 30), "bytes", "3.5 GiB"),
            (5000.25, "an hour", "5,000 an hour"),
            (9999.7, "count", "10,000"),
        ],
    )
    def test_texts(self, number: float | None, unit: str, message: str) -> None:
        assert text(number, unit) == message

    def test_spread_of_nothing_is_none(self) -> None:
        assert spread([None]) is None
        assert spread([]) is None

    def test_lists(self) -> None:
        assert listed([]) == ""
        assert listed(["a"]) == "a"
        assert listed(["a", "b", "c"]) == "a, b and c"
        assert listed(list("abcdef")) == "a, b, c and 3 others"


def test_each_kind_and_its_options_are_documented() -> None:
    page = (ROOT / "docs" / "guides" / "adding-a-study.md").read_text(encoding="utf-8")
    rows = {line.split("`")[1]: line for line in page.splitlines() if line.startswith("| `")}
    for kind in kinds().values():
        assert kind.name in rows
        assert [name for name in kind.options if f"`{name}`" not in rows[kind.name]] == []
