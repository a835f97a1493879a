"""Computations from single rows, kept in columns: what can be, and that answers stay the same."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import duckdb
import pytest

from assay.engines.discovery import find_engine
from assay.model.errors import UsageError
from assay.model.finding import Advice
from assay.running.asked.request import RunRequest
from assay.study.experiments.following import followed
from assay.workloads.discovery import find_workload
from assay.workloads.rewriting import STORED_VALUES, parts, storable, without

TABLES = {"pawned": ("shop", "loan", "note", "day"), "shops": ("id", "name")}
BY_SHOP = "select shop, sum(cast(loan as decimal(12, 2))) as lent from pawned group by shop"


def stored(sql: str, dialect: str = "postgresql") -> list[tuple[str, str, str]]:
    values, _ = storable(sql, (dialect,), TABLES)
    return [(value.table, value.type.lower(), value.expression.lower()) for value in values]


def test_a_cast_has_the_type_that_the_query_names() -> None:
    assert stored(BY_SHOP) == [("pawned", "decimal(12, 2)", "cast(loan as decimal(12, 2))")]


def test_the_outermost_call_is_stored_and_not_those_within() -> None:
    sql = "select count(*) from pawned where substr(lower(note), 1, 4) = 'gold'"
    assert [text for _, _, text in stored(sql)] == ["substring(lower(note) from 1 for 4)"]


def test_what_is_computed_from_groups_stays() -> None:
    sql = "select round(sum(cast(loan as int)), 2), lower(max(note)) from pawned"
    assert [text for _, _, text in stored(sql)] == ["cast(loan as int)"]


def test_a_pattern_is_kept_as_true_or_false() -> None:
    assert stored("select count(*) from pawned p where p.note like '%gold%'") == [
        ("pawned", "boolean", "note like '%gold%'")
    ]


def test_the_same_computation_is_stored_once() -> None:
    sql = "select lower(note) from pawned where lower(note) > 'a' order by lower(note)"
    assert len(stored(sql)) == 1


def test_columns_that_are_still_read_are_known() -> None:
    _, left = storable(BY_SHOP, ("postgresql",), TABLES)
    assert left == ["shop"]


def test_the_query_reads_the_columns_and_keeps_the_names_of_its_results() -> None:
    sql = "select lower(p.note), lower(p.note) as n from pawned p where p.loan like '1%'"
    text = " ".join(without(sql, ("postgresql",), [STORED_VALUES], TABLES).text.split())
    assert text == (
        "SELECT p.assay_stored_1, p.assay_stored_1 AS n FROM pawned AS p WHERE p.assay_stored_2"
    )


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("select sum(fee(loan)) from pawned", r"fee\(loan\) cannot be stored"),
        ("select count(*) from pawned where note like ${part}", "cannot be stored"),
        ("select count(*) from pawned where lower(note || ${end}) > 'a'", "cannot be stored"),
        ("select count(*) from pawned, shops where lower(note || name) = 'a'", "cannot be stored"),
        ("select count(*) from pawned where age(day, current_date) > '1'", "cannot be stored"),
        ("select md5(cast(n as text)) from generate_series(1, 9) as s (n)", "cannot be stored"),
        ("select * from pawned where lower(note) = 'a'", "returns other rows"),
        ("select sum(loan * 2) from pawned", "computes nothing from single rows"),
        ("select lower(n) from (select note as n from pawned limit 9) as t", "cannot be stored"),
    ],
)
def test_what_depends_on_more_than_a_row_is_refused(sql: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        stored(sql)


def test_a_list_of_removable_parts_does_not_have_it() -> None:
    assert STORED_VALUES not in {part.name for part in parts(BY_SHOP, ("postgresql",), TABLES)}


def test_mysql_stores_no_texts_of_unknown_length() -> None:
    assert stored("select cast(loan as signed) from pawned", "mysql")
    with pytest.raises(UsageError, match="cannot be stored"):
        stored("select lower(note) from pawned", "mysql")


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    folder = tmp_path / "pawnshop"
    (folder / "operations").mkdir(parents=True)
    (folder / "schema").mkdir()
    (folder / "operations" / "by_shop.sql").write_text(
        "select shop, sum(cast(loan as decimal(12, 2))) as lent, count(*) as gold from pawned"
        " where note like '%gold%' group by shop order by shop",
        "utf-8",
    )
    (folder / "operations" / "notes.sql").write_text("select lower(note), day from pawned", "utf-8")
    (folder / "schema" / "tables.sql").write_text(
        "create table pawned (shop integer, loan text, note text, day text)", "utf-8"
    )
    (folder / "workload.toml").write_text(
        'name = "pawnshop"\ntitle = "Pawnshop"\norder = ["by_shop", "notes"]\n'
        "[operations.by_shop]\n[operations.notes]\n",
        "utf-8",
    )
    return folder


ROWS = [
    (1, "12.50", "a gold ring", "x"),
    (2, "7.25", "a watch", "y"),
    (1, "0.10", "gold!", "z"),
    (2, "3.00", None, "u"),
    (3, "9.99", "marigold", "v"),
]


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_answers_are_the_same_with_stored_values(workload: Path, engine: str) -> None:
    request = RunRequest(workload=str(workload), engine=engine, scale=1)
    changed = followed(request, Advice("stored-values", "by_shop"), find_engine(engine))
    (sql,) = changed.request.prepare.values()
    assert changed.request.remove == ["by_shop/stored-values"]
    facts = find_engine(engine).facts
    plain = find_workload(str(workload))
    query = plain.statement("by_shop", facts.dialects, 1).text
    tables = {"pawned": ("shop", "loan", "note", "day")}
    rewritten = without(query, facts.dialects, [STORED_VALUES], tables).text
    create = (workload / "schema" / "tables.sql").read_text("utf-8")
    if engine == "duckdb":
        database = duckdb.connect()
        database.execute(create)
        database.executemany("insert into pawned values (?, ?, ?, ?)", ROWS)
        before = database.execute(query).fetchall()
        database.execute(sql)
        assert database.execute(rewritten).fetchall() == before
    else:
        file = sqlite3.connect(":memory:")
        file.execute(create)
        file.executemany("insert into pawned values (?, ?, ?, ?)", ROWS)
        before = file.execute(query).fetchall()
        file.executescript(sql)
        assert file.execute(rewritten).fetchall() == before
    assert len(before) == 2


def test_large_values_help_only_if_none_is_read_any_more(workload: Path) -> None:
    request = RunRequest(workload=str(workload), engine="postgresql", scale=1)
    large = {"large": "not read"}
    engine = find_engine("postgresql")
    assert followed(request, Advice("stored-values", "by_shop", large), engine)
    with pytest.raises(UsageError, match="notes also reads day, which may be large"):
        followed(request, Advice("stored-values", "notes", large), engine)
    assert followed(request, Advice("stored-values", "notes"), engine)


def test_a_running_server_gets_no_new_columns(workload: Path) -> None:
    request = RunRequest(
        workload=str(workload), engine="postgresql", scale=1, dsn="postgresql://127.0.0.1:1/d"
    )
    with pytest.raises(UsageError, match="adds columns to a table"):
        followed(request, Advice("stored-values", "by_shop"), find_engine("postgresql"))
