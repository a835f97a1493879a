"""Advice for row estimates that statistics of single columns cannot make right."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from assay.analysis.findings.engine_facts import known_table, table_advice
from assay.model.sql import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.analysis.findings.case import Case
    from assay.model.catalogue import Statistics
    from assay.model.finding import Advice
    from assay.model.plan import PlanNode

KIND: Final = "extended-statistics"
# The maximum number of columns and expressions of one statistics object.
COLUMNS_MAX = 8
# Statistics of one column are gathered anyway.
COLUMNS_MIN = 2
# Kinds of statistics that are about the values of columns together, not only their number.
OF_VALUES = {"dependencies", "mcv", "expressions"}
BITMAP_SCAN, ANY_OF = "bitmap scan", "or"
_SPACES = re.compile(r"[\s()]+")


@dataclass(frozen=True)
class Wanted:
    """Columns and expressions of one table whose statistics would make an estimate right."""

    reader: PlanNode
    columns: tuple[str, ...]
    expressions: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the table with its columns and expressions as text."""
        return f"{self.reader.object} ({', '.join((*self.columns, *self.expressions))})"

    def is_in(self, existing: Statistics) -> bool:
        """Return True if a statistics object is about all these columns and expressions."""
        table, schema = self.reader.object, self.reader.schema
        if existing.table != table or schema not in (None, existing.schema):
            return False
        definition = _SPACES.sub("", existing.definition).casefold()
        are_there = (_SPACES.sub("", text).casefold() in definition for text in self.expressions)
        columns = {column.casefold() for column in existing.columns}
        is_of_values = bool(OF_VALUES & set(existing.kinds))
        return is_of_values and columns >= set(map(str.casefold, self.columns)) and all(are_there)


def extended_statistics(case: Case, readers: Sequence[PlanNode], gain: float) -> Advice | None:
    """Return advice to create statistics of all columns in conditions, or of their expressions.

    Optimisers assume that columns are independent, and guess the result of an expression. None if
    the engine has no such statistics, if the conditions restrict a single column, or columns by
    ranges only, or if the statistics exist.

    Args:
        case: The run.
        readers: Plan nodes that read the tables. The advice is about all of them together.
        gain: Predicted share of the run's time that right estimates save.
    """
    lacking = [each for each in _wanted(case, readers) if _existing(case, each) is None]
    if not lacking:
        return None
    first, *others = (_advice(case, each, gain) for each in lacking)
    return replace(first, also=tuple(others))


def existing_statistics(case: Case, readers: Sequence[PlanNode]) -> tuple[str, bool] | None:
    """Return statistics that exist and would be advised, and whether they were gathered.

    They are given as text. None if an estimate of one of the tables lacks statistics, or needs
    none.
    """
    wanted = _wanted(case, readers)
    found = [(each, _existing(case, each)) for each in wanted]
    existing = [(each, known) for each, known in found if known is not None]
    if not existing or len(existing) < len(found):
        return None
    text = " and ".join(f"{known.name} of {each.text}" for each, known in existing)
    return text, all(known.gathered is not False for _, known in existing)


def _wanted(case: Case, readers: Sequence[PlanNode]) -> list[Wanted]:
    """Return the statistics that the conditions of the readers need, one entry for each table."""
    wanted: dict[str | None, Wanted] = {}
    for reader in readers if case.can(KIND) else ():
        if reader.object not in wanted and (of_reader := _wanted_by(reader)) is not None:
            wanted[reader.object] = of_reader
    return list(wanted.values())


def _wanted_by(reader: PlanNode) -> Wanted | None:
    condition = read_condition(reader)
    if not condition or reader.object is None:
        return None
    # Only few runs need the SQL library, which takes a tenth of a second to import.
    from assay.analysis.plans.restrictions import restrictions

    found = restrictions(condition, reader.object)
    columns = tuple(dict.fromkeys(each.column for each in found if each.column is not None))
    expressions = tuple(dict.fromkeys(each.expression for each in found if each.expression))
    # Of ranges alone, only a list of the most frequent values would help, and it covers few values.
    is_about_columns = len(columns) >= COLUMNS_MIN and any(each.is_equal for each in found)
    if len(columns) + len(expressions) > COLUMNS_MAX or not (is_about_columns or expressions):
        return None
    return Wanted(reader, columns, expressions)


def read_condition(reader: PlanNode) -> str | None:
    """Return the condition on the rows of a table: of the index searches below, and of the reader.

    An index search for one of several alternatives is left out.
    """
    conditions = dict.fromkeys((*_searched(reader), reader.condition))
    return "; ".join(filter(None, conditions)) or None


def _searched(reader: PlanNode) -> Iterator[str | None]:
    for below in reader.children:
        is_part = below.operator == BITMAP_SCAN and below.object is None
        if is_part and not below.native.lower().endswith(ANY_OF):
            yield from _searched(below)
            yield below.condition


def _existing(case: Case, wanted: Wanted) -> Statistics | None:
    return next((each for each in case.statistics if wanted.is_in(each)), None)


def _advice(case: Case, wanted: Wanted, gain: float) -> Advice:
    reader = wanted.reader
    name = known_table(case.tables, reader) or str(reader.object)
    advice = table_advice(KIND, name, reader, gain)
    return replace(advice, values={**advice.values, **_values(case, wanted)})


def _values(case: Case, wanted: Wanted) -> dict[str, str]:
    if not wanted.expressions:
        return {"columns": ", ".join(wanted.columns)}
    quote = str(case.advice.get("quote", '"'))
    names = [quoted(column, quote) for column in wanted.columns]
    return {"expression": ", ".join([*names, *(f"({text})" for text in wanted.expressions)])}


def effect_words(advice: Advice) -> str:
    """Return what such advice does, as a clause without a subject."""
    does = (
        "gathers a histogram"
        if advice.kind == "histogram"
        else "makes statistics (`create statistics`)"
    )
    parts = (
        f"{part.subject} ({part.values.get('columns') or part.values['expression']})"
        for part in advice.parts
    )
    return f"{does} of {' and of '.join(parts)}"


def statistics_words(table: str | None, condition: str | None) -> str:
    """Return what to do by hand about a condition's wrong estimate, if no advice can be tried."""
    of = f" of {table}" if table else ""
    return f"gather more detailed statistics{of}" + (f", for {condition}" if condition else "")


def in_vain_words(existing: str) -> str:
    """Return what is left to do about a wrong estimate if the statistics for it exist."""
    return (
        f"the statistics {existing} exist and do not make the estimate right: let them hold more "
        "values (a larger statistics target), or rewrite the condition"
    )
