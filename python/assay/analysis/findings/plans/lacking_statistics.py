"""Advice for row estimates that statistics of single columns cannot make right."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from assay.analysis.findings.engine_facts import known_table, table_advice
from assay.model.sql import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Advice
    from assay.model.plan import PlanNode

KIND: Final = "extended-statistics"
# The maximum number of columns and expressions of one statistics object.
COLUMNS_MAX = 8
# Statistics of one column are gathered anyway.
COLUMNS_MIN = 2


def extended_statistics(
    case: Case, reader: PlanNode, condition: str | None, gain: float
) -> Advice | None:
    """Return advice to gather statistics of all columns in a condition, or of its expressions.

    Optimisers assume that columns are independent, and guess the result of an expression. None if
    the engine has no such statistics, or if the condition restricts a single column, or columns by
    ranges only.

    Args:
        case: The run.
        reader: Plan node that reads the table.
        condition: Condition on the table's rows, as the plan has it.
        gain: Predicted share of the run's time that a right estimate saves.
    """
    if not condition or reader.object is None or not case.can(KIND):
        return None
    # Only few runs need the SQL library, which takes a tenth of a second to import.
    from assay.analysis.plans.restrictions import restrictions

    found = restrictions(condition, reader.object)
    columns = list(dict.fromkeys(each.column for each in found if each.column is not None))
    expressions = list(dict.fromkeys(each.expression for each in found if each.expression))
    # Of ranges alone, only a list of the most frequent values would help, and it covers few values.
    is_about_columns = len(columns) >= COLUMNS_MIN and any(each.is_equal for each in found)
    if len(columns) + len(expressions) > COLUMNS_MAX or not (is_about_columns or expressions):
        return None
    name = known_table(case.tables, reader) or reader.object
    advice = table_advice(KIND, name, reader, gain)
    return replace(advice, values={**advice.values, **_values(case, columns, expressions)})


def _values(case: Case, columns: Sequence[str], expressions: Sequence[str]) -> dict[str, str]:
    if not expressions:
        return {"columns": ", ".join(columns)}
    quote = str(case.advice.get("quote", '"'))
    names = [quoted(column, quote) for column in columns]
    return {"expression": ", ".join([*names, *(f"({text})" for text in expressions)])}


def effect_words(advice: Advice) -> str:
    """Return what such advice does, as a clause without a subject."""
    restricted = advice.values.get("columns") or advice.values["expression"]
    what = "a histogram" if advice.kind == "histogram" else "statistics"
    return f"gathers {what} of {advice.subject} ({restricted})"


def statistics_words(table: str | None, condition: str | None) -> str:
    """Return what to do by hand about a condition's wrong estimate, if no advice can be tried."""
    of = f" of {table}" if table else ""
    return f"gather more detailed statistics{of}" + (f", for {condition}" if condition else "")
