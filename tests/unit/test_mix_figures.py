"""Figures of a mix on several engines, of loads whose every event is given."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from assay.analysis.figures.contract import Asked, Figure
from assay.analysis.figures.discovery import make
from assay.record.seal import write_seal
from tests.conftest import write_stream
from tests.loads import an_operation, closed, write_load
from tests.plans import made as made_node
from tests.plans import made_plan, with_plans
from tests.records import MS, write_run
from tests.studies import MadeStudy

COUNT = 400
RATE = {
    "operation": "select",
    "seconds": 60.0,
    "waits": "tpmX",
    "no_waits": "NOPM",
    "least": None,
    "most": None,
}


def a_load(
    place: Path, select_ms: float, update_ms: float, workload: str = "point-select", **facts: Any
) -> Path:
    """One client: three selects, then an update, each as long as it is told."""
    at_ns, events = 0, []
    for number in range(COUNT):
        is_update = number % 4 == 3
        ns = round((update_ms if is_update else select_ms) * MS)
        name = "update" if is_update else "select"
        events.append(an_operation(number, at_ns, 0, ns, operation=name, session=0))
        at_ns += ns
    path = write_load(place, closed(1), events, at_ns / 1e9)
    document = json.loads((path / "run.json").read_text("utf-8"))
    document["workload"] |= {"name": workload} | facts
    (path / "run.json").write_text(json.dumps(document), encoding="utf-8")
    write_seal(path)
    return path


def figure(made: MadeStudy, kind: str, **options: Any) -> Figure:
    return make(Asked(kind, kind, kind, tuple(made.studied), options))


def middles(shown: Figure, key: str) -> dict[str, float]:
    measure = shown.measure(key)
    assert measure is not None
    return {name: spread.middle for name, spread in measure.values.items()}


def rows(shown: Figure, name: str) -> list[dict[str, Any]]:
    table = next(candidate for candidate in shown.tables if candidate.name == name)
    return [
        dict(zip([column.name for column in table.columns], row, strict=True)) for row in table.rows
    ]


@pytest.fixture
def three(tmp_path: Path) -> MadeStudy:
    """A base of 1 ms, a version that takes 4 and 2 ms, and one that takes 2 and 2 ms; two rounds.

    In the second round all take half as long again.
    """
    made = MadeStudy(tmp_path)
    for number, drift in ((1, 1.0), (2, 1.5)):
        for engine, times in {
            "postgresql@17": (4.0, 2.0),
            "postgresql@18": (2.0, 2.0),
            "duckdb": (1.0, 1.0),
        }.items():
            select, update = (time * drift for time in times)
            load = a_load(tmp_path / "made", select, update, rate=RATE)
            made.add("mix", {"engine": engine}, load, number)
    return made


class TestTransactions:
    def test_rates_latencies_and_the_rate_of_the_specification(self, three: MadeStudy) -> None:
        shown = figure(three, "transactions", base="duckdb")
        assert shown.subjects == ("PostgreSQL 17", "PostgreSQL 18", "DuckDB")
        # Rounds of 1 and 1.5 ms: 1,000 and 667 a second.
        assert middles(shown, "tps")["DuckDB"] == pytest.approx((1000 + 1000 / 1.5) / 2)
        assert middles(shown, "latency")["DuckDB"] == pytest.approx(0.00125)
        assert middles(shown, "rate")["DuckDB"] == pytest.approx(45 * (1000 + 1000 / 1.5) / 2)
        first = rows(shown, "types")[0]
        assert (first["type"], first["engine"]) == ("select", "PostgreSQL 17")
        assert first["p50"] == pytest.approx(0.005)

    def test_a_ratio_is_taken_within_a_round(self, three: MadeStudy) -> None:
        shown = figure(three, "transactions", base="duckdb")
        times = shown.measure("latency_times")
        assert times is not None
        assert set(times.values) == {"PostgreSQL 17", "PostgreSQL 18"}
        # Three selects of 4 ms and an update of 2 are 14 ms, of the base 4.
        old = times.values["PostgreSQL 17"]
        assert old.middle == pytest.approx(3.5)
        # What drifts weighs on both, so nothing is left for an interval.
        assert (old.low, old.high, old.count) == (pytest.approx(3.5), pytest.approx(3.5), 2)
        takes = {(row["type"], row["engine"]): row["takes"] for row in rows(shown, "ratios")}
        assert takes["all", "PostgreSQL 17"] == pytest.approx(3.5)
        assert takes["select", "PostgreSQL 17"] == pytest.approx(4.0)
        assert takes["update", "PostgreSQL 18"] == pytest.approx(2.0)

    def test_a_version_stands_beside_the_one_before(self, three: MadeStudy) -> None:
        shown = figure(three, "transactions", base="duckdb")
        assert middles(shown, "tps_gain") == {"PostgreSQL 18": pytest.approx(1.75)}
        assert any("1.75 x the rate of PostgreSQL 17" in sentence for sentence in shown.says)

    def test_a_base_that_was_not_run_is_not_asked_for_twice(self, three: MadeStudy) -> None:
        shown = figure(three, "transactions", base="mysql")
        assert set(middles(shown, "latency_times of PostgreSQL 17")) == {"PostgreSQL 18", "DuckDB"}

    def test_a_run_without_a_load_is_said_to_be(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        made.add("mix", {"engine": "duckdb"}, write_run(tmp_path / "made"))
        shown = figure(made, "transactions")
        assert shown.missing == ("DuckDB played no mix",)
        assert (shown.charts, shown.says) == ((), ())


class TestMultiples:
    def test_a_part_is_a_group_of_workloads(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        for workload, times in {"points": 2.0, "ranges": 8.0}.items():
            for engine, ms in {"postgresql": times, "duckdb": 1.0}.items():
                load = a_load(tmp_path / "made", ms, ms, workload)
                made.add("reads", {"workload": workload, "engine": engine}, load)
        for engine, ms in {"postgresql": 3.0, "duckdb": 1.0}.items():
            load = a_load(tmp_path / "made", ms, ms)
            made.add("writes", {"engine": engine}, load)
        shown = figure(made, "multiples", base="duckdb", titles={"writes": "what writes"})
        assert shown.subjects == ("PostgreSQL",)
        assert middles(shown, "reads") == {"PostgreSQL": pytest.approx(4.0)}
        assert middles(shown, "writes") == {"PostgreSQL": pytest.approx(3.0)}
        assert shown.says[0] == (
            "In times of what DuckDB takes: reads 4 x (PostgreSQL); what writes 3 x (PostgreSQL)."
        )
        every = rows(shown, "operations")
        takes = {(row["workload"], row["engine"]): row["takes"] for row in every}
        assert takes["points", "PostgreSQL"] == pytest.approx(2.0)
        assert takes["points", "DuckDB"] is None

    def test_by_their_share_of_the_mix_and_each_operation_alike(self, three: MadeStudy) -> None:
        shown = figure(three, "multiples", base="duckdb")
        assert middles(shown, "mix")["PostgreSQL 17"] == pytest.approx(3.5)
        assert middles(shown, "mix_alike")["PostgreSQL 17"] == pytest.approx(math.sqrt(8))
        assert any("from 2 x in update to 4 x in select" in sentence for sentence in shown.says)

    def test_rounds_that_differ_make_an_interval(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        for number, ms in ((1, 2.0), (2, 2.2), (3, 1.8)):
            for engine, own in {"postgresql": ms, "duckdb": 1.0}.items():
                load = a_load(tmp_path / "made", own, own)
                made.add("mix", {"engine": engine}, load, number)
        measure = figure(made, "multiples", base="duckdb").measure("mix")
        assert measure is not None
        spread = measure.values["PostgreSQL"]
        assert spread.low < 1.8 < spread.middle < 2.2 < spread.high
        assert spread.count == 3

    def test_a_round_that_lacks_a_workload_is_left_out(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        for number, workload in ((1, "points"), (1, "ranges"), (2, "points")):
            for engine, ms in {"postgresql": 2.0 * number, "duckdb": 1.0}.items():
                load = a_load(tmp_path / "made", ms, ms, workload)
                made.add("reads", {"workload": workload, "engine": engine}, load, number)
        assert middles(figure(made, "multiples", base="duckdb"), "reads") == {
            "PostgreSQL": pytest.approx(2.0)
        }

    def test_without_the_base_times_are_of_the_first_and_it_is_said(self, three: MadeStudy) -> None:
        shown = figure(three, "multiples", base="mysql")
        assert shown.missing == ("no run is of mysql, so times are those of PostgreSQL 17",)
        # An article's multiples are of another base.
        assert shown.measure("mix") is None
        assert middles(shown, "mix of PostgreSQL 17")["DuckDB"] == pytest.approx(1 / 3.5)

    def test_one_engine_alone_is_nothing_to_compare_with(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        made.add("mix", {"engine": "duckdb"}, a_load(tmp_path / "made", 1.0, 1.0))
        shown = figure(made, "multiples", base="duckdb")
        assert "nothing to compare with" in shown.missing[0]
        assert shown.charts == ()


class TestStatements:
    def test_statements_of_an_operation_have_names_of_their_own(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        for engine, ms in {"postgresql": 6, "duckdb": 2}.items():
            made.add("mix", {"engine": engine}, with_statements(a_load(tmp_path / "made", 1, ms)))
        shown = figure(made, "statements", base="duckdb")
        keys = [measure.key for measure in shown.measures if measure.unit == "s"]
        assert keys == ["select", "update.read", "update.write"]
        assert middles(shown, "update.write") == {
            "PostgreSQL": pytest.approx(0.003),
            "DuckDB": pytest.approx(0.001),
        }
        assert middles(shown, "update.write_times") == {"PostgreSQL": pytest.approx(3.0)}
        assert shown.says == ("Furthest behind DuckDB: update.read, 3 x (PostgreSQL).",)

    def test_only_those_that_are_asked_for_and_there_are_shown(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        made.add("mix", {"engine": "duckdb"}, a_load(tmp_path / "made", 1, 2))
        shown = figure(made, "statements", statements=["update", "gone"])
        assert [row["statement"] for row in rows(shown, "medians")] == ["update"]

    def test_what_more_columns_cost(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        made.add("mix", {"engine": "duckdb"}, a_load(tmp_path / "made", 1, 20))
        shown = figure(made, "statements", wide={"select": "update"})
        assert middles(shown, "select_pruning") == {"DuckDB": pytest.approx(20.0)}
        assert "update takes 20 x (DuckDB) of select" in shown.says[0]

    def test_plans_say_how_rows_are_found(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        scan = made_node("scan", object="entries")
        index = made_node("index scan", object="entries", index="by_id")
        for engine, read in {"postgresql": scan, "duckdb": index}.items():
            join = made_node("nested loop", made_node("scan", object="few"), read)
            plans = [made_plan(join, operation="select")]
            load = with_plans(a_load(tmp_path / "made", 1, 2), plans)
            made.add("mix", {"engine": engine}, load)
        shown = figure(made, "statements", base="duckdb", statements=["select"])
        paths = {row["engine"]: row["is executed by"] for row in rows(shown, "paths")}
        assert paths == {
            "PostgreSQL": "(few x entries): scan few, scan entries",
            "DuckDB": "(few x entries): scan few, index scan entries (by_id)",
        }
        # Engines tell their plans in words of their own, so only versions of one are compared.
        assert not any("is executed by" in sentence for sentence in shown.says)

    def test_what_a_version_gained_on_the_first(self, three: MadeStudy) -> None:
        shown = figure(three, "statements", base="duckdb")
        assert middles(shown, "select_gain") == {"PostgreSQL 18": pytest.approx(2.0)}
        assert (
            "PostgreSQL 17 takes from 1 x (update) to 2 x (select) of what PostgreSQL 18 takes."
            in shown.says
        )

    def test_versions_with_other_plans_are_said(self, tmp_path: Path) -> None:
        made = MadeStudy(tmp_path)
        for version, index in {
            "17": "entries.by_id,entries.by_name",
            "18": "entries.by_id",
        }.items():
            read = made_node("index scan", object="entries", index=index)
            plans = [made_plan(read, operation="select")]
            load = with_plans(a_load(tmp_path / "made", 1, 2), plans)
            made.add("mix", {"engine": f"postgresql@{version}"}, load)
        shown = figure(made, "statements", statements=["select", "update"])
        assert shown.says[-1] == (
            "select is executed by index scan entries (by_id, by_name) (PostgreSQL 17) and index"
            " scan entries (by_id) (PostgreSQL 18)."
        )

    def test_one_statement_within_its_transaction_is_called_by_its_operation(
        self, tmp_path: Path
    ) -> None:
        made = MadeStudy(tmp_path)
        load = with_statements(a_load(tmp_path / "made", 1, 6), ("1 begin", "2 select entries"))
        made.add("mix", {"engine": "duckdb"}, load)
        shown = figure(made, "statements")
        assert middles(shown, "update") == {"DuckDB": pytest.approx(0.003)}
        assert {measure.key for measure in shown.measures if measure.unit == "s"} == {
            "select",
            "update",
        }


def with_statements(path: Path, names: tuple[str, str] = ("read", "write")) -> Path:
    """The same load, whose updates were of two statements of the same length."""
    import polars as pl

    events = pl.read_ipc_stream(path / "raw" / "events.arrows").filter(operation="update")
    noted = []
    for event in events.iter_rows(named=True):
        middle = (event["started_ns"] + event["finished_ns"]) // 2
        for name, begun, ended in (
            (names[0], event["started_ns"], middle),
            (names[1], middle, event["finished_ns"]),
        ):
            noted.append(
                {
                    "sequence": event["sequence"],
                    "operation": "update",
                    "statement": name,
                    "started_ns": begun,
                    "finished_ns": ended,
                    "rows": 1,
                }
            )
    write_stream(path / "raw" / "statements.arrows", noted)
    write_seal(path)
    return path
