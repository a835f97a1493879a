"""What a document tells of one operation."""

from __future__ import annotations

from typing import Any


def operation_of(told: dict[str, Any], name: str) -> dict[str, Any]:
    """An operation with the findings about it and its plans, as plain values.

    Args:
        told: The document of a run.
        name: One of its operations.
    """
    return {
        "operation": next(one for one in told["operations"] if one["name"] == name),
        "findings": [one for one in told["findings"] if name in one["operations"]],
        "plans": told["plans"].get(name, []),
        "plan_capture": _of_operation(told["plan_capture"], name),
    }


def _of_operation(capture: dict[str, Any], name: str) -> dict[str, Any]:
    """What asking an operation for its plans cost, and what there is none of."""
    kept = {
        key: [one for one in capture[key] if one["operation"] == name]
        for key in ("operations", "missing")
    }
    return capture | kept
