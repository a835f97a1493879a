"""Changes loaded data in an experiment by an engine's SQL files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.study.experiments.contract import ChangedRun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engines.advice import Doing
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest

# Each run has its own copy of the data, or loads them.
SET_UP = "the statement is run on the loaded data before anything is timed"
UNDO = "the copy of the data is dropped with the run"


def prepared_with(
    doing: Doing,
    request: RunRequest,
    advice: Advice,
    engine: EngineFolder,
    label: str | None = None,
) -> ChangedRun:
    """Return a run with one more SQL change of its data after loading.

    `label` names the change; None means the kind of the advice with its tables and columns.

    Raises:
        CannotError: If the engine has no such statement.
    """
    facts = engine.advising()
    if doing not in facts.statements:
        raise CannotError(facts.without.get(doing, f"it has no statement for {doing}"))
    template = (engine.folder / facts.statements[doing]).read_text(encoding="utf-8")
    sql = "".join(
        facts.statement(
            template,
            table,
            part.columns,
            expression=part.values.get("expression"),
            method=part.values.get("method"),
            predicate=part.values.get("predicate"),
        )
        for part in advice.parts
        for table in part.tables
    )
    label = label or label_of(advice)
    return ChangedRun(label, request.changed(prepare={**request.prepare, label: sql}))


def without_existing(
    request: RunRequest, engine: EngineFolder, doing: Doing, table: str, names: Sequence[str]
) -> RunRequest:
    """Return a run whose triggers or indexes of these names are switched off or dropped.

    Without a known table, the engine's statement does not need one.

    Raises:
        CannotError: If the run is on a server of others, or if the engine has no such statement.
    """
    if request.dsn is not None:
        raise CannotError("what it drops may be needed, and the server is not Assay's own")
    facts = engine.advising()
    if doing not in facts.statements:
        raise CannotError(f"it has no statement for {doing}")
    template = (engine.folder / facts.statements[doing]).read_text(encoding="utf-8")
    sql = "".join(facts.statement(template, table, existing=name) for name in names)
    return request.changed(prepare={**request.prepare, f"without {', '.join(names)}": sql})


def label_of(advice: Advice) -> str:
    """Return the name of a change of tables, such as `index of orders using gin (customer)`."""
    return f"{advice.kind} of {' and '.join(map(_part_label, advice.parts))}"


def _part_label(advice: Advice) -> str:
    columns = advice.columns or [text for text in (advice.values.get("expression"),) if text]
    method = advice.values.get("method")
    return (
        ", ".join(advice.tables)
        + (f" using {method}" if method else "")
        + (f" ({', '.join(columns)})" if columns else "")
        + (f" where {advice.values['predicate']}" if "predicate" in advice.values else "")
    )
