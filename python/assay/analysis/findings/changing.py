"""Makes the SQL statements for an advised change from the engine's `advice.toml`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from assay.model.finding import Change
from assay.model.sql import setting_statement, statement_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.model.finding import Advice

# Kinds of statements that change rows.
CHANGES = re.compile(r"\b(insert|update|delete|replace|merge)\b", re.IGNORECASE)
RESTART = "it takes effect when the server is restarted"
EACH_SETTING = "{limits} may use that much"


def change_of(advice: Advice, facts: Mapping[str, Any]) -> Change | None:
    """Return the SQL for an advised change; None if the engine declares no template for it.

    Args:
        advice: The advised change.
        facts: `engine.advice` of the record.
    """
    if (statement := advice.values.get("statement")) is not None:
        return Change(statement)
    running = (facts.get("running") or {}).get(advice.kind)
    if running is None:
        return None
    texts = facts.get("sql") or {}
    files = (running["make"], running.get("undo"))
    if advice.kind == "setting":
        statements = _setting(advice, facts, [texts.get(file) for file in files])
    else:
        quote = facts.get("quote", '"')
        statements = [
            None if (template := texts.get(file)) is None else _of_tables(advice, template, quote)
            for file in files
        ]
    make, undo = statements
    if make is None:
        return None
    return Change(make, undo, _costs(advice, facts, running))


def _of_tables(advice: Advice, template: str, quote: str) -> str:
    """Return the SQL of a template, one statement for each table in the advice."""
    statements = [
        statement_of(
            template,
            table,
            part.columns,
            expression=part.values.get("expression"),
            method=part.values.get("method"),
            predicate=part.values.get("predicate"),
            schema=part.values.get("schema"),
            quote=quote,
        ).strip()
        for part in advice.parts
        for table in part.tables
    ]
    return "\n".join(statements)


def is_of_session(advice: Advice, facts: Mapping[str, Any]) -> bool:
    """Return True if the advice is a setting that a session can change for itself."""
    declared = (facts.get("settings") or {}).get(advice.subject) or {}
    return advice.kind == "setting" and bool(declared.get("session"))


def _setting(
    advice: Advice, facts: Mapping[str, Any], templates: Iterable[str | None]
) -> list[str | None]:
    declared = (facts.get("settings") or {}).get(advice.subject)
    if declared is None or "value" not in advice.values:
        return [None, None]
    value = advice.values["value"]
    if declared.get("values", "switch") == "switch":
        value = declared.get(value, value)
    return [
        None
        if template is None
        else setting_statement(template, declared["name"], _of_size(value, declared, facts)).strip()
        for template in templates
    ]


def _of_size(value: str, declared: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    """Return a size as SQL text: with a unit if the engine's SQL takes units, else in bytes."""
    unit_sizes = (facts.get("sizes") or {}) if facts.get("sizes_in_sql") else {}
    if declared.get("values") != "bytes" or not value.isdecimal() or not unit_sizes:
        return value
    size, units = int(value), sorted(unit_sizes.items(), key=lambda pair: -pair[1])
    for word, step in units:
        if size >= step and size % step == 0:
            return f"{size // step}{word}"
    word, step = units[-1]
    return f"{-(-size // step)}{word}"


def _costs(advice: Advice, facts: Mapping[str, Any], running: Mapping[str, Any]) -> str:
    declared = (facts.get("settings") or {}).get(advice.subject) or {}
    clauses = [running["costs"]]
    if is_of_session(advice, facts) and running.get("session"):
        clauses.append(running["session"])
    if advice.kind == "setting" and declared.get("limits"):
        clauses.append(EACH_SETTING.format(limits=declared["limits"]))
    if advice.kind == "setting" and declared.get("restart"):
        clauses.append(RESTART)
    return "; ".join(clauses)
