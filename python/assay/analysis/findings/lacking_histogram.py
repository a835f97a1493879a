"""Advice for row estimates of a column that the optimiser guesses, for want of an index."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from assay.analysis.findings.engine_facts import known_table, table_advice

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Advice
    from assay.model.plan import PlanNode

KIND: Final = "histogram"


def histogram(case: Case, reader: PlanNode, condition: str | None, gain: float) -> Advice | None:
    """Return advice to gather a histogram of the only column that a condition restricts.

    Such an optimiser counts the rows of a value in an index, and guesses them without one. None if
    the engine has no histograms on demand, if the condition restricts several columns or an
    expression, if an index begins with the column, or if the table's indexes are not known.

    Args:
        case: The run.
        reader: Plan node that reads the table.
        condition: Condition on the table's rows, as the plan has it.
        gain: Predicted share of the run's time that a right estimate saves.
    """
    if not condition or reader.object is None or not case.can(KIND) or case.indexes is None:
        return None
    # Only few runs need the SQL library, which takes a tenth of a second to import.
    from assay.analysis.plans.restrictions import restrictions

    found = restrictions(condition, reader.object)
    columns = {each.column for each in found}
    if len(columns) != 1:
        return None
    (column,) = columns
    name = known_table(case.tables, reader) or reader.object
    indexes = case.indexes_of(reader.object, reader.schema)
    if column is None or any(_begins_with(index.columns, column) for index in indexes):
        return None
    advice = table_advice(KIND, name, reader, gain)
    return replace(advice, values={**advice.values, "columns": column})


def _begins_with(columns: tuple[str, ...], column: str) -> bool:
    return bool(columns) and columns[0].lower() == column.lower()
