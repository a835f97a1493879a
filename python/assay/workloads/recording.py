"""Writes the facts of a run's workload into its record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.workloads.contract import operation_of

if TYPE_CHECKING:
    from assay.workloads.contract import Workload


def recorded(workload: Workload) -> dict[str, Any]:
    """Return the facts of the workload for `run.json`, as JSON values."""
    facts = workload.facts
    checks = {name: facts.operations[operation_of(name)] for name in workload.checks}
    operations = (facts.operations | checks).items()
    names = None if facts.metrics is None else facts.metrics.model_dump()
    return {
        "name": facts.name,
        "title": facts.title,
        "legal": facts.legal,
        "scale_name": facts.scale_name,
        "content_sha256": workload.content_hash,
        "own_tables": not workload.makes_data,
        "arrival": facts.arrival,
        "before": [*facts.before, *workload.checks],
        "checks": list(workload.checks),
        "after": list(facts.after),
        "deck": facts.deck,
        "sequence": None if facts.sequence is None else facts.sequence.model_dump(),
        "rate": None if facts.rate is None else facts.rate.model_dump(),
        "terminals": workload.terminals(1.0),
        "tolerance": facts.tolerance.model_dump(),
        "answer_columns": {name: op.answer for name, op in operations},
        "answer_rules": {
            name: op.answer_rule for name, op in operations if op.answer_rule is not None
        },
        "operation_titles": {name: op.title for name, op in operations},
        "drawn_operations": list(workload.drawn_operations),
        "receipt": None if facts.receipt is None else facts.receipt.model_dump(mode="json"),
        "programs": {name: op.program for name, op in operations if op.program is not None},
        "limits_s": {name: op.limit_s for name, op in operations if op.limit_s is not None},
        "shares_min": {name: op.share_min for name, op in operations if op.share_min is not None},
        "rows_expected": {
            name: op.rows_expected for name, op in operations if op.rows_expected is not None
        },
        "queries": len({*facts.order, *workload.left_out}),
        "metrics": names,
        "differs_from": workload.differs_from,
        "streams_minimum": [list(row) for row in facts.streams.minimum] if facts.streams else [],
    }
