"""Engines in memory for tests that execute many queries, each on tables of its own.

An engine is started once for all of them. Tables are made in a transaction and rolled back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import duckdb

ENGINES = ("sqlite", "duckdb")
Row = tuple[Any, ...]


@cache
def connection(engine: str) -> Any:
    """Return the one connection to an engine, without tables."""
    if engine == "sqlite":
        return sqlite3.connect(":memory:", isolation_level=None)
    return duckdb.connect()


@contextmanager
def tables_in(engine: str, tables: Mapping[str, tuple[str, Sequence[Row]]]) -> Iterator[Any]:
    """Give a connection that sees these tables; `tables`: definition and rows of each, by name."""
    connected = connection(engine)
    connected.execute("begin")
    try:
        for name, (definition, rows) in tables.items():
            connected.execute(definition)
            if rows:
                places = ", ".join(["(" + ", ".join("?" * len(rows[0])) + ")"] * len(rows))
                values = [value for row in rows for value in row]
                connected.execute(" ".join(("insert into", name, "values", places)), values)
        yield connected
    finally:
        connected.execute("rollback")
