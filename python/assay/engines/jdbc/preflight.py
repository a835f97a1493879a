"""Explains a user's statements on products behind JDBC whose EXPLAIN is known.

JDBC has no portable way to prepare a statement: some drivers send nothing to the database, and some
execute it. Each product's own EXPLAIN, which executes nothing, is used instead.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.engines.bridge.errors import BridgeError
from assay.engines.bridge.statements import bound, split
from assay.engines.checking import Refusal, RefusalKind, Tried

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engines.bridge.link import Link
    from assay.engines.checking import Trial

# Dialects by the product's name in the URL, after `jdbc:`.
GRAMMARS = {
    "postgresql": ("postgresql",),
    "mysql": ("mysql",),
    "mariadb": ("mariadb", "mysql"),
    "sqlite": ("sqlite",),
    "duckdb": ("duckdb", "postgresql"),
}
# Product names, as drivers report them, whose EXPLAIN executes nothing.
EXPLAINING = {"PostgreSQL", "MySQL", "MariaDB", "SQLite", "DuckDB", "H2"}
EXPLAIN = "explain "
# First words of statements that all these products can explain.
EXPLAINED = {"select", "with", "insert", "update", "delete", "values", "table"}
KINDS: dict[str, RefusalKind] = {
    "42P01": "table",
    "42S02": "table",
    "42703": "column",
    "42S22": "column",
    "42883": "function",
    "3F000": "schema",
    "42501": "permission",
    "42601": "syntax",
}
OF_THE_SERVER = ("08", "25", "40", "53", "55", "57", "58", "XX")
NAME = re.compile(r"[\"'`]([\w.$]+)[\"'`]|\bcolumn ([\w.]+)")
POSITION = re.compile(r"\s*Position: (\d+)\s*$")
UNTRIED = "JDBC does not say how this product explains a statement"
NOT_EXPLAINED = "it is no statement that can be explained"


def dialects_at(dsn: str) -> tuple[str, ...]:
    """Return the dialects of the product that a JDBC URL names."""
    return GRAMMARS.get(dsn.split(":")[1] if ":" in dsn else "", ())


def try_statements(link: Link, operations: Sequence[Sequence[Trial]]) -> list[list[Tried]]:
    """Prepare statements by JDBC with EXPLAIN, and return refusals and costs."""
    return [[_tried(link, trial) for trial in trials] for trials in operations]


def _tried(link: Link, trial: Trial) -> Tried:
    if link.product not in EXPLAINING or trial.values is None:
        return Tried(untried=UNTRIED)
    statements = split(trial.text)
    if not statements or statements[0].split()[0].lower().lstrip("(") not in EXPLAINED:
        return Tried(untried=NOT_EXPLAINED)
    text, values = bound(EXPLAIN + trial.text, trial.values)
    try:
        link.ask(text, values)
    except BridgeError as error:
        if error.lost:
            raise
        return _refused(error, trial.text)
    return Tried()


def _refused(error: BridgeError, text: str) -> Tried:
    message, position = str(error), None
    match = POSITION.search(message)
    if match is not None:
        message = POSITION.sub("", message)
        position = min(len(text) - 1, max(0, int(match[1]) - 1 - len(EXPLAIN)))
    message = message.removeprefix("ERROR: ")
    if error.sqlstate.startswith(OF_THE_SERVER):
        return Tried(untried=f"the database said: {message}")
    kind = KINDS.get(error.sqlstate, "other")
    named = NAME.search(message)
    name = next(filter(None, named.groups()), None) if named else None
    return Tried(Refusal(kind, message, name, position))
