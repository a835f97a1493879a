"""Plans of a run: asked for when all is measured, kept and explained; what fails is told."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import duckdb
import pytest

from assay.analysis.plans.recorded import captured, read_plans
from assay.record.reader import Run
from assay.running.processes.process_table import read_process
from tests.e2e.conftest import (
    FEW,
    PATIENCE_S,
    POSTGRESQL,
    SMALL,
    Lab,
    copy_run,
    end,
    wait_until,
)
from tests.schemas import RUN_SCHEMA, validator

TABLES = {"customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier"}


def run_of(document: dict) -> Run:
    return Run(Path(document["path"]))


def assert_all_are_whole(document: dict, operations: int) -> None:
    """Every operation has its plan, with times and rows, and the engine's own words beside it."""
    run = run_of(document)
    capture = captured(run)
    assert (capture.reason, capture.missing) == (None, ())
    assert len(capture.plans) == len(capture.costs) == operations
    assert run.broken_seals() == []
    for plans in capture.plans.values():
        for plan in plans:
            assert plan.timed
            assert plan.seconds
            assert (run.dir / "raw" / "plans" / plan.native).stat().st_size > 0
    assert all(cost.ratio and cost.ratio > 0 for cost in capture.costs)
    spent_s = sum(cost.capture_s for cost in capture.costs)
    assert capture.capture_s is not None
    assert spent_s <= capture.capture_s


def folder_of(place: Path, **operations: str) -> str:
    folder = place / "queries"
    folder.mkdir()
    for name, text in operations.items():
        (folder / f"{name}.sql").write_text(text)
    return str(folder)


@pytest.fixture
def on_duckdb(tpch_run: tuple[Lab, dict]) -> tuple[Lab, dict]:
    """One run of TPC-H that several tests look at."""
    return tpch_run


@pytest.fixture
def on_postgresql(postgresql_run: tuple[Lab, dict]) -> tuple[Lab, dict]:
    """The same on a server."""
    return postgresql_run


