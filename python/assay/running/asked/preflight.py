"""Has the engine prepare every statement before anything is timed, and reports errors.

Statements that cannot be executed end the run before it starts. The error has a line for each with
its file, line number and the most similar existing name.
"""

from __future__ import annotations

import difflib
import re
import time
from typing import TYPE_CHECKING, Any

from assay.engines.checking import Trial, TriesStatements
from assay.model.errors import UsageError
from assay.model.language import SQL
from assay.running.asked.played import played_statements
from assay.workloads.queries import tables_named
from assay.workloads.rewriting.grammar import grammar_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.engines.checking import KnownTable, Refusal
    from assay.engines.contract import Instance
    from assay.running.asked.played import PlayedRun, PlayedStatement

# Minimum similarity of a suggested name.
NEAR = 0.6
NAMES_MAX = 6
MADE = re.compile(
    r"(?i)\bcreate\b[^;(]*?\b(?:table|view|function|procedure|schema|sequence|type)\s+"
    r"(?:if\s+not\s+exists\s+)?([\w.\"`]+)|\binto\s+(?:temp\w*\s+|unlogged\s+)?(?:table\s+)?([\w.]+)"
)
UNTRIED = "this engine prepares no statement without executing it"
OF_NAMES = ("table", "column", "function", "schema")


def check_tables(asked: PlayedRun) -> None:
    """Refuse queries of tables that a private engine does not have, because it starts empty.

    Raises:
        UsageError: If tables are missing. The error message names them, and how to choose a server
            that has them.
    """
    request, facts = asked.request, asked.engine.facts
    others = request.dsn is not None or asked.workload.makes_data or request.prepare
    if others or facts.kind == "none" or asked.language != SQL:
        return
    operations, grammar = played_statements(asked), grammar_of(asked.dialects)
    made = made_names(statement.text for statements in operations for statement in statements)
    missing = [
        (statement, sorted(tables_named(statement.text, grammar) - made))
        for statements in operations
        for statement in statements
    ]
    tables = sorted({name for _, names in missing for name in names})
    if not tables:
        return
    first = next(statement for statement, names in missing if names)
    raise UsageError(
        f"{first.place()}: {_some(tables)} {'does' if len(tables) == 1 else 'do'} not exist:"
        f" {facts.title} starts empty for each run, and {asked.workload.folder} makes no tables."
        " Name a server that has the tables with --dsn ADDRESS, or create them in"
        " schema/tables.sql of the folder"
    )


def preflight(
    operations: Sequence[Sequence[PlayedStatement]], engine: object, instance: Instance
) -> dict[str, Any]:
    """Have the engine prepare all statements, and return its cost estimates for the record.

    Raises:
        UsageError: If statements cannot be executed. The error message has a line for each.
        EngineError: If the connection is lost.
    """
    if not isinstance(engine, TriesStatements):
        return {"seconds": None, "reason": UNTRIED, "statements": []}
    begun_s = time.monotonic()
    trials = [
        [Trial(played.text, played.values) for played in statements] for statements in operations
    ]
    tried = engine.try_statements(instance, trials)
    made = made_names(trial.text for statements in trials for trial in statements)
    refused, rows = [], []
    for statements, results in zip(operations, tried, strict=True):
        for number, (statement, result) in enumerate(zip(statements, results, strict=True)):
            refusal, untried = result.refusal, result.untried
            if refusal is not None and _is_made(refusal, made):
                refusal, untried = None, "an operation of the run makes what it needs"
            if refusal is not None:
                refused.append((statement, refusal))
            facts = {"cost": result.cost, "rows": result.rows, "untried": untried}
            rows.append({"operation": statement.operation, "statement": number, **facts})
    if refused:
        tables = []
        if any(refusal.name is not None for _, refusal in refused):
            tables = engine.known_tables(instance)
        lines = "\n".join(
            f"  {_line(statement, refusal, tables)}" for statement, refusal in refused
        )
        raise UsageError(
            f"{len(refused)} of {len(rows)} statements cannot be executed on this server, so "
            f"nothing was measured:\n{lines}"
        )
    return {"seconds": time.monotonic() - begun_s, "reason": None, "statements": rows}


def _line(statement: PlayedStatement, refusal: Refusal, tables: Sequence[KnownTable]) -> str:
    mend = ""
    if refusal.grant is not None:
        mend = f"; what is missing: {refusal.grant}"
        name = _bare(refusal.name or "")
        if name and all(table.name.lower() != name for table in tables):
            # Without a permission, some servers do not report whether a table exists.
            mend += "; if there is no such table" + _near_table(name, tables).replace(";", ":", 1)
    elif refusal.kind == "table" and refusal.name is not None:
        mend = _near_table(_bare(refusal.name), tables)
    elif refusal.kind == "column" and refusal.name is not None:
        mend = _near_column(_bare(refusal.name), statement.text, tables)
    return f"{statement.place(refusal.position)}: {refusal.message}{mend}"


def _near_table(name: str, tables: Sequence[KnownTable]) -> str:
    if not tables:
        return ""
    elsewhere = [table for table in tables if table.name.lower() == name and not table.visible]
    if elsewhere:
        schema = elsewhere[0].schema
        return f'; it is in schema "{schema}": write {schema}.{elsewhere[0].name}'
    near = _nearest(name, [table.name for table in tables])
    if near is not None:
        table = next(table for table in tables if table.name == near)
        shown = near if table.visible else f"{table.schema}.{near}"
        return f'; the nearest name is "{shown}"'
    return f"; there are {_some([table.name for table in tables])}"


def _near_column(name: str, text: str, tables: Sequence[KnownTable]) -> str:
    named = [table for table in tables if re.search(rf"(?i)\b{re.escape(table.name)}\b", text)]
    near = _nearest(name, [column for table in named for column in table.columns])
    if near is not None:
        table = next(table for table in named if near in table.columns)
        return f'; the nearest name is "{near}" of table {table.name}'
    if len(named) == 1:
        return f"; table {named[0].name} has {_some(named[0].columns)}"
    return ""


def _nearest(name: str, names: Iterable[str]) -> str | None:
    by_small = {each.lower(): each for each in names}
    near = difflib.get_close_matches(name, list(by_small), n=1, cutoff=NEAR)
    return by_small[near[0]] if near else None


def _bare(name: str) -> str:
    """Return a table's name in lower case, without qualifier and quotes."""
    return name.rpartition(".")[2].strip('"`[]').lower()


def made_names(texts: Iterable[str]) -> frozenset[str]:
    """Return the names of objects that statements create."""
    matches = (match for text in texts for match in MADE.finditer(text))
    return frozenset(_bare(match[1] or match[2]) for match in matches)


def _is_made(refusal: Refusal, made: frozenset[str]) -> bool:
    return refusal.name is not None and refusal.kind in OF_NAMES and _bare(refusal.name) in made


def _some(names: Sequence[str]) -> str:
    """Return text with the first names, and the number of further ones."""
    shown = ", ".join(names[:NAMES_MAX])
    return f"{shown} and {len(names) - NAMES_MAX} more" if len(names) > NAMES_MAX else shown
