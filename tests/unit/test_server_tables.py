"""The schema of a user's tables: read from the catalogue, and used by rewritten queries."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from assay.engines.contract import EngineError, Place
from assay.engines.discovery import find_engine
from assay.model.declared import CatalogueColumn, DeclaredColumns, tables_of_catalogue
from assay.model.errors import UsageError
from assay.running.asked.asked_run import Asked
from assay.running.asked.asking import considered
from assay.running.asked.obtaining import with_schema
from assay.running.asked.options import options_of
from assay.running.asked.understanding import request_of
from assay.study.experiments.query.form import in_other_form
from assay.workloads.choosing import with_server_tables
from tests.views import assert_is_written_out

CLOSED = "postgresql://nobody@127.0.0.1:1/none"
SQLITE = """
create table notes (
  id integer primary key, code text not null unique, title varchar(20), n int not null
);
create unique index some_n on notes (n) where n > 0;
create unique index next_n on notes (n + 1);
create unique index any_case on notes (title collate nocase);
create table pairs (A int not null, b int not null, c int unique, primary key (a, b));
create table falling (id integer primary key desc);
create table named (k text primary key);
create table keyed (k text primary key, n int) without rowid;
create table "Mixed" (id integer primary key);
create view seen as select id, code from notes;
create virtual table words using fts5(word);
"""
DUCKDB = """
create table notes (
  id integer primary key, code varchar not null unique, title varchar(20), n int not null
);
create unique index next_n on notes ((n + 1));
create table pairs (a int not null, b int not null, c int unique, primary key (a, b));
create table single (n int not null, "a b" int not null);
create unique index of_n on single (n);
create unique index of_both on single ("a b", n);
create table plain (n int not null);
create index also_of_n on plain (n);
create view seen as select id, code from notes;
create schema archive;
create table archive.hidden (id integer primary key);
"""
PAGE = "select title from notes order by id limit 20 offset 2000"


def made_file(place: Path, engine: str) -> str:
    """The address of a new database file."""
    path = place / f"shop.{engine}"
    if engine == "sqlite":
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(SQLITE)
    else:
        with duckdb.connect(path) as connection:
            connection.execute(DUCKDB)
    return f"{engine}:{path}"


@contextmanager
def opened(dsn: str) -> Iterator[tuple[Any, Any]]:
    """An engine with a file that it opened for reading."""
    engine: Any = find_engine(dsn.partition(":")[0]).engine()
    file = engine.file(dsn)
    instance = engine.start(Place(file.parent, file.parent, file, reads_only=True), {})
    yield engine, instance
    engine.stop(instance)


def declared(dsn: str, *names: str) -> dict[str, DeclaredColumns]:
    with opened(dsn) as (engine, instance):
        tables: dict[str, DeclaredColumns] = engine.declared_tables(instance, names)
        return tables


def asked_of(folder: Path, dsn: str, text: str = PAGE, *remove: str, **more: str) -> Asked:
    folder.mkdir()
    for name, sql in {"q": text, **more}.items():
        (folder / f"{name}.sql").write_text(sql)
    keys = {"workload": str(folder), "dsn": dsn, "remove": list(remove)}
    return considered(request_of(options_of(keys), list(keys)))


def text_of(asked: Asked) -> str:
    (text,) = [
        statement.text
        for operation in asked.plain_script.operations
        for statement in operation.statements
        if operation.name == "q"
    ]
    return " ".join(text.lower().split())


def test_names_that_differ_only_in_case_are_left_out() -> None:
    columns = [
        CatalogueColumn("Orders", "ID", "int", required=True),
        CatalogueColumn("Orders", "note", "text", required=False),
        CatalogueColumn("Same", "id", "int", required=True),
        CatalogueColumn("same", "id", "int", required=True),
        CatalogueColumn("twice", "n", "int", required=True),
        CatalogueColumn("twice", "N", "int", required=True),
    ]
    keys = [("Orders", ["ID"]), ("Same", ["id"]), ("Orders", ["ID", "hidden"]), ("gone", ["id"])]
    tables = tables_of_catalogue(columns, keys)
    assert tables == {
        "orders": DeclaredColumns({"id": "int", "note": "text"}, frozenset({"id"}), (("id",),))
    }


def test_a_file_of_sqlite(tmp_path: Path) -> None:
    names = ("notes", "pairs", "falling", "named", "keyed", "mixed", "seen", "words", "gone")
    tables = declared(made_file(tmp_path, "sqlite"), *names)
    notes = tables["notes"]
    assert notes.types == {"id": "INTEGER", "code": "TEXT", "title": "varchar(20)", "n": "INT"}
    assert notes.required == {"id", "code", "n"}
    # Neither some rows, nor an expression, nor another collation than the column's.
    assert set(notes.keys) == {("id",), ("code",)}
    assert (tables["pairs"].required, set(tables["pairs"].keys)) == (
        {"a", "b"},
        {("a", "b"), ("c",)},
    )
    assert not tables["pairs"].unique_in(["c"])
    # This integer is not the number of the row, and may be null as any other primary key.
    assert (tables["falling"].required, tables["falling"].unique_in(["id"])) == (set(), False)
    assert (tables["named"].required, tables["named"].keys) == (set(), (("k",),))
    assert (tables["keyed"].required, tables["keyed"].unique_in(["k"])) == ({"k"}, True)
    assert tables["mixed"].unique_in(["id"])
    assert (set(tables["seen"]), tables["seen"].required, tables["seen"].keys) == (
        {"id", "code"},
        set(),
        (),
    )
    assert_is_written_out(tables, "sqlite")
    assert (tables["words"].required, tables["words"].keys) == (set(), ())
    assert "gone" not in tables


def test_a_file_of_duckdb(tmp_path: Path) -> None:
    names = ("notes", "pairs", "single", "plain", "seen", "hidden", "gone")
    tables = declared(made_file(tmp_path, "duckdb"), *names)
    notes = tables["notes"]
    assert notes.types == {
        "id": "INTEGER",
        "code": "VARCHAR",
        "title": "VARCHAR",
        "n": "INTEGER",
    }
    assert notes.required == {"id", "code", "n"}
    assert set(notes.keys) == {("id",), ("code",)}
    assert (tables["pairs"].required, set(tables["pairs"].keys)) == (
        {"a", "b"},
        {("a", "b"), ("c",)},
    )
    assert set(tables["single"].keys) == {("n",), ("a b", "n")}
    assert not tables["plain"].unique_in(["n"])
    assert (set(tables["seen"]), tables["seen"].required, tables["seen"].keys) == (
        {"id", "code"},
        set(),
        (),
    )
    assert_is_written_out(tables, "duckdb")
    # It is in another schema.
    assert "hidden" not in tables


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_a_page_is_rewritten_once_its_key_was_read(tmp_path: Path, engine: str) -> None:
    dsn = made_file(tmp_path, engine)
    asked = asked_of(tmp_path / "queries", dsn, PAGE, "q/far-page")
    # Nothing was contacted, so nothing is refused.
    assert text_of(asked) == PAGE
    seen = with_schema(asked)
    assert "page_key" in text_of(seen)
    assert seen.workload.content_hash == asked.workload.content_hash
    assert seen.schema()["tables"]["notes"]["n"] == "int"
    assert with_schema(seen) is seen
    request = asked.request.changed(remove=[])
    changed = in_other_form(request, asked.engine, "q", "far-page")
    assert changed.remove == ["q/far-page"]


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
@pytest.mark.parametrize(
    ("order", "reason"),
    [
        ("n", r"several rows may have the same place in the order: .*\(id\)"),
        ("title", r"several rows may have the same place in the order: .*\(id\)"),
    ],
)
def test_a_page_without_a_key_in_its_order_is_refused(
    tmp_path: Path, engine: str, order: str, reason: str
) -> None:
    text = PAGE.replace("title", "code").replace("by id", f"by {order}")
    asked = asked_of(tmp_path / "queries", made_file(tmp_path, engine), text, "q/far-page")
    with pytest.raises(UsageError, match=f"--remove far-page is not possible for q: {reason}"):
        with_schema(asked)


@pytest.mark.parametrize(
    ("text", "other", "known"),
    [
        ("select title from main.notes order by id limit 20 offset 2000", "select 1", False),
        (PAGE, "select count(*) from main.notes", False),
        (PAGE, "with n as (select 1 as x) select count(*) from n, notes", True),
    ],
)
def test_a_table_that_is_named_with_a_schema_is_not_known(
    tmp_path: Path, text: str, other: str, known: bool
) -> None:
    dsn = made_file(tmp_path, "sqlite")
    asked = asked_of(tmp_path / "queries", dsn, text, "q/far-page", other=other)
    if known:
        assert "page_key" in text_of(with_schema(asked))
        return
    with pytest.raises(UsageError, match="no key of notes is declared"):
        with_schema(asked)


@pytest.mark.parametrize(
    "change", ["drop table notes", "create temp table notes (id int)", "-- x\nuse other"]
)
def test_a_table_that_a_run_changes_is_not_known(tmp_path: Path, change: str) -> None:
    folder = tmp_path / "queries"
    folder.mkdir()
    (folder / "change.sql").write_text(change)
    (folder / "q.sql").write_text(PAGE)
    dsn = made_file(tmp_path, "sqlite")
    keys = {"workload": str(folder), "dsn": dsn, "remove": ["q/far-page"], "allow_writes": True}
    with pytest.raises(UsageError, match="no key of notes is declared"):
        with_schema(considered(request_of(options_of(keys), list(keys))))


def test_a_catalogue_that_cannot_be_read_refuses_only_the_rewritten_query(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn = made_file(tmp_path, "sqlite")
    asked = asked_of(tmp_path / "queries", dsn, PAGE, "q/far-page")

    def fail(*_: object) -> None:
        raise EngineError("permission denied")

    monkeypatch.setattr(type(asked.behaviour), "declared_tables", fail)
    with pytest.raises(UsageError, match="no key of notes is declared"):
        with_schema(asked)


def test_without_a_connection_only_what_the_server_may_know_is_left_open(tmp_path: Path) -> None:
    assert text_of(asked_of(tmp_path / "queries", CLOSED, PAGE, "q/far-page")) == PAGE
    with pytest.raises(UsageError, match="no key of notes is declared"):
        asked_of(tmp_path / "by_jdbc", "jdbc:unheard://x", PAGE, "q/far-page")
    with pytest.raises(EngineError):
        with_schema(asked_of(tmp_path / "closed", CLOSED, PAGE, "q/far-page"))


def test_the_types_of_all_engines_are_recorded_alike(tmp_path: Path) -> None:
    asked = asked_of(tmp_path / "queries", CLOSED)
    of_server = {
        "a": "character varying(20)",
        "b": "timestamp without time zone",
        "c": "numeric(10,2)",
        "d": "",
        "e": "Mood",
    }
    workload = with_server_tables(asked.workload, {"notes": DeclaredColumns(of_server)})
    types = replace(asked, workload=workload).schema()["tables"]["notes"]
    assert types == {
        "a": "varchar(20)",
        "b": "timestamp",
        "c": "decimal(10, 2)",
        "d": "",
        "e": "mood",
    }
