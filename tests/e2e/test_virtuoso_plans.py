"""Virtuoso's plans and counters, asked of a real private server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from assay.analysis.plans.work import plan_work
from assay.engines.contract import EngineError, Instance, Place, Wanted, tell_nobody
from assay.engines.discovery import find_engine
from assay.engines.virtuoso.engine import VirtuosoEngine
from assay.running.host.places import cache_dir
from assay.running.processes.launcher import Guardian
from assay.running.server.serving import ServerLauncher
from tests.e2e.conftest import reachable_directory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engines.bridge.link import Link
    from assay.engines.plan_reading import Explained
    from assay.model.plan import Plan

TABLES = """
    create table parent (id bigint not null, name varchar, primary key (id) column);
    create table child (id bigint not null, parent bigint, n bigint, primary key (id) column);
    create column index child_parent on child (parent);
"""
PARENTS, CHILDREN = 20, 200
ENDLESS = "select count(*) from child a, child b, child c, child d where a.n + b.n < c.n + d.n"
Asked = tuple[VirtuosoEngine, Instance]


@pytest.fixture(scope="module")
def asked() -> Iterator[Asked]:
    engine = find_engine("virtuoso").engine()
    assert isinstance(engine, VirtuosoEngine)
    try:
        product = engine.obtain(Wanted(cache_dir() / "engines"), tell_nobody)
    except EngineError as error:
        pytest.skip(f"this host cannot obtain Virtuoso: {error}")
    with (
        reachable_directory() as folder,
        Guardian("plans", folder / "instances") as guardian,
    ):
        data = guardian.directory / "data"
        data.mkdir(mode=0o700)
        launcher = ServerLauncher(guardian, folder / "server.log")
        launcher.own(data)
        settings = {"NumberOfBuffers": "20000"}
        address = engine.start(product, Place(data, launcher.scratch), settings, launcher)
        instance = engine.attach(address)
        _fill(engine, instance)
        yield engine, instance
        engine.detach(instance)


def _fill(engine: VirtuosoEngine, instance: Instance) -> None:
    engine.run_script(instance, TABLES)
    link: Link = instance.handle
    for number in range(PARENTS):
        link.run("insert into parent values (?, ?)", (number, f"p{number}"))
    for number in range(CHILDREN):
        values = (number, number % PARENTS, number * number % 97)
        link.run("insert into child values (?, ?, ?)", values)


def explained_plans(
    asked: Asked, *statements: tuple[str, tuple[object, ...]], limit_s: float = 60
) -> list[Explained]:
    engine, instance = asked
    reader = engine.plan_reader(instance)
    try:
        return list(reader.explain(statements, limit_s))
    finally:
        reader.close()


def planned(asked: Asked, text: str, *values: object) -> Plan:
    (explanation,) = explained_plans(asked, (text, values))
    assert explanation.native is not None, explanation.reason
    return asked[0].plan(explanation.native, "q", 0, "q-0.json")


def rows_of(plan: Plan, table: str) -> list[float | None]:
    return [node.rows for node in plan.root.walk() if node.object == table]


def test_a_statement_is_timed_and_its_rows_are_counted(asked: Asked) -> None:
    plan = planned(
        asked,
        "select name, count(*) from parent, child"
        " where parent = parent.id and n >= $1 group by name",
        0,
    )
    assert plan.timed
    assert plan.root.rows == PARENTS
    assert max(rows for rows in rows_of(plan, "child") if rows is not None) == CHILDREN
    work = plan_work(plan)
    assert work["aggregate"] > 0
    assert sum(work.values()) == pytest.approx(plan.seconds)
    assert plan.details["activity"]["seq"] >= CHILDREN


def test_an_index_is_told_with_its_table(asked: Asked) -> None:
    plan = planned(asked, "select count(*) from child where parent = $1", 7)
    (scan,) = [node for node in plan.root.walk() if node.object == "child"]
    assert (scan.operator, scan.index) == ("index scan", "child_parent")


def test_nothing_is_changed_and_what_fails_is_a_reason(asked: Asked) -> None:
    inserted, deleted, refused, after = explained_plans(
        asked,
        ("insert into parent select id + 100, name from parent", ()),
        ("delete from parent where id >= $1", (100,)),
        ("select nothing from parent", ()),
        ("select count(*) from parent", ()),
    )
    plan = asked[0].plan(inserted.native or "", "q", 0, "q-0.json")
    assert (plan.root.operator, plan.root.object) == ("modify", "parent")
    assert deleted.native is not None
    assert refused.native is None
    assert "nothing" in (refused.reason or "")
    assert after.native is not None
    assert "not executed" in (after.reason or "")
    assert not asked[0].plan(after.native, "q", 3, "q-3.json").timed
    assert asked[0].count(asked[1], "parent") == PARENTS


def test_what_takes_too_long_is_cancelled_and_has_estimates(asked: Asked) -> None:
    (cancelled,) = explained_plans(asked, (ENDLESS, ()), limit_s=0.5)
    assert cancelled.reason == "it was cancelled after 0.5 s"
    assert cancelled.native is not None
    plan = asked[0].plan(cancelled.native, "q", 0, "q-0.json")
    assert not plan.timed
    assert plan.execution_s is None


def counted(asked: Asked) -> dict[tuple[str, str, str], float]:
    reader = asked[0].counters(asked[1])
    try:
        rows: list[Any] = reader.read()
    finally:
        reader.close()
    return {(source, thing, counter): value for source, thing, counter, value in rows}


def test_counters_grow_with_what_is_executed(asked: Asked) -> None:
    before = counted(asked)
    asked[1].handle.run("select count(*) from child a, parent b where a.parent = b.id and a.n >= 0")
    after = counted(asked)
    key = ("indexes", "all indexes", "touches")
    assert after[key] - before[key] >= CHILDREN
    assert after["server", "server", "lock_enters"] >= before["server", "server", "lock_enters"]
    assert ("http", "http", "rnd") not in after, "it has no web server"
