"""Updates of rows that have the new values already: counted, named, and left out."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.findings.case import Case
from assay.analysis.findings.client.unchanged_rows import find
from assay.model.catalogue import WrittenRows
from assay.model.errors import UsageError
from assay.workloads.rewriting import without
from assay.workloads.rewriting.unchanged_rows import unchanged_count
from tests.cases import case, node, operation, plan, plans

POSTGRESQL, SQLITE = ("postgresql",), ("sqlite",)
FORM = "changed-rows"
UPSERT = (
    "insert into items (id, price, seen) select id, price, {now} from feed where true "
    "on conflict (id) do update set price = excluded.price, seen = excluded.seen"
)
UPDATE = "update items set price = 7, seen = {now} where id < 5"
NOW = "datetime('now')"


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        (UPDATE.format(now="now()"), "id < 5 and items.price is distinct from 7"),
        (UPSERT.format(now="now()"), "items.price is distinct from excluded.price"),
        (
            "update items as i set price = f.price from feed as f where f.id = i.id or i.id = 1",
            "( f.id = i.id or i.id = 1 ) and i.price is distinct from f.price",
        ),
        ("update items set price = ${price}", "items.price is distinct from ${price}"),
    ],
)
def test_a_condition_compares_old_and_new_values(text: str, condition: str) -> None:
    rewritten = " ".join(without(text, POSTGRESQL, [FORM]).text.lower().split())
    assert rewritten.rpartition(" where ")[2] == condition


def test_only_updates_of_several_statements_are_rewritten() -> None:
    text = "-- name: read\nselect price from items;\n-- name: write\nupdate items set price = 3;"
    rewritten = without(text, POSTGRESQL, [FORM]).text
    assert rewritten.startswith("-- name: read\nselect price from items;\n-- name: write\nUPDATE")
    assert rewritten.endswith("items.price IS DISTINCT FROM 3;")


@pytest.mark.parametrize(
    "text",
    [
        "update items set stock = stock - 1 where id = $1",
        "update items set token = gen_random_uuid()",
        "update items set seen = now()",
        "update items set price = (select max(price) from feed)",
        "insert into items values (1, 2) on conflict (id) do update set price = excluded.price",
        "insert into items (id, price) values (1, 2)",
        "insert into items (id, price) values (1, random()) on conflict (id) do update set id = 3",
        "select 1",
        "delete from items",
    ],
)
def test_values_that_always_differ_are_left(text: str) -> None:
    assert unchanged_count(text, POSTGRESQL) is None
    with pytest.raises(UsageError):
        without(text, POSTGRESQL, [FORM])


PRICES = st.lists(st.one_of(st.none(), st.integers(5, 8)), min_size=1, max_size=8)


@pytest.mark.parametrize("statement", [UPSERT, UPDATE], ids=["upsert", "update"])
@given(prices=PRICES, offered=PRICES)
def test_the_table_has_the_same_values_after_fewer_writes(
    statement: str, prices: list[int | None], offered: list[int | None]
) -> None:
    text = statement.format(now=NOW)
    counted = unchanged_count(text, SQLITE)
    assert counted is not None
    outcomes = []
    for written in (text, without(text, SQLITE, [FORM]).text):
        connection = sqlite3.connect(":memory:")
        connection.execute("create table items (id integer primary key, price integer, seen)")
        connection.execute("create table feed (id integer primary key, price integer)")
        into_items = "insert into items (id, price) values (?, ?)"
        connection.executemany(into_items, list(enumerate(prices)))
        connection.executemany("insert into feed values (?, ?)", list(enumerate(offered)))
        there = connection.execute("select count(*) from items").fetchone()[0]
        rows, changed = connection.execute(counted.text).fetchone()
        done = connection.execute(written).rowcount
        after = connection.execute("select id, price from items order by id").fetchall()
        outcomes.append((after, rows, changed, done - (len(after) - there)))
        connection.close()
    (before, rows, changed, all_writes), (after, _, _, fewer_writes) = outcomes
    assert after == before
    assert (all_writes, fewer_writes) == (rows, changed)


def test_values_of_the_count_are_those_of_the_statement() -> None:
    counted = unchanged_count("update items set price = $3 where id = $1 and b = 2", POSTGRESQL)
    assert counted is not None
    assert counted.values == (0, 2)
    assert counted.text.count("$1") == counted.text.count("$2") == 1


def run_of(rows: int, changed: int) -> Case:
    """A statement that reads its rows for a quarter of its time and writes them in the rest."""
    update = node("modify", node("scan", object="items", seconds=0.25), seconds=0.75)
    its = operation(overrides={"seconds": 1.0})
    counted = (WrittenRows(its.name, 0, rows, changed),)
    return case(its, plans=plans(plan(update, text="update items")), written_rows=counted)


def test_statements_that_mostly_change_nothing_are_named() -> None:
    (finding,) = find(run_of(400, 40))
    assert "360 of 400 rows" in finding.claim
    assert finding.advice is not None
    assert finding.advice.kind == "changed-rows"
    assert finding.effect_share == pytest.approx(0.75 * 0.9)
    assert finding.settle is not None


@pytest.mark.parametrize("written", [(400, 390), (0, 0)])
def test_statements_that_change_their_rows_are_not(written: tuple[int, int]) -> None:
    assert find(run_of(*written)) == []
