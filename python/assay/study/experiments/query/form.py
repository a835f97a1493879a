"""Rewrites a part of a query in another form, for experiments that measure the form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.model.errors import UsageError
from assay.running.asked.asking import considered
from assay.running.asked.obtaining import with_schema
from assay.workloads.choosing import without_parts
from assay.workloads.discovery import find_workload

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.running.asked.request import RunRequest


def in_other_form(
    request: RunRequest, engine: EngineFolder, operation: str, *parts: str
) -> RunRequest:
    """Return a run's request in which an operation has these parts in another form.

    A running server or a user's database file is asked for the schema of its tables.

    Raises:
        CannotError: If the query lacks such a part, or if the other form could have another result.
        EngineError: If the server cannot be reached.
    """
    changed = request.changed(remove=[*request.remove, *(f"{operation}/{part}" for part in parts)])
    try:
        if request.dsn is None:
            workload = without_parts(find_workload(request.workload), changed.remove)
            workload.statement(operation, engine.facts.dialects, request.scale)
        else:
            with_schema(considered(changed))
    except UsageError as error:
        raise CannotError(f"{operation}: {error.__cause__ or error}") from error
    return changed
