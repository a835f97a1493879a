"""Finds temporary tables that an operation creates and drops in each of its executions.

The table is an entry in the catalogue and a file. Where the operation changes nothing else, its
commit writes to the log only because of the table.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.operation_shares import statement_shares
from assay.analysis.findings.waiting.transactions import (
    BOUNDS,
    first_word,
    is_plain_read,
    statements_in,
)
from assay.model.finding import Evidence
from assay.model.temporary import created_temporary, dropped, gathers_statistics, written
from assay.model.units import percent_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "table-per-execution"
EFFECT_MIN = 0.05
TO_TRY = (
    "write one statement, with the rows of the table as a `with` query or a join; or create the "
    "temporary table once for each session and empty it, which takes time in each execution, too"
)
END = {"commit", "end"}


def find(case: Case) -> list[Finding]:
    """Return a finding for each operation that spends much time on tables of its own."""
    findings = [
        _finding(case, operation, tables)
        for operation in case.statement_times
        if operation in case.shares
        and (tables := _tables(statements_in(case.statements.get(operation, ""))))
    ]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _tables(statements: Sequence[str]) -> tuple[str, ...]:
    """Return the temporary tables that an operation creates."""
    names = map(created_temporary, statements)
    return tuple(dict.fromkeys(name for name in names if name is not None))


def _finding(case: Case, operation: str, tables: Sequence[str]) -> Finding:
    statements = statements_in(case.statements[operation])
    shares = statement_shares(case, operation)
    made = _sum(shares, [place for place, text in enumerate(statements) if _makes(text, tables)])
    filled = _sum(shares, [place for place, text in enumerate(statements) if _fills(text, tables)])
    ended = 0.0
    if _changes_nothing_else(statements, tables):
        ends = [place for place, text in enumerate(statements) if first_word(text) in END]
        ended = _sum(shares, ends)
    fractions = {operation: made + ended}
    effect = case.of_run(fractions)
    commit = " and a commit that only the table needs" if ended else ""
    claim = (
        f"{operation} creates the temporary table {', '.join(tables)} in each execution: creating "
        f"and dropping it{commit} took {percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(
            f"of the time of {operation}: {percent_text(made)} in statements that create, analyze "
            f"or drop {', '.join(tables)}, {percent_text(filled)} in those that fill it"
            + (f", {percent_text(ended)} in the commit" if ended else ""),
            f"statements:{operation}",
        ),
        Evidence(
            f"{operation} creates {', '.join(tables)}"
            + (", and its other statements change no table" if ended else ""),
            f"statement:{operation}",
        ),
    ]
    finding = case.finding(METHOD, claim, fractions, to_try=TO_TRY, evidence=evidence)
    most = case.of_run({operation: made + filled + ended})
    return replace(finding.without_interval(), saved=(0.0, most))


def _sum(shares: Mapping[int, float], places: Sequence[int]) -> float:
    return sum(shares.get(place, 0.0) for place in places)


def _makes(statement: str, tables: Sequence[str]) -> bool:
    return (
        created_temporary(statement) in tables
        or dropped(statement) in tables
        or any(gathers_statistics(table, statement) for table in tables)
    )


def _fills(statement: str, tables: Sequence[str]) -> bool:
    return written(statement) in tables


def _changes_nothing_else(statements: Sequence[str], tables: Sequence[str]) -> bool:
    """Return True if all other statements of an operation are plain queries."""
    return all(
        first_word(text) in BOUNDS
        or _makes(text, tables)
        or _fills(text, tables)
        or is_plain_read(text)
        for text in statements
    )
