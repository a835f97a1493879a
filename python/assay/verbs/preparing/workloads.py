"""`assay workloads`: lists workloads, shows one, writes a new one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.discovery import find_engine
from assay.workloads.choosing import only
from assay.workloads.discovery import find_workload, find_workloads
from assay.workloads.new import new_workload

if TYPE_CHECKING:
    from assay.workloads.facts import WorkloadFacts
    from assay.workloads.rewriting.rewritten import QueryPart

ENGINE = "duckdb"


@dataclass(frozen=True)
class OperationParts:
    """The parts of an operation's query that can be removed.

    Attributes:
        workload: Name of its workload.
        text: Text of the operation, as it is sent to the engine.
        parts: The parts that `assay run --remove` can remove.
    """

    workload: str
    text: str
    parts: list[QueryPart]


def workloads() -> list[WorkloadFacts]:
    """Returns the facts of all workloads, by name."""
    return [workload.facts for workload in find_workloads().values()]


def show(name: str) -> WorkloadFacts:
    """Returns the facts of one workload by its name or folder.

    Args:
        name: Name of the workload, or its folder.

    Raises:
        UsageError: If no workload has this name, or its files have an error.
    """
    return find_workload(name).facts


def parts(name: str, operation: str, engine: str = ENGINE) -> OperationParts:
    """Returns the parts of an operation that can be removed from its query.

    Args:
        name: Name of the workload, or its folder.
        operation: One of its operations.
        engine: The engine whose query text is used.

    Raises:
        UsageError: If the operation does not exist, or is not a single query.
    """
    workload = find_workload(name)
    chosen = only(workload, [operation])
    dialects, scale = find_engine(engine).facts.dialects, chosen.facts.scale_default
    text_parts = chosen.parts(operation, dialects, scale)
    text = chosen.statement(operation, dialects, scale).text
    return OperationParts(workload.facts.name, text, text_parts)


def new(folder: Path | str) -> None:
    """Writes a commented example of a workload in SQL files, for you to edit.

    Raises:
        UsageError: If the folder exists already and is not empty, or cannot be written.
    """
    new_workload(Path(folder))
