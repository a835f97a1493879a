"""`assay workloads`: lists workloads, shows one, begins a new one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.discovery import find_engine
from assay.workloads.discovery import find_workload, find_workloads
from assay.workloads.new import new_workload

if TYPE_CHECKING:
    from assay.workloads.facts import WorkloadFacts
    from assay.workloads.rewriting.rewritten import QueryPart

ENGINE = "duckdb"


@dataclass(frozen=True)
class OperationParts:
    """The parts of an operation that can be removed.

    Attributes:
        workload: Name of its workload.
        text: Of the operation, as the engine is asked.
        parts: What `assay run --remove` can take away.
    """

    workload: str
    text: str
    parts: list[QueryPart]


def workloads() -> list[WorkloadFacts]:
    """Returns the facts of all workloads."""
    return [workload.facts for workload in find_workloads().values()]


def show(name: str) -> WorkloadFacts:
    """Returns what is known of one workload.

    Args:
        name: Of the workload, or its folder.

    Raises:
        UsageError: If there is no such workload, or something in its files is wrong.
    """
    return find_workload(name).facts


def parts(name: str, operation: str, engine: str = ENGINE) -> OperationParts:
    """Returns the parts that an operation can be asked without.

    Args:
        name: Of the workload, or its folder.
        operation: One of its operations.
        engine: Whose text it is.

    Raises:
        UsageError: If there is no such operation, or it is not one query.
    """
    workload = find_workload(name)
    only = workload.only([operation])
    dialects, scale = find_engine(engine).facts.dialects, only.facts.scale_default
    text_parts = only.parts(operation, dialects, scale)
    text = only.statement(operation, dialects, scale).text
    return OperationParts(workload.facts.name, text, text_parts)


def new(folder: Path | str) -> None:
    """Writes a commented example: a workload of your own, in SQL files.

    Raises:
        UsageError: If there is anything already, or the folder cannot be written.
    """
    new_workload(Path(folder))
