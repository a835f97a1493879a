"""Choices of what a workload executes: operations, parts of queries, given texts, foreign keys."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.model.errors import UsageError, suggestion
from assay.workloads.contract import operation_of
from assay.workloads.texts import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.model.declared import DeclaredColumns
    from assay.workloads.contract import Workload


def only(workload: Workload, names: Sequence[str]) -> Workload:
    """Return the workload with an order of only these operations; unchanged without names.

    Operations of `after` are still executed, because they check the data.

    Raises:
        UsageError: If a name is not an operation of the order.
    """
    order = workload.facts.order
    for name in names:
        if name not in order:
            hint = suggestion(name, list(dict.fromkeys(order)))
            raise UsageError(
                f"the workload {workload.facts.name} has no operation {name!r}: {hint}"
            )
    if not names:
        return workload
    facts = workload.facts.model_copy(
        update={"order": tuple(name for name in order if name in names)}
    )
    left_out = tuple(name for name in order if name not in names)
    return replace(workload, facts=facts, left_out=left_out)


def without_parts(workload: Workload, parts: Sequence[str]) -> Workload:
    """Return the workload with these parts removed from its queries.

    Raises:
        UsageError: If a part belongs to an operation that is not executed.
    """
    for part in parts:
        name, separator, _ = part.partition("/")
        if separator and name not in workload.facts.operations:
            hint = suggestion(name, list(workload.facts.operations))
            raise UsageError(
                f"--remove {part}: the workload {workload.facts.name} has no operation "
                f"{name!r}; {hint}"
            )
    return replace(workload, removed=tuple(parts)) if parts else workload


def with_all_parts(workload: Workload) -> Workload:
    """Return the workload with its queries as they are in its files."""
    return replace(workload, removed=())


def with_server_tables(
    workload: Workload, tables: Mapping[str, DeclaredColumns] | None
) -> Workload:
    """Return the workload with the tables of the server that it queries.

    With None for a catalogue that was not read yet, no rewritten query is refused.
    """
    return replace(workload, server_tables=tables)


def with_foreign_keys(workload: Workload) -> Workload:
    """Return the workload with the foreign keys of its data, made after all other keys.

    Raises:
        UsageError: If the workload has no foreign keys.
    """
    if workload.data.facts.foreign_keys is None:
        raise UsageError(
            f"the workload {workload.data.facts.name} declares no foreign keys: remove "
            f"--foreign-keys, or name their file in {workload.data.folder / MANIFEST}"
        )
    source = None if workload.source is None else with_foreign_keys(workload.source)
    return replace(workload, source=source, foreign_keys=True)


def with_texts(workload: Workload, texts: Mapping[str, str]) -> Workload:
    """Return the workload with an order of given texts, which are alternatives of operations.

    The name of a text is the operation's, then `@` and the number of the alternative.
    """
    played = {name: workload.facts.operations[operation_of(name)] for name in texts}
    facts = workload.facts.model_copy(
        update={
            "order": tuple(texts),
            "before": (),
            "after": (),
            "operations": {**workload.facts.operations, **played},
        }
    )
    return replace(workload, facts=facts, given=dict(texts))
