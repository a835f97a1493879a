"""Columns that are compared get the same character set, so that the index of one is used."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.indexes import unused_index
from assay.engines.discovery import find_engine
from assay.model.catalogue import Index
from assay.model.errors import UsageError
from assay.model.finding import Advice
from assay.running.asked.request import RunRequest
from assay.study.experiments.following import followed
from tests.cases import case, node, operation, plan, plans

ALIKE = Advice("alike-columns", "towns", {"columns": "town", "like": "orders.town"}, 1.0)
STATEMENT = {"statements": {"alike-columns": "conf/advice/alike_columns.sql"}}


def joined(condition: str) -> Case:
    outer = node("scan", object="orders", rows=400.0, seconds=0.01)
    inner = node("index scan", object="towns", rows=1_500.0, removed_rows=0.0, seconds=0.01)
    join = node("nested loop", outer, inner, condition=condition, rows=387.0, seconds=0.9)
    index = Index("towns", "towns_town", ("town",))
    facts = {"plans": plans(plan(join, text="select 1")), "indexes": {"towns": (index,)}}
    return case(operation(overrides={"seconds": 1.0}), advice=STATEMENT, **facts)


@pytest.mark.parametrize(
    "condition",
    [
        "convert(towns.town using utf8mb4) = orders.town",
        "orders.town = convert(towns.town using utf8mb4)",
        "(convert(towns.town using utf8mb4) = `shop`.`orders`.`town`)",
        "(`orders`.`town` = convert(towns.town using utf8mb4))",
    ],
)
def test_the_other_column_is_named(condition: str) -> None:
    (finding,) = unused_index.find(joined(condition))
    assert finding.advice is not None
    assert finding.advice.kind == "alike-columns"
    assert finding.advice.values == ALIKE.values
    assert (finding.to_try or "").startswith("give town the character set of orders.town; `assay")


@pytest.mark.parametrize(
    "condition",
    [
        # Values and expressions have no declaration, and a column of the same table is no look-up.
        "convert(towns.town using utf8mb4) = 'Bern'",
        "convert(towns.town using utf8mb4) = lower(orders.town)",
        "convert(towns.town using utf8mb4) = towns.capital",
        "convert(towns.town using utf8mb4) > orders.town",
    ],
)
def test_without_another_column_nothing_is_changed(condition: str) -> None:
    (finding,) = unused_index.find(joined(condition))
    assert finding.advice is None
    assert finding.to_try == "give town the character set of the column with which it is compared"


TYPED = {"towns": {"town": "varchar(20)"}, "orders": {"town": "int"}}


@pytest.mark.parametrize(
    "condition",
    [
        "(cast(towns.town as double) = cast(orders.town as double))",
        "(cast(`shop`.`orders`.`town` as double) = cast(towns.town as double))",
        # MariaDB's plan does not show the conversion, but the scan is repeated.
        "orders.town = towns.town",
    ],
)
@pytest.mark.parametrize("is_number", [True, False])
def test_a_text_that_is_compared_with_a_number(condition: str, *, is_number: bool) -> None:
    run_case = joined(condition)
    index = Index("towns", "towns_town", ("town",), types=("varchar",))
    types = TYPED if is_number else TYPED | {"orders": {"town": "varchar(30)"}}
    run_case = replace(run_case, indexes={"towns": (index,)}, column_types=types)
    if "cast" not in condition:
        ((own,),) = run_case.plans.values()
        facts = {"loops": 400.0, "rows": 1.0, "removed_rows": 1e5, "seconds": 0.9}
        inner = replace(own.root.children[1], operator="scan", condition=condition, **facts)
        root = replace(own.root, children=(own.root.children[0], inner), condition=None)
        run_case = replace(run_case, plans=plans(replace(own, root=root)))
    (finding,) = unused_index.find(run_case)
    if is_number or "cast" in condition:
        assert "town is text, orders.town is a number" in finding.claim
        assert finding.advice is not None
        assert finding.advice.subject == "orders"
        assert finding.advice.values == {"columns": "town", "like": "towns.town"}
        assert finding.settle is None
    else:
        assert finding.advice is None
        assert finding.settle is not None


def test_an_engine_without_such_a_statement_gets_words() -> None:
    run_case = joined("convert(towns.town using utf8mb4) = orders.town")
    (finding,) = unused_index.find(replace(run_case, advice={}))
    assert finding.advice is None
    assert finding.to_try == "give town the character set of orders.town"


@pytest.mark.parametrize("engine", ["mysql", "mariadb"])
def test_the_statement_declares_one_column_as_the_other(engine: str) -> None:
    request = RunRequest(workload="tpch", engine=engine, scale=1)
    changed = followed(request, ALIKE, find_engine(engine))
    assert changed.text == "towns.town declared as orders.town"
    (sql,) = changed.request.prepare.values()
    assert "alter table `towns` modify `town`" in sql
    assert "own.table_name = 'towns'" in sql
    assert "other.table_name = 'orders' and other.column_name = 'town'" in sql


def test_columns_of_other_tables_are_changed_with_it() -> None:
    request = RunRequest(workload="tpch", engine="mysql", scale=1)
    also = replace(ALIKE, subject="streets")
    changed = followed(request, replace(ALIKE, also=(also,)), find_engine("mysql"))
    first, second = changed.request.prepare.values()
    assert "own.table_name = 'towns'" in first
    assert "own.table_name = 'streets'" in second


def test_a_running_server_is_left_alone() -> None:
    request = RunRequest(workload="tpch", engine="mysql", scale=1, dsn="mysql://127.0.0.1/shop")
    with pytest.raises(UsageError, match="the server is not Assay's own"):
        followed(request, ALIKE, find_engine("mysql"))


def test_other_engines_say_that_they_have_no_such_statement() -> None:
    request = RunRequest(workload="tpch", engine="postgresql", scale=1)
    with pytest.raises(UsageError, match="no statement that changes the type or character set"):
        followed(request, ALIKE, find_engine("postgresql"))
