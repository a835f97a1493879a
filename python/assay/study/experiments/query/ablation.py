"""Experiment that removes a function from a query, to measure what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.model.errors import UsageError
from assay.study.experiments.contract import ChangedRun, Experiment
from assay.study.experiments.query.form import in_other_form
from assay.workloads.choosing import only
from assay.workloads.discovery import find_workload
from assay.workloads.rewriting.pieces import CHOSEN, FUNCTION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


# Value of the advice with the share of rows that the condition keeps in each operation.
KEPT = "kept"


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    # The engine may report the name with its schema.
    function = advice.subject.rpartition(".")[2].lower()
    named = [name.strip() for name in advice.values.get("operations", "").split(",")]
    label = f"without {advice.subject}"
    if KEPT in advice.values:
        shares = advice.values[KEPT].split(",")
        changed = request
        for name, share in zip(named, shares, strict=True):
            part = f"{CHOSEN}:{function}:{share.strip()}"
            changed = in_other_form(changed, engine, name, part)
        return ChangedRun(label, changed)
    part = f"{FUNCTION}:{function}"
    operations = removable(request, engine, named, part)
    removed = [*request.remove, *(f"{name}/{part}" for name in operations)]
    return ChangedRun(label, request.changed(remove=removed))


def removable(
    request: RunRequest, engine: EngineFolder, operations: Sequence[str], part: str
) -> list[str]:
    """Return the operations from which a query part can be removed.

    Raises:
        CannotError: If none has it.
    """
    having = [name for name in operations if part in _parts(request, engine, name)]
    if not having:
        raise CannotError(
            f"Assay can remove {part} from a single query only, and none of these operations is a"
            f" single query with this part: {', '.join(operations)}"
        )
    return having


def _parts(request: RunRequest, engine: EngineFolder, operation: str) -> set[str]:
    """Return the removable parts of an operation's query; empty if it cannot be rewritten."""
    try:
        workload = only(find_workload(request.workload), [operation])
        text_parts = workload.parts(operation, engine.facts.dialects, request.scale)
    except UsageError:
        return set()
    return {part.name for part in text_parts}


experiment = Experiment(
    kind="ablation",
    changes="the computation of a query and therefore its result, which is not verified",
    set_up="the query is sent without the call, or with a random choice of as many rows in the "
    "place of the condition that calls",
    undo="nothing stays",
    follow=_follow,
    gain_means="the gain is an upper limit, because what replaces the removed part takes time, too",
)
