"""Texts of triggers: the operations that fire one, and what it reads for each changed row."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.analysis.findings.changing import CHANGES
from assay.model.finding import Evidence
from assay.model.sql import without_remarks

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.catalogue import TriggerText

CHEAPER = "make the trigger cheaper, or remove it"
_LITERAL = re.compile(r"'(?:[^'\\]|''|\\.)*'")
_NAME = r"[`\"]?(?:\w+[`\"]?\.[`\"]?)?(\w+)"
_READ = re.compile(rf"\b(?:from|join)\s+{_NAME}", re.IGNORECASE)
# An aggregate without groups, of one table: it reads all rows that its condition finds.
_AGGREGATE = re.compile(
    rf"\bselect\s+(count|sum|min|max|avg)\s*\((?:(?!\bselect\b)[^;])*?\bfrom\s+{_NAME}",
    re.IGNORECASE,
)


def text_of(case: Case, trigger: str) -> TriggerText | None:
    """Return a trigger's definition by its name; None if it is unknown or not the only one.

    The engine's name of the trigger may include its schema.
    """
    name = trigger.rpartition(".")[2].lower()
    named = [text for text in case.trigger_texts if text.name.lower() == name]
    return named[0] if len(named) == 1 else None


def firing(case: Case, text: TriggerText | None) -> list[str]:
    """Return the operations that fire a trigger; without its text, all that change rows."""
    changing = [
        op
        for op, statement in case.statements.items()
        if op in case.shares and CHANGES.search(statement)
    ]
    named = [
        op
        for op in changing
        if text is not None
        and re.search(rf"\b{re.escape(text.table)}\b", case.statements[op], re.IGNORECASE)
    ]
    # A trigger of another table may fire this one.
    return named or changing or list(case.shares)


def reads_evidence(text: TriggerText | None) -> list[Evidence]:
    """Return evidence of what a trigger reads in each call; empty if it reads no table."""
    if text is None:
        return []
    when = f"for each {text.event} on {text.table}"
    aggregates = aggregated(text)
    if aggregates:
        over = " and ".join(dict.fromkeys(table for _, table in aggregates))
        functions = ", ".join(dict.fromkeys(function for function, _ in aggregates))
        sentence = f"{text.name} computes {functions} over rows of {over} {when}"
    elif tables := _tables(text):
        sentence = f"{text.name} reads {' and '.join(tables)} {when}"
    else:
        return []
    return [Evidence(sentence, f"catalogue:{text.table}")]


def cheaper_text(text: TriggerText | None) -> str:
    """Return the advice to make a trigger cheaper."""
    aggregates = [] if text is None else aggregated(text)
    if text is None or not aggregates:
        return CHEAPER
    over = " and ".join(dict.fromkeys(table for _, table in aggregates))
    return (
        f"let trigger {text.name} change the stored result by the changed row alone, instead of "
        f"computing it from {over} in each call, or remove it"
    )


def aggregated(text: TriggerText) -> list[tuple[str, str]]:
    """Return the aggregates that a trigger computes without groups, each with its table."""
    return [(match[1].lower(), match[2]) for match in _AGGREGATE.finditer(_bare(text))]


def _tables(text: TriggerText) -> list[str]:
    return list(dict.fromkeys(match[1] for match in _READ.finditer(_bare(text))))


def _bare(text: TriggerText) -> str:
    """Return a trigger's text without remarks and literals."""
    return _LITERAL.sub("''", without_remarks(text.body))
