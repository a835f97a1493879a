"""TPC-H's refresh functions on engines with transactions: what they change, and where it is seen.

Each engine has the data and refresh sets once; servers are started, as runs start them.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from assay import _core
from assay.engines.contract import Embedded, Engine, Instance, Place, Server, tell_nobody
from assay.engines.discovery import EngineFolder, find_engines
from assay.engines.loading import BulkLoads, HasKeys
from assay.model.script import Script, ScriptOperation, ScriptStatement
from assay.running.processes.launcher import Guardian
from assay.running.server.serving import ServerLauncher
from assay.workloads import scripts
from assay.workloads.discovery import find_workload
from assay.workloads.generate import table_stream
from assay.workloads.refreshing import refresh_keys, refresh_setup, refresh_statement
from tests.products import obtained

if TYPE_CHECKING:
    from collections.abc import Iterator

# In a run the connections of sessions end with their process.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

SCALE, SETS, ORDERS = 0.01, 4, 15
ENGINES = {
    name: folder
    for name, folder in find_engines().items()
    if folder.facts.transactions and isinstance(folder.engine(), BulkLoads)
}
TPCH = find_workload("tpch")
# What is in the data: all orders and lines, and those of each set that came in or are still there.
STATE = """
    select 'orders' as name, count(*) as counted from orders
    union all select 'lines', count(*) from lineitem
    union all select 'lines without order', count(*) from lineitem
      where not exists (select 1 from orders where o_orderkey = l_orderkey)
"""
OF_SET = """
    union all select 'new orders {0}', count(*) from orders, orders_new as t
      where orders.o_orderkey = t.o_orderkey and t.set_number = {0}
    union all select 'new lines {0}', count(*) from lineitem, orders_new as t
      where l_orderkey = t.o_orderkey and t.set_number = {0}
    union all select 'old orders {0}', count(*) from orders, orders_old as t
      where orders.o_orderkey = t.o_orderkey and t.set_number = {0}
    union all select 'old lines {0}', count(*) from lineitem, orders_old as t
      where l_orderkey = t.o_orderkey and t.set_number = {0}
