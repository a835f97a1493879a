"""Experiment that stores computed values in columns, which a query then reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from assay.engines.advice import CannotError
from assay.model.errors import UsageError
from assay.model.sql import column_statement
from assay.running.asked.asking import considered
from assay.running.asked.parsing import PARAMETERS_DEFAULT
from assay.study.experiments.contract import ChangedRun, Experiment
from assay.study.experiments.statements import UNDO
from assay.workloads.choosing import only
from assay.workloads.discovery import find_workload
from assay.workloads.effects import effect_of
from assay.workloads.rewriting import STORED_VALUES
from assay.workloads.rewriting.grammar import types_of
from assay.workloads.rewriting.stored import computes, is_large, no_text_in

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest
    from assay.workloads.contract import Workload
    from assay.workloads.rewriting.stored import StoredValue

KIND: Final = "stored-values"
COLLATION = re.compile(r"\b(?:collate|charset|character\s+set)\b", re.IGNORECASE)
UPDATES = re.compile(r"^update\b", re.IGNORECASE | re.MULTILINE)
TRIGGER = re.compile(r"\bcreate\s+(?:temp\w*\s+)?trigger\b", re.IGNORECASE)
# Word of a template whose column the engine computes anew for each row that is written.
GENERATED = "generated"


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    if request.dsn is not None:
        raise CannotError("it adds columns to a table, and the server is not Assay's own")
    facts, operation = engine.advising(), advice.subject
    if KIND not in facts.statements:
        raise CannotError("it has no statement that adds a column with a computed value")
    try:
        workload = only(find_workload(request.workload), [operation])
        seed = None if request.parameters == PARAMETERS_DEFAULT else request.seed
        values, left = workload.storable(operation, engine.facts.dialects, request.scale, seed)
    except UsageError as why:
        raise CannotError(f"{operation}: {why}") from why
    if "large" in advice.values and (large := _large(workload, left, request.scale)):
        raise CannotError(f"{operation} also reads {', '.join(large)}, which may be large")
    template = (engine.folder / facts.statements[KIND]).read_text(encoding="utf-8")
    _check(values, template, request, workload, engine)
    # Another operation's change may have stored the same computation.
    stored = "".join(request.prepare.values())
    sql = "".join(
        column_statement(
            template, value.table, value.column, value.type, value.expression, facts.quote
        )
        for value in values
        if value.column not in stored
    )
    label = f"{operation} with stored {', '.join(value.expression for value in values)}"
    if "indexed" in advice.values:
        index = _index(engine, values, advice.values["indexed"])
        sql += index if index not in stored else ""
        label += " and an index"
    changed = request.changed(
        prepare={**request.prepare, label: sql} if sql else request.prepare,
        remove=[*request.remove, f"{operation}/{STORED_VALUES}"],
    )
    return ChangedRun(label, changed)


def _check(
    values: list[StoredValue],
    template: str,
    request: RunRequest,
    workload: Workload,
    engine: EngineFolder,
) -> None:
    """Raise `CannotError` if stored values may differ from those that the query computes."""
    dialects = engine.facts.dialects
    scripts = [*workload.setup(dialects, request.scale).values()]
    types = types_of(tuple(scripts), dialects)
    for value in values:
        if (column := no_text_in(value, types.get(value.table, {}))) is not None:
            raise CannotError(f"the type of {value.expression} depends on that of {column}")
    if any(map(_may_be_text, values)) and any(map(COLLATION.search, scripts)):
        raise CannotError("a column's collation would not be that of the stored values")
    if UPDATES.search(template) and any(map(TRIGGER.search, (*scripts, *request.prepare.values()))):
        raise CannotError("it updates each row, which may start a trigger")
    if GENERATED not in template and (writing := writing_operation(request)) is not None:
        raise CannotError(f"{writing} may change rows, and stored values would not follow")


def _index(engine: EngineFolder, values: list[StoredValue], expression: str) -> str:
    """Return the SQL that creates an index on the column with an expression's values.

    Raises:
        CannotError: If no stored value is that of the expression.
    """
    facts, dialects = engine.advising(), engine.facts.dialects
    value = next((value for value in values if computes(value, expression, dialects)), None)
    if value is None or "index" not in facts.statements:
        raise CannotError(f"no column that an index can have holds the value of {expression}")
    template = (engine.folder / facts.statements["index"]).read_text(encoding="utf-8")
    return facts.statement(template, value.table, [value.column])


def _may_be_text(value: StoredValue) -> bool:
    """Return True if a stored value may be a text, whose order depends on a collation."""
    return not value.type or value.type.lower().startswith(("text", "char", "varchar"))


def writing_operation(request: RunRequest) -> str | None:
    """Return an operation of a run that may change rows; None if none does.

    Raises:
        UsageError: If the request is invalid.
    """
    asked = considered(request)
    for operation in asked.plain_script.operations:
        texts = [statement.text for statement in operation.statements]
        if operation.program is not None or any(
            effect_of(text, asked.dialects).kind != "reads" for text in texts
        ):
            return operation.name
    return None


def _large(workload: Workload, columns: list[str], scale: float) -> list[str]:
    """Return the columns whose values may be large, or whose type is not known."""
    types = {
        name: kind
        for types in workload.column_types((), scale).values()
        for name, kind in types.items()
    }
    return [column for column in columns if column not in types or is_large(types[column])]


experiment = Experiment(
    kind=KIND,
    changes="the columns of a table, what each write to it costs, and the text of a query",
    set_up=(
        "columns with the computed values are added to the loaded data before anything is timed,"
        " and the query reads them"
    ),
    undo=UNDO,
    follow=_follow,
)
