"""Resolves the order in which rows and tables are loaded, if a run requests one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.model.errors import UsageError, suggestion
from assay.workloads.generate import column_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.running.asked.request import RunRequest
    from assay.workloads.contract import Workload

REST = "rest"
# Finds the table in a statement of a keys file.
ABOUT = re.compile(r'(?is)\b(?:alter\s+table|on)\s+(?:only\s+)?["`]?(\w+)')


@dataclass(frozen=True)
class LoadOrder:
    """The requested order of rows and tables during loading.

    Attributes:
        sorted_by: Columns that the rows of a table are sorted by before they are loaded.
        tables: All tables in loading order; empty means the engine's default order.
    """

    sorted_by: Mapping[str, Sequence[str]]
    tables: Sequence[str] = ()

    def identity(self) -> dict[str, Any]:
        """Return the requested load order, without options that were not given."""
        options: dict[str, Any] = {}
        if self.sorted_by:
            options["sorted_by"] = {table: list(self.sorted_by[table]) for table in self.sorted_by}
        if self.tables:
            options["load_order"] = list(self.tables)
        return options

    def facts(self, rows_by_key: str) -> dict[str, Any] | None:
        """Return the load order as run.json stores it; None without a request.

        Args:
            rows_by_key: Note on tables that the engine stores in key order regardless of the
                requested order.
        """
        note = rows_by_key or None
        document = {"sorted_by": {}, "load_order": [], **self.identity()}
        return document | {"note": note if self.sorted_by else None} if self.identity() else None

    def keys(self, statements: Sequence[str]) -> list[str]:
        """Return statements for keys and indexes, in the load order of their tables."""
        places = {table.lower(): place for place, table in enumerate(self.tables)}

        def place(statement: str) -> int:
            about = ABOUT.search(statement)
            return places.get(about[1].lower() if about else "", len(places))

        return sorted(statements, key=place)


def asked_order(request: RunRequest, tables: Sequence[str]) -> LoadOrder:
    """Return the requested load order of all tables."""
    given = request.load_order
    others = [table for table in tables if table not in given]
    if not given:
        ordered: list[str] = []
    elif REST in given:
        place = given.index(REST)
        ordered = [*given[:place], *others, *given[place + 1 :]]
    else:
        ordered = [*given, *others]
    return LoadOrder(dict(sorted(request.sorted_by.items())), ordered)


def parse_sorted(texts: Sequence[str]) -> dict[str, list[str]]:
    """Return columns by table, from texts such as `lineitem=l_shipdate,l_orderkey`.

    Raises:
        UsageError: If a text does not have that form, or names a table or column twice.
    """
    columns_by_table: dict[str, list[str]] = {}
    for text in texts:
        table, separator, listed = text.partition("=")
        columns = [name.strip() for name in listed.split(",")]
        if not separator or not table.strip() or not all(columns):
            raise UsageError(f"--sorted {text}: write it like --sorted lineitem=l_shipdate")
        if table.strip() in columns_by_table:
            raise UsageError(
                f"--sorted {table.strip()} is given twice: list several columns in one option, "
                "as in --sorted orders=o_orderdate,o_custkey"
            )
        if len(set(columns)) < len(columns):
            raise UsageError(f"--sorted {text} names a column twice")
        columns_by_table[table.strip()] = columns
    return columns_by_table


def parse_load_order(text: str | None) -> list[str]:
    """Return tables from a text such as `lineitem,orders,rest`; empty for None.

    Raises:
        UsageError: If a table is named twice, or there is an empty name.
    """
    if text is None:
        return []
    names = [name.strip() for name in text.split(",")]
    if not all(names) or names == [REST]:
        raise UsageError(
            f"--load-order {text}: list table names, such as lineitem,orders,rest. The word "
            "rest stands for all other tables, which come last by default"
        )
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"--load-order {text} names {twice} twice")
    return names


def check_order(request: RunRequest, workload: Workload, kind: str) -> None:
    """Refuse a load order with unknown tables or columns.

    Raises:
        UsageError: If a table or column is unknown. The error message lists the existing ones.
    """
    asked = request.sorted_by
    option = "--sorted" if asked else "--load-order"
    if not asked and not request.load_order:
        return
    if kind == "none":
        raise UsageError(f"{option}: {request.engine} stores no data: remove {option}")
    if request.dsn is not None:
        raise UsageError(
            f"{option} works only on a database that Assay starts, because the row order of a"
            f" running server's tables is unknown: remove --dsn, or sort the rows with --prepare"
        )
    if not workload.facts.tables:
        raise UsageError(
            f"{option}: the workload {workload.facts.name} loads no table: remove {option}"
        )
    _check_tables("--sorted", list(asked), workload.facts.tables)
    for table, columns in asked.items():
        names = column_names(workload.row_facts(request.scale), table)
        for name in columns:
            if name not in names:
                hint = suggestion(name, names)
                raise UsageError(f"--sorted: {table} has no column {name!r}; {hint}")
    named = [name for name in request.load_order if name != REST]
    _check_tables("--load-order", named, workload.facts.tables)


def _check_tables(option: str, named: Sequence[str], tables: Sequence[str]) -> None:
    for name in named:
        if name not in tables:
            hint = suggestion(name, list(tables))
            raise UsageError(f"{option}: the workload loads no table {name!r}; {hint}")