class TestDuckDB:
    def test_all_queries_have_theirs(self, on_duckdb: tuple[Lab, dict]) -> None:
        _, document = on_duckdb
        validator(RUN_SCHEMA).validate(document)
        assert_all_are_whole(document, 22)
        read = {
            node.object
            for plans in read_plans(run_of(document)).values()
            for plan in plans
            for node in plan.root.walk()
            if node.operator == "scan"
        }
        assert read == TABLES

    def test_they_were_asked_when_nothing_observed_any_more(
        self, on_duckdb: tuple[Lab, dict]
    ) -> None:
        lab, document = on_duckdb
        run = run_of(document)
        events = run.table("events")
        assert events.height % 22 == 0
        begun_ns = (run.dir / "raw" / "plans" / "q14-0.json").stat().st_mtime_ns
        last_ns = run.table("processes")["time_ns"].max() + run.facts["wall_minus_monotonic_ns"]
        assert last_ns < begun_ns + 1_000_000_000
        lab.assert_nothing_left()

    def test_they_are_explained(self, on_duckdb: tuple[Lab, dict]) -> None:
        lab, _ = on_duckdb
        result = lab.assay("explain", "latest", "--operation", "q09")
        assert result.returncode == 0, result.stderr
        assert "Plan of q09: execution" in result.stdout
        assert "TABLE_SCAN lineitem" in result.stdout
        assert max(map(len, result.stdout.splitlines())) <= 80
        assert "longest operator" in lab.assay("explain").stdout

    def test_two_runs_are_compared(self, on_duckdb: tuple[Lab, dict], lab: Lab) -> None:
        _, document = on_duckdb
        copy_run(lab, document)
        other = lab.document(
            "run", "tpch", *SMALL, "--set", "disabled_optimizers=join_order", "--set", "threads=1"
        )
        run_document = lab.document("explain", other["run"], "--against", document["run"])
        changed = {plan["operation"] for plan in run_document["plans"] if plan["changed"]}
        assert len(run_document["plans"]) == 22
        assert {"q05", "q08", "q09"} <= changed
        assert "q06" not in changed
        shown = lab.assay("explain", other["run"], "--against", document["run"])
        assert f"in {len(changed)} of 22 operations" in shown.stdout

    def test_none_are_asked_where_none_are_wanted(self, lab: Lab) -> None:
        document = lab.document("run", "tpch", *FEW)
        assert document["plans"] == {}
        assert "--no-plans" in document["plan_capture"]["reason"]
        assert not (lab.latest() / "raw" / "plans").exists()
        lab.assert_nothing_left()

    def test_the_null_engine_has_none(self, null_run: tuple[Lab, dict]) -> None:
        _, document = null_run
        assert "this engine tells none" in document["plan_capture"]["reason"]

    def test_a_statement_that_fails_is_told_and_fails_nothing_more(
        self, lab: Lab, tmp_path: Path
    ) -> None:
        folder = folder_of(
            tmp_path,
            # The other operation leaves no such table behind.
            broken="select x from mine",
            several="create table mine as select 1 as x; select x from mine; drop table mine",
        )
        document = lab.document("run", folder, "--engine", "duckdb", "--min-time", "50ms", code=3)
        assert [plan["statement"] for plan in document["plans"]["several"]] == [0, 1, 2]
        (missing,) = document["plan_capture"]["missing"]
        assert missing["operation"] == "broken"
        assert "mine" in missing["reason"]
        lab.assert_nothing_left()

    def test_what_changes_tables_is_asked_and_changes_nothing(self, lab: Lab) -> None:
        brief = ("--time", "300ms", "--warmup", "0s", "--clients", "1")
        document = lab.document("run", "tpcb", "--engine", "duckdb", *brief)
        by_statement = {plan["statement"]: plan for plan in document["plans"]["transfer"]}
        missing = {entry["statement"] for entry in document["plan_capture"]["missing"]}
        # It begins and ends a transaction of its own.
        assert missing == {0, 6}
        assert [by_statement[number]["root"]["operator"] for number in (1, 3, 4, 5)] == [
            "modify"
        ] * 4
        assert {c["check"]: c["verdict"] for c in document["checks"]}["answers"] == "valid"

    def test_one_that_takes_too_long_is_cut_off_and_has_estimates(
        self, lab: Lab, tmp_path: Path
    ) -> None:
        slow = (
            "select count(*) from range(100000) a(x), range(100000) b(x), range(100) c(x)"
            " where hash(a.x + b.x + c.x) % 7 = 1"
        )
        folder = folder_of(tmp_path, slow=slow, quick="select 1 as x")
        arguments = ("--engine", "duckdb", "--min-time", "50ms", "--timeout", "300ms")
        document = lab.document("run", folder, *arguments, code=3)
        (plan,) = document["plans"]["slow"]
        assert (plan["timed"], plan["seconds"]) == (False, None)
        assert "cancelled after 0.3 s" in plan["reason"]
        assert document["plans"]["quick"][0]["timed"]
        lab.assert_nothing_left()

    def test_an_interruption_keeps_what_was_measured(self, lab: Lab, tmp_path: Path) -> None:
        slow = "select count(*) from range(3000) a(x), range(3000) b(x) where (a.x * b.x) % 7 = 1"
        folder = folder_of(tmp_path, **{f"slow{number}": slow for number in range(40)})
        started = lab.begin("run", folder, "--engine", "duckdb", "--min-time", "1ms")
        plans = "raw/plans"
        wait_until(
            lambda: lab.runs.exists() and bool(list(lab.runs.glob(f"*/{plans}/slow*.json"))),
            "no plan was asked for",
        )
        code, errors = end(started, signal.SIGINT)
        assert code == 2, errors
        assert lab.status() == "interrupted"
        run = Run(lab.latest())
        assert run.table("events").height >= 80
        capture = captured(run)
        assert 0 < len(capture.plans) < 40
        lab.assert_nothing_left()


