"""Causes are tried by experiments: confirmed, kept, explained anew; a stopped one goes on."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from assay.record.predictions import read_predictions
from assay.record.reader import Run, list_runs
from tests.e2e.conftest import Lab, laboratory_in_memory, server_laboratory, wait_until
from tests.e2e.server import RunningServer
from tests.e2e.test_running_server import folder_of, url_of

# The index saves nearly all of the time, so that a busy host leaves no doubt of it.
TABLES = """create table views (id integer primary key, page integer not null, agent text);
insert into views
with recursive made (id) as (select 1 union all select id + 1 from made where id < 30000)
select id, (id * 37) % 4000 + 1, 'browser number ' || (id % 50) from made;
"""
FILES = {
    "workload.toml": 'about = "Counts the views of a page."\nsetup = ["schema/tables.sql"]\n',
    "schema/tables.sql": TABLES,
    "operations/of_page.sql": "select count(*), max(agent) from views where page = 17\n",
    "index.sql": "create index views_page on views (page);\n",
}
SHORT = ("--engine", "sqlite", "--min-time", "200ms")
KEY, CHANGE = "missing-index:of_page", "index of views (page)"
ORDERS = (
    "create table trade.orders as select i as order_id, i % 20000 as customer_id,"
    " repeat('x', 80) as note from generate_series(1, 200000) as i"
)
MAKE_ORDERS = (
    "create schema trade authorization owner",
    ORDERS,
    "alter table trade.orders owner to owner",
    "analyze trade.orders",
)
FACT_TABLES = ("kinds", "facts", "things", "spans")
# A quarter of the facts are of one kind, so that far more of them come than are expected.
MAKE_FACTS = (
    """create table trade.kinds as select i as kind_id, 'kind ' || i as name
    from generate_series(1, 10000) as i""",
    """create table trade.facts as
    select case when i % 4 = 0 then 1 else i % 10000 + 1 end as kind_id, i % 20000 as thing_id
    from generate_series(1, 200000) as i""",
    """create table trade.things as select i as thing_id, repeat('x', 40) as note
    from generate_series(0, 19999) as i""",
    "create table trade.spans as select i * 1000 as low from generate_series(0, 19) as i",
    "alter table trade.things add primary key (thing_id)",
    *(f"alter table trade.{name} owner to owner" for name in FACT_TABLES),
    *(f"analyze trade.{name}" for name in FACT_TABLES),
)
OF_ONE_KIND = """select count(*), max(o.{column}) from trade.kinds as k
join trade.facts as f on f.kind_id = k.kind_id
join trade.{table} as o on {condition}
where k.name = 'kind 1'
"""
# The optimiser chose nested loops for the few rows that it expected, and a hash join is faster.
LOOKED_UP = OF_ONE_KIND.format(column="note", table="things", condition="o.thing_id = f.thing_id")
# Nothing but a nested loop can join these.
IN_SPANS = OF_ONE_KIND.format(
    column="low", table="spans", condition="f.thing_id between o.low and o.low + 999"
)
NO_LOOPS = "without nested loops"
INDEXES = "select indexname from pg_indexes where schemaname = 'trade'"


@pytest.fixture
def views(tmp_path: Path) -> Path:
    folder = tmp_path / "views"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def stopped_after(lab: Lab, given: tuple[str, ...], text: str) -> str:
    """What a diagnosis says that is stopped once it has said this."""
    started = lab.begin(*given)
    assert started.stderr is not None
    lines = []
    for line in started.stderr:
        lines.append(line)
        if text in line:
            started.send_signal(signal.SIGINT)
            break
    _, rest = started.communicate(timeout=120)
    assert started.returncode == 2, "".join(lines) + rest
    return "".join(lines) + rest


def test_a_cause_is_confirmed_and_a_stopped_diagnosis_goes_on(
    views: Path, server_place: Path
) -> None:
    asked = ("diagnose", str(views), *SHORT)
    given = (*asked, "--budget", "3m")
    with laboratory_in_memory(server_place) as lab:
        said = stopped_after(lab, (*asked, "--budget", "1m"), "round 1  ")
        assert "the same command goes on" in said
        lab.assert_nothing_left()
        ended = [run for run in map(Run, list_runs(lab.runs)) if run.complete]
        before = {run.id for run in ended if run.kind == "run"}
        assert len(before) >= 2
        document: dict[str, Any] = json.loads(lab.assay(*given, "--json").stdout)
        (first, *_) = document["steps"]
        (cause,) = [tried for tried in first["tried"] if tried["key"] == KEY]
        assert cause["verdict"] == "confirmed", cause["says"]
        assert first["kept"] == CHANGE
        low, high = cause["gain"]["interval"]
        assert 0 < low < cause["gain"]["share"] < high < 1
        # The runs of before are among those that the verdict rests on.
        used = {run for pair in cause["trial"]["rounds"] for run in pair.values()}
        assert before - {document["run"]} <= used
        assert [point["change"] for point in document["way"]] == [None, CHANGE]
        assert document["way"][1]["seconds"] < document["way"][0]["seconds"]
        # What was measured is remembered, and not twice.
        assert [row["method"] for row in read_predictions(lab.runs)].count("missing-index") == 1
        page = Path(document["page"])
        assert KEY in page.read_text(encoding="utf-8")
        runs = len(list_runs(lab.runs))
        again = lab.assay(*given)
        assert f"CONFIRMED   {KEY}   kept" in again.stdout
        assert len(list_runs(lab.runs)) == runs, "all runs were there"
        shown = lab.assay("show", Path(document["study"]).name)
        assert shown.stdout == again.stdout
        lines = [line for line in again.stdout.splitlines() if str(lab.root) not in line]
        assert max(map(len, lines)) <= 80
        lab.assert_nothing_left()


def test_a_run_without_causes_has_nothing_to_try(views: Path, server_place: Path) -> None:
    with laboratory_in_memory(server_place) as lab:
        given = ("run", str(views), *SHORT, "--prepare", str(views / "index.sql"))
        name = Path(lab.document(*given)["path"]).name
        document = json.loads(lab.assay("diagnose", name, "--budget", "1m", "--json").stdout)
        assert not [
            tried
            for step in document["steps"]
            for tried in step["tried"]
            if tried["verdict"] == "confirmed" and tried["dependence"] is None
        ]
        refused = lab.assay("diagnose", name, "--scale", "2")
        assert refused.returncode == 1
        assert "is a run and has its own 'scale'" in refused.stderr
        unknown = lab.assay("diagnose", "nothing-of-this-name")
        assert unknown.returncode == 1
        assert (
            "is neither a workload (see `assay workloads`) nor the directory of a run"
            in unknown.stderr
        )


def test_a_workload_whose_operations_fail_is_not_diagnosed(
    server_place: Path, tmp_path: Path
) -> None:
    nowhere = "select * from nothing_of_this_name"
    folder = folder_of(tmp_path, works="select 1", fails=nowhere, fails_too=nowhere)
    (folder / "schema").mkdir()
    (folder / "schema" / "tables.sql").write_text("create table t (a int);", encoding="utf-8")
    load = ("--engine", "sqlite", "--clients", "1", "--time", "500ms", "--warmup", "100ms")
    with laboratory_in_memory(server_place) as lab:
        refused = lab.assay("diagnose", str(folder), *load, "--budget", "1m")
        assert refused.returncode == 2
        assert "cannot be diagnosed: " in refused.stderr
        assert "no such table: nothing_of_this_name" in refused.stderr
        lab.assert_nothing_left()


@pytest.fixture
def trade(server: RunningServer) -> Iterator[RunningServer]:
    for statement in MAKE_ORDERS:
        server.asked(statement)
    yield server
    server.asked("drop schema trade cascade")


def test_on_a_running_server_a_killed_diagnosis_leaves_nothing_and_is_taken_up(
    trade: RunningServer, server_place: Path, tmp_path: Path
) -> None:
    folder = folder_of(
        tmp_path, by_customer="select order_id from trade.orders where customer_id = 4711"
    )
    given = ("diagnose", str(folder), "--dsn", url_of(trade), "--min-time", "200ms")
    with server_laboratory(server_place) as lab:
        without = json.loads(lab.assay(*given, "--json").stdout)
        untried = [cause for step in without["steps"] for cause in step["cannot_be_tried"]]
        assert any("--allow-changes" in cause["why"] for cause in untried)
        assert trade.asked(INDEXES) == []
        allowed = (*given, "--allow-changes", "--budget", "3m")
        started = lab.begin(*allowed)
        wait_until(lambda: trade.asked(INDEXES) != [], "an index is tried")
        started.kill()
        started.communicate()
        wait_until(lambda: trade.asked(INDEXES) == [], "the index is gone")
        document = json.loads(lab.assay(*allowed, "--json").stdout)
        (cause,) = [
            tried
            for tried in document["steps"][0]["tried"]
            if tried["key"] == "missing-index:by_customer"
        ]
        assert cause["verdict"] == "confirmed", cause["says"]
        assert "create index" in cause["cause"]["change"]["sql"]
        assert document["steps"][1]["on_top_of"] == [cause["change"]]
        assert trade.asked(INDEXES) == []
        lab.assert_nothing_left()


@pytest.fixture
def facts(trade: RunningServer) -> RunningServer:
    for statement in MAKE_FACTS:
        trade.asked(statement)
    return trade


def technique_of(document: dict[str, Any]) -> dict[str, Any]:
    """The cause that was tried by switching nested loops off, in the first step."""
    (tried,) = [cause for cause in document["steps"][0]["tried"] if cause["change"] == NO_LOOPS]
    return tried


def test_a_technique_is_switched_off_to_test_a_cause(
    facts: RunningServer, server_place: Path, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path, looked_up=LOOKED_UP)
    given = ("diagnose", str(folder), "--dsn", url_of(facts), "--min-time", "200ms")
    with server_laboratory(server_place) as lab:
        document = json.loads(lab.assay(*given, "--budget", "3m", "--json").stdout)
        tried = technique_of(document)
        # The plan changes without nested loops, so the change is timed.
        assert (tried["key"], tried["verdict"]) == ("misestimate:looked_up", "confirmed"), tried
        assert (tried["by_plan"], tried["rounds"] > 0) == (False, True)
        assert not tried["recommended"], "it only tests a cause"
        lab.assert_nothing_left()


def test_a_setting_that_alters_no_plan_is_refuted_without_a_round(
    facts: RunningServer, server_place: Path, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path, in_spans=IN_SPANS)
    given = ("diagnose", str(folder), "--dsn", url_of(facts), "--min-time", "200ms")
    with server_laboratory(server_place) as lab:
        document = json.loads(lab.assay(*given, "--budget", "3m", "--json").stdout)
        tried = technique_of(document)
        assert (tried["verdict"], tried["by_plan"]) == ("refuted", True), tried["says"]
        assert (tried["rounds"], tried["trial"], tried["gain"]) == (0, None, None)
        assert tried["says"] == "no plan changes with it; nothing was run"
        planned = [run for run in map(Run, list_runs(lab.runs)) if run.kind == "planned"]
        assert len(planned) == 2
        assert not any(run.has("events") for run in planned)
        shown = lab.assay("show", Path(document["study"]).name).stdout
        assert "no plan changes with it; nothing was run" in " ".join(shown.split())
        assert lab.document("show")["run"] not in {run.id for run in planned}
        lab.assert_nothing_left()


def building(trade: RunningServer) -> bool:
    """Whether an index is being made, which waits for whoever saw the table before."""
    return trade.asked("select 1 from pg_index where not indisvalid") != []


def dropping(trade: RunningServer) -> bool:
    """Whether an index is being dropped, which waits for whoever reads the table."""
    return [query for _, query in trade.busy() if query.startswith("drop index")] != []


@pytest.mark.parametrize("step", [building, dropping])
def test_killed_while_a_change_is_made_or_undone_it_is_taken_back(
    trade: RunningServer, server_place: Path, tmp_path: Path, step: Callable[[RunningServer], bool]
) -> None:
    folder = folder_of(
        tmp_path, by_customer="select order_id from trade.orders where customer_id = 4711"
    )
    given = ("diagnose", str(folder), "--dsn", url_of(trade), "--min-time", "200ms")
    with server_laboratory(server_place) as lab, psycopg.connect(url_of(trade)) as reader:
        reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        if step is building:
            reader.execute("select count(*) from trade.orders")
        started = lab.begin(*given, "--allow-changes", "--budget", "1m")
        if step is dropping:
            wait_until(lambda: trade.asked(INDEXES) and not building(trade), "it is tried")
            reader.execute("select count(*) from trade.orders")
        wait_until(lambda: step(trade), "it waits for the reader")
        started.kill()
        started.communicate()
        reader.rollback()
        wait_until(lambda: trade.asked(INDEXES) == [], "the index is gone")
        wait_until(lambda: trade.busy() == [], "nothing of it runs on the server")
        lab.assert_nothing_left()
