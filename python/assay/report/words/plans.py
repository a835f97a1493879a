"""Phrases on a query plan's statement and its reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.operation_shares import names_text
from assay.model.units import bytes_text, count_text, seconds_text
from assay.report.words.wrapping import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.plans.plan_difference import PlanDifferenceRow
    from assay.report.documents.plans.plans import (
        MissingPlan,
        OperatorName,
        PlanOperator,
        StatementPlan,
    )

NAMES_SHOWN = 6


def statement_words(plan: StatementPlan | MissingPlan | PlanDifferenceRow) -> str:
    """Return the text `statement NAME` for a plan, with the number if it has no name."""
    return f"statement {plan['name'] or plan['statement'] + 1}"


def node_words(node: OperatorName | PlanOperator) -> str:
    """Return text with an operator's name, table and index."""
    index = f"by {node['index']}" if node["index"] else ""
    named = node["object"] if node["object"] and node["object"] not in node["native"] else ""
    return one_line(" ".join(part for part in (node["native"], named, index) if part))


def all_operators(node: PlanOperator) -> Iterator[PlanOperator]:
    """Yield an operator and all operators below it."""
    yield node
    for child in node["children"]:
        yield from all_operators(child)


def plan_times(plan: StatementPlan) -> list[str]:
    """Return texts on the times of a plan that are not zero."""
    return [
        f"{label} {seconds_text(seconds)}"
        for label, seconds in (
            ("execution", plan["execution_s"]),
            ("planning", plan["planning_s"]),
            ("generating code", plan["compiling_s"]),
        )
        if seconds
    ]


def plan_sizes(plan: StatementPlan) -> list[str]:
    """Return texts on the sizes of a plan, such as spilled bytes, that are not zero."""
    return [
        f"{label} {bytes_text(size)}"
        for label, size in (
            ("spilled", plan["spilled_bytes"]),
            ("read", plan["read_bytes"]),
            ("at most in memory", plan["memory_bytes"]),
        )
        if size
    ]


def reads_words(plan: StatementPlan) -> str:
    """Return text on the index and scan reads of a statement; empty if none is known."""
    reads = plan["reads"]
    if reads is None:
        return ""
    parts = [
        f"{label} {count_text(count)}"
        for label, count in (
            ("index lookups", reads["index_lookups"]),
            ("rows by index", reads["index_rows"]),
            ("rows by scans", reads["scan_rows"]),
        )
        if count is not None
    ]
    return f"{', '.join(parts) or 'not told'} ({reads['source']})"


def columns_words(plan: StatementPlan) -> Iterator[str]:
    """Yield text on how many columns of each table are read, and which are not needed."""
    for table in plan["tables"]:
        named = f"{len(table['needed'])} named"
        if table["read"] is None:
            yield f"{table['table']}: {named}; the columns that are read are not known"
            continue
        text = f"{table['table']}: {len(table['read'])} read, {named}"
        if table["unneeded"]:
            text += f"; not named: {names_text(table['unneeded'], NAMES_SHOWN)}"
        if table["unneeded_bytes"]:
            text += f", {bytes_text(table['unneeded_bytes'])} a row at most"
        yield text


# A smaller error factor of an estimate is not mentioned.
NOTABLE_FACTOR = 2.0