class TestPostgreSQL:
    def test_all_queries_have_theirs(self, on_postgresql: tuple[Lab, dict]) -> None:
        _, document = on_postgresql
        validator(RUN_SCHEMA).validate(document)
        assert_all_are_whole(document, 22)
        nodes = [
            node
            for plans in read_plans(run_of(document)).values()
            for plan in plans
            for node in plan.root.walk()
        ]
        assert {node.object for node in nodes if node.operator == "scan"} <= TABLES
        assert any(node.index for node in nodes)
        assert all(node.cached_bytes is not None for node in nodes if node.seconds is not None)

    def test_a_transaction_is_asked_and_rolled_back(self, server_lab: Lab) -> None:
        brief = ("--time", "300ms", "--warmup", "0s", "--clients", "2", "--scale", "0.01")
        document = server_lab.document("run", "tpcb", "--engine", POSTGRESQL, *brief)
        by_statement = {plan["statement"]: plan for plan in document["plans"]["transfer"]}
        assert sorted(by_statement) == [1, 2, 3, 4, 5]
        assert by_statement[1]["root"]["native"] == "Update"
        assert by_statement[2]["root"]["condition"]
        assert {c["check"]: c["verdict"] for c in document["checks"]}["answers"] == "valid"
        server_lab.assert_nothing_left()

    def test_what_has_no_plan_is_executed_for_what_comes_after(
        self, server_lab: Lab, tmp_path: Path
    ) -> None:
        folder = folder_of(
            tmp_path,
            several="create view v as select 7 as x; select x from v; drop view v",
            # The other operation leaves no such view behind.
            broken="select x from v",
            slow="select pg_sleep(5)",
        )
        arguments = ("--engine", POSTGRESQL, "--min-time", "50ms", "--timeout", "300ms")
        document = server_lab.document("run", folder, *arguments, code=3)
        assert [plan["statement"] for plan in document["plans"]["several"]] == [1]
        reasons = {
            (entry["operation"], entry["statement"]): entry["reason"]
            for entry in document["plan_capture"]["missing"]
        }
        assert "makes no plan for this kind of statement" in reasons["several", 0]
        assert '"v" does not exist' in reasons["broken", 0]
        (slow,) = document["plans"]["slow"]
        assert slow["timed"] is False
        assert "cancelled" in slow["reason"]
        server_lab.assert_nothing_left()

    def test_a_server_that_goes_away_while_it_is_asked_costs_the_plans_only(
        self, server_lab: Lab, tmp_path: Path
    ) -> None:
        slow = "select count(*) from generate_series(1, 500000)"
        folder = folder_of(tmp_path, **{f"slow{number:02}": slow for number in range(40)})
        arguments = ("run", folder, "--engine", POSTGRESQL, "--min-time", "1ms", "--json")
        started = server_lab.begin(*arguments)
        wait_until(
            lambda: bool(list(server_lab.runs.glob("*/raw/plans/slow*.json"))),
            "no plan was asked for",
        )
        root = min(server_lab.titled("bin/postgres"), key=lambda pid: read_process(pid).start_ticks)
        os.kill(root, signal.SIGKILL)
        text, errors = started.communicate(timeout=PATIENCE_S)
        assert started.returncode in {0, 3}, errors
        document = json.loads(text)
        assert document["status"] == "complete"
        assert len(document["operations"]) == 40
        assert 0 < len(document["plans"]) < 40
        server_lab.assert_nothing_left()


def test_a_kept_data_set_is_not_changed_by_asking(tpch_run: tuple[Lab, dict]) -> None:
    lab, document = tpch_run
    assert len(document["plans"]) == 22
    # Other tests of this laboratory may have made data with tables for refreshes.
    kept = lab.datasets.glob("tpch-0.01-duckdb-*/data/assay.duckdb")
    assert TABLES in [tables_of(path) for path in kept]


def tables_of(database: Path) -> set[str]:
    with duckdb.connect(database, read_only=True) as connection:
        return {row[0] for row in connection.execute("show tables").fetchall()}