"""
LOOK = "state"
Found = dict[str, int]


def rows_of(table: str) -> pa.Table:
    return pa.table(table_stream("tpch", table, SCALE, 1, SETS))


# Not while tests are collected: each worker collects all.
@cache
def lines_of_sets() -> tuple[dict[int, int], dict[int, int]]:
    """Lines of the orders that each set puts in, and of those that it takes out."""
    new, old = {}, {}
    lines, lines_new = rows_of("lineitem")["l_orderkey"].to_pylist(), rows_of("lineitem_new")
    keys_old = rows_of("orders_old").to_pylist()
    for number in range(1, SETS + 1):
        new[number] = lines_new["set_number"].to_pylist().count(number)
        gone = {row["o_orderkey"] for row in keys_old if row["set_number"] == number}
        old[number] = sum(line in gone for line in lines)
    return new, old


@dataclass
class Loaded:
    """An engine that has the data, and what it was asked."""

    folder: EngineFolder
    engine: Engine
    instance: Instance
    directory: Path

    def play(self, *steps: tuple[str, int, int]) -> list[Found]:
        """Plays (function, set, batches); what was found before the first and after each."""
        look = STATE + "".join(OF_SET.format(number) for number in range(1, SETS + 1))
        texts = {LOOK: look}
        for number, (name, set_number, batches) in enumerate(steps):
            told = refresh_statement(
                TPCH, name, set_number, batches, self.folder.facts.dialects, SCALE
            )
            texts[f"{name}-{number}"] = told.text
        order = [0, *(index for step in range(len(steps)) for index in (step + 1, 0))]
        tables = self._driven(texts, order)
        return [dict(map(found_as, *table.to_pydict().values())) for table in tables]

    def asked(self, text: str) -> list[dict[str, Any]]:
        """The rows of one query."""
        (table,) = self._driven({LOOK: text}, [0])
        rows: list[dict[str, Any]] = table.to_pylist()
        return rows

    def _driven(self, texts: dict[str, str], order: list[int]) -> list[pa.Table]:
        """Plays texts in an order; what the first one returned each time."""
        dialects = self.folder.facts.dialects
        script = Script(
            tuple(
                ScriptOperation(
                    name, tuple(map(ScriptStatement, scripts.statements(text, dialects)))
                )
                for name, text in texts.items()
            )
        )
        phase = {"name": "measured", "arrival": {"shape": "power"}, "operations": order}
        plan = {"operations": list(texts), "phases": [phase], "seed": 1, "results_kept": 99}
        directory = Path(tempfile.mkdtemp(dir=self.directory))
        (directory / "results").mkdir()
        sessions = self.engine.sessions(self.instance, script, 1, 1)
        report = _core.drive(
            json.dumps(plan), sessions, directory, _core.CancelFlag(), lambda *_: None
        )
        del sessions
        assert json.loads(report)["errors"] == []
        with pa.OSFile(str(directory / "events.arrows")) as file:
            events = pa.ipc.open_stream(file).read_all().to_pylist()
        assert {event["outcome"] for event in events} == {"ok"}
        files = {path.name.split("-")[1]: path for path in directory.glob(f"results/{LOOK}-*")}
        digests = [event["digest"] for event in events if event["operation"] == LOOK]
        return [read_rows(files[f"{digest:016x}"]) for digest in digests]


def found_as(name: object, found: object) -> tuple[str, int]:
    return str(name), int(str(found))


def read_rows(path: Path) -> pa.Table:
    with pa.OSFile(str(path)) as file:
        return pa.ipc.open_file(file).read_all()


def make_data(engine: Any, instance: Instance, dialects: tuple[str, ...]) -> None:
    """Tables, rows, sets and keys, as a run makes them."""
    refresh = TPCH.facts.refresh
    assert refresh is not None
    setup = TPCH.setup(dialects, SCALE) | refresh_setup(TPCH, dialects, SCALE, SETS)
    keys = TPCH.keys(dialects, SCALE) | refresh_keys(TPCH, dialects, SCALE, SETS)
    for sql in setup.values():
        engine.run_script(instance, sql)
    for table in (*TPCH.facts.tables, *refresh.tables):
        engine.load(instance, table, table_stream("tpch", table, SCALE, 1, SETS), 1)
    if isinstance(engine, HasKeys):
        engine.make_keys(instance, "\n".join(keys.values()), 1, tell_nobody)
    engine.finish_load(instance)


@contextmanager
def in_process(engine: Any, place: Place) -> Iterator[Instance]:
    instance = engine.start(place, {})
    yield instance
    engine.stop(instance)


@contextmanager
def served(engine: Any, name: str, directory: Path) -> Iterator[Instance]:
    product = obtained(name, engine=engine)
    guardian = Guardian("refresh", directory / "instances")
    with guardian:
        launcher = ServerLauncher(guardian, directory / "server.log")
        place = Place(guardian.directory / "data", guardian.directory / "scratch")
        place.data.mkdir()
        instance = engine.attach(engine.start(product, place, {}, launcher))
        yield instance
        engine.detach(instance)


@pytest.fixture(scope="module", params=list(ENGINES))
def loaded(request: pytest.FixtureRequest) -> Iterator[Loaded]:
    folder = ENGINES[request.param]
    engine = folder.engine()
    # A server's user reaches this directory, and not pytest's where we are root.
    directory = Path(tempfile.mkdtemp(prefix="assay-"))
    directory.chmod(0o755)
    place = Place(directory / "data", directory / "scratch")
    if isinstance(engine, Embedded):
        place.data.mkdir()
        place.scratch.mkdir()
    assert isinstance(engine, Embedded | Server)
    started = (
        in_process(engine, place)
        if isinstance(engine, Embedded)
        else served(engine, request.param, directory)
    )
    with started as instance:
        make_data(engine, instance, folder.facts.dialects)
        yield Loaded(folder, engine, instance, directory)
    shutil.rmtree(directory)


# How a statement is asked for its plan, and how the plan of one tells that a table is read whole.
PLANS = {
    "mariadb": (
        "explain format=json",
        r'"table_name": "(lineitem|orders)",\s+"access_type": "ALL"',
    ),
    "mysql": (
        "explain format=traditional",
        r"'table': '(lineitem|orders)', 'partitions': None, 'type': 'ALL'",
    ),
    "postgresql": ("explain", r"Seq Scan on (lineitem|orders)\b"),
    "sqlite": ("explain query plan", r"SCAN (lineitem|orders)\b"),
}


# Engines that read columns, and skip the parts in which no key of a range can be.
BY_COLUMNS = {"duckdb", "virtuoso"}
# The planner of Dolt and of Doltgres compares a delete's subquery with every row of the table.
WHOLE = {"dolt", "doltgres"}


def changed(before: Found, after: Found) -> Found:
    return {name: after[name] - before[name] for name in after if after[name] != before[name]}


class TestSets:
    """Each test has a set of its own, so that they may run in any order."""

    @pytest.mark.parametrize(("number", "batches"), [(1, 1), (2, 3), (3, 0)])
    def test_a_set_comes_in_and_another_goes(
        self, loaded: Loaded, number: int, batches: int
    ) -> None:
        before, inserted, deleted = loaded.play(("rf1", number, batches), ("rf2", number, batches))
        new, old = (lines[number] for lines in lines_of_sets())
        assert changed(before, inserted) == {
            "orders": ORDERS,
            "lines": new,
            f"new orders {number}": ORDERS,
            f"new lines {number}": new,
        }
        assert changed(inserted, deleted) == {
            "orders": -ORDERS,
            "lines": -old,
            f"old orders {number}": -ORDERS,
            f"old lines {number}": -old,
        }
        assert (before[f"old orders {number}"], before[f"old lines {number}"]) == (ORDERS, old)
        assert deleted["lines without order"] == 0

    def test_rows_come_in_as_they_stand_in_the_set(self, loaded: Loaded) -> None:
        loaded.play(("rf1", SETS, 2))
        for table, key in (("orders", "o_orderkey"), ("lineitem", "l_orderkey, l_linenumber")):
            columns = ", ".join(rows_of(f"{table}_new").column_names[2:])
            keys = [column.strip() for column in key.split(",")]
            of_set = f"from {table}_new where set_number = {SETS}"
            inserted = f"from {table} where {keys[0]} in (select {keys[0]} {of_set})"
            told = loaded.asked(f"select {columns} {inserted} order by {key}")
            assert len(told) == (ORDERS if table == "orders" else lines_of_sets()[0][SETS])
            assert told == loaded.asked(f"select {columns} {of_set} order by {key}")

    @pytest.mark.parametrize("batches", [1, 0])
    def test_rf2_finds_its_orders_by_their_keys(self, loaded: Loaded, batches: int) -> None:
        if loaded.folder.facts.name not in PLANS:
            assert loaded.folder.facts.name in BY_COLUMNS | WHOLE
            return
        asking, reads_whole = PLANS[loaded.folder.facts.name]
        dialects = loaded.folder.facts.dialects
        text = refresh_statement(TPCH, "rf2", SETS, batches, dialects, SCALE).text
        deletes = [one for one in scripts.statements(text, dialects) if one.startswith("delete")]
        assert len(deletes) == 2 * (batches or ORDERS)
        for delete in deletes[:2]:
            plan = "\n".join(str(row) for row in loaded.asked(f"{asking} {delete}")).replace(
                "\\n", " "
            )
            assert "lineitem" in plan or "orders" in plan
            assert not re.search(reads_whole, plan), plan
