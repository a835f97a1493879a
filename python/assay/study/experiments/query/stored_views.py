"""Experiment in which a query reads tables with the rows of the views that rank rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.model.errors import UsageError
from assay.record.layout import STORED_VIEWS
from assay.study.experiments.contract import ChangedRun, Experiment
from assay.study.experiments.query.form import in_other_form
from assay.study.experiments.statements import UNDO
from assay.study.experiments.stored_values import writing_operation
from assay.workloads.discovery import find_workload
from assay.workloads.rewriting.views import ranking_views, storing_statement

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    if request.dsn is not None:
        raise CannotError("it creates tables, and the server is not Assay's own")
    if (writing := writing_operation(request)) is not None:
        raise CannotError(f"{writing} may change rows, and a stored view would not follow")
    operations = [part.subject for part in advice.parts]
    views = [name for operation in operations for name in _views(request, engine, operation)]
    names, changed = list(dict.fromkeys(views)), request
    for operation in operations:
        changed = in_other_form(changed, engine, operation, STORED_VIEWS)
    sql = "".join(f"{storing_statement(name, engine.facts.dialects)};\n" for name in names)
    label = f"{', '.join(names)} stored as {'a table' if len(names) == 1 else 'tables'}"
    return ChangedRun(label, changed.changed(prepare={**request.prepare, label: sql}))


def _views(request: RunRequest, engine: EngineFolder, operation: str) -> list[str]:
    dialects = engine.facts.dialects
    workload = find_workload(request.workload)
    try:
        text = workload.statement(operation, dialects, request.scale).text
    except UsageError as why:
        raise CannotError(f"{operation}: {why}") from why
    return ranking_views(text, workload.declared(dialects, request.scale)[1], dialects)


experiment = Experiment(
    kind="stored-views",
    changes="the tables of the database, and the text of a query, whose answer is verified",
    set_up="the rows of the views are stored in tables before anything is timed",
    undo=UNDO,
    follow=_follow,
    gain_means="the gain is an upper limit, because such a table has to be kept up to date",
)
