"""Techniques that engines let be switched off: the facts, the option, and what they are worth."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest

from assay.analysis.ablation.techniques import in_all, worths
from assay.analysis.figures.contract import Asked
from assay.analysis.figures.discovery import make
from assay.analysis.stats.rounds import factor_of, noise_of
from assay.engines.contract import EngineError
from assay.engines.discovery import find_engine, find_engines
from assay.engines.techniques import TechniquesFacts, forced, read_techniques
from assay.model.errors import UsageError
from assay.running.asked.options import RunOptions
from assay.running.asked.understanding import request_of
from assay.study.declared.expanding import Wanted, expanded
from assay.study.declared.reading import find_declared, read_declared
from tests.records import write_run
from tests.studies import MadeStudy, shortened

FACTS = {
    "separators": {"switches": ","},
    "techniques": {
        "a": {"says": "as", "off": {"switches": "a=off"}, "plans": True},
        "b": {"says": "bs", "off": {"switches": "b=off", "other": "0"}, "plans": True},
    },
    "without": {"c": "it has none"},
}
STUDY = """\
# What is each worth?
title = "Each"
workload = "tpch"
scale = 0.01

[part.all]
factor.engine = ["duckdb", "postgresql"]
factor.without = "each"
exclude = [{ engine = "duckdb", without = "threads" }]
"""


def asked(**options: object) -> RunOptions:
    return RunOptions.model_validate({"workload": "tpch", **options})


class TestFacts:
    @pytest.mark.parametrize("engine", sorted(find_engines()))
    def test_of_every_engine_are_understood(self, engine: str) -> None:
        facts = find_engine(engine).techniques()
        assert all(technique.off for technique in facts.techniques.values())

    def test_lists_are_joined_and_the_last_value_wins_else(self) -> None:
        facts = TechniquesFacts.model_validate(FACTS)
        assert facts.settings_without(["a", "b", "a"]) == {"switches": "a=off,b=off", "other": "0"}

    def test_a_wrong_name_is_told_with_the_nearest_or_the_reason(self) -> None:
        facts = TechniquesFacts.model_validate(FACTS)
        with pytest.raises(UsageError, match="cannot be switched off: it has none"):
            facts.settings_without(["c"])
        with pytest.raises(UsageError, match="the engine has no technique 'A'; known: a, b"):
            facts.settings_without(["A"])

    def test_a_wrong_key_is_told_with_file_and_mend(self, tmp_path: Path) -> None:
        file = tmp_path / "techniques.toml"
        with pytest.raises(EngineError, match=r"techniques\.toml: techniques\.x\.of: .*'off'"):
            read_techniques({"techniques": {"x": {"says": "x", "of": {"a": "b"}}}}, file)

    def test_a_template_that_asks_for_nothing_known_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "set.sql").write_text("set $nme = $value")
        with pytest.raises(EngineError, match=r"\$nme is not a known placeholder"):
            read_techniques({"forcing": {"set": "set.sql"}}, tmp_path / "techniques.toml")

    def test_an_operation_has_its_settings_and_leaves_none_behind(self) -> None:
        duckdb = find_engine("duckdb")
        text = forced(duckdb.techniques(), duckdb.folder, "SELECT", {"disabled_optimizers": "x"})
        lines = text.split(";\n")
        assert lines[0] == "reset global disabled_optimizers"
        assert lines[-3:] == ["set global disabled_optimizers = 'x'", "SELECT", ""]
        postgresql = find_engine("postgresql")
        text = forced(postgresql.techniques(), postgresql.folder, "SELECT", {"jit": "off"})
        assert text.split(";\n") == ["begin", "set local jit = 'off'", "SELECT", "commit", ""]


class TestOption:
    def test_its_settings_are_those_of_the_run(self) -> None:
        request = request_of(asked(engine="duckdb", without=["join_order", "top_n"]), ["without"])
        assert request.without == ["join_order", "top_n"]
        assert request.settings == {"disabled_optimizers": "join_order,top_n"}

    def test_a_setting_is_not_set_twice(self) -> None:
        run_options = asked(engine="postgresql", without="jit", set={"jit": "on"})
        with pytest.raises(UsageError, match="--without sets jit, and --set sets it too"):
            request_of(run_options, [])

    def test_an_engine_without_techniques_says_so(self) -> None:
        with pytest.raises(UsageError, match="--without: null: the engine declares no technique"):
            request_of(asked(engine="null", without="jit"), [])


class TestEach:
    def test_stands_for_the_techniques_of_each_engine(self, tmp_path: Path) -> None:
        (tmp_path / "study.toml").write_text(STUDY)
        study = expanded(read_declared(tmp_path / "study.toml"), Wanted()).study
        (part,) = study.parts
        of = {engine: [] for engine in ("duckdb", "postgresql")}
        for variant in part.variants:
            of[variant.request.engine].append(variant.request.without)
        for engine, without in of.items():
            techniques = {(), *((name,) for name in find_engine(engine).techniques().techniques)}
            left_out = {("threads",)} if engine == "duckdb" else set()
            assert {tuple(names) for names in without} == techniques - left_out
            assert len(without) == len(techniques) - len(left_out)

    def test_nothing_stands_beside_it(self, tmp_path: Path) -> None:
        (tmp_path / "study.toml").write_text(STUDY.replace('"each"', '["each", "jit"]'))
        with pytest.raises(UsageError, match="stands for all techniques: leave the others out"):
            read_declared(tmp_path / "study.toml")

    def test_the_study_that_comes_with_assay_expands(self) -> None:
        study = expanded(find_declared("tpch-techniques"), Wanted()).study
        assert [part.name for part in study.parts] == [
            "postgresql",
            "duckdb",
            "virtuoso",
            "mariadb",
        ]
        assert all(not part.variants[0].request.without for part in study.parts)


class TestWorth:
    def test_a_known_factor_is_found_and_nothing_is_made_of_noise(self) -> None:
        """A slow-down of two is found; of techniques that do nothing 5 % look distinct."""
        drawn = random.Random(7)

        def noisy(seconds: float) -> dict[str, float]:
            return {"q": seconds * math.exp(drawn.gauss(0, 0.05))}

        distinct = 0
        for _ in range(40):
            all_on = {number: noisy(1.0) for number in range(3)}
            idle = {f"idle{n}": {r: noisy(1.0) for r in range(3)} for n in range(9)}
            technique_worths = worths(all_on, {**idle, "real": {r: noisy(2.0) for r in range(3)}})
            assert technique_worths[0].technique == "real"
            low, high = technique_worths[0].factor.interval or (0.0, 0.0)
            assert low < 2.1 < high or low < 1.9 < high or low < 2.0 < high
            distinct += sum(worth.factor.is_distinct for worth in technique_worths[1:])
        assert distinct <= 0.12 * 40 * 9

    def test_one_round_has_no_interval(self) -> None:
        (worth,) = worths({1: {"q": 1.0}}, {"x": {1: {"q": 3.0}}})
        assert (worth.factor.times, worth.factor.interval) == (pytest.approx(3.0), None)

    def test_rounds_that_lack_a_side_are_left_out(self) -> None:
        (worth,) = worths({1: {"q": 1.0}, 2: {"q": 1.0}}, {"x": {2: {"q": 2.0}, 3: {"q": 9.0}}})
        assert worth.factor.rounds == 1
        assert in_all([worth]) == {"x": pytest.approx(2.0)}

    @pytest.mark.parametrize(("ratios", "times"), [([2.0, 2.0], 2.0), ([4.0, 1.0], 2.0)])
    def test_means_are_of_logarithms(self, ratios: list[float], times: float) -> None:
        factor = factor_of(ratios)
        assert factor is not None
        assert factor.times == pytest.approx(times)
        assert factor_of([]) is None
        assert noise_of([[1.0], [2.0]]) is None


def without(made: MadeStudy, technique: str | None, number: int, factor: float) -> None:
    """One run of three queries, as many times as long as with all techniques."""
    directory = write_run(made.runs / "made")
    shortened(directory / "raw" / "events.arrows", factor)
    facts = json.loads((directory / "run.json").read_text())
    facts["request"]["without"] = [technique] if technique else []
    (directory / "run.json").write_text(json.dumps(facts))
    made.add("all", {"without": technique or "all on"}, directory, number)


class TestFigure:
    def test_tells_the_largest_first_and_what_nothing_is_worth(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        for number, drift in enumerate((1.0, 1.01, 0.99), 1):
            without(made, None, number, 0.1)
            without(made, "joins", number, 0.3 * drift)
            without(made, "sorts", number, 0.1 * drift)
        figure = make(Asked("x", "techniques", "x", tuple(made.studied)))
        assert figure.subjects == ("DuckDB",)
        assert figure.says[0].startswith("DuckDB: ")
        assert "without joins" in figure.says[0]
        assert "without sorts" not in figure.says[0]
        (in_all_rows, rows) = (table.rows for table in figure.tables)
        assert [row[1] for row in in_all_rows] == ["joins", "sorts"]
        assert in_all_rows[0][2] == pytest.approx(3.0, rel=0.02)
        assert {row[1] for row in rows[: len(rows) // 2]} == {"joins"}
        assert all(measure.key.startswith("DuckDB.joins.") for measure in figure.measures)

    def test_without_a_run_of_all_there_is_nothing_to_compare(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        without(made, "joins", 1, 1.0)
        figure = make(Asked("x", "techniques", "x", tuple(made.studied)))
        assert "no run has all techniques on" in figure.missing[0]
