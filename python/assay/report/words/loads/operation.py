"""Phrases on one operation: its time, or how it failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import (
    seconds_text,
)

if TYPE_CHECKING:
    from assay.report.documents.load.operations import OperationRow


def retries_words(operation: OperationRow, unit: str = "") -> str:
    """Return text on the number of retries, and the classes of their errors."""
    # Documents of older versions do not have the classes.
    classes = operation.get("retries_by_class", {})
    counts = ", ".join(f"{name} {count:,}" for name, count in classes.items())
    return f"{operation['retries']:,}{unit}" + (f" ({counts})" if counts else "")


def operation_time(operation: OperationRow) -> str:
    """Return text on the time of an operation, or on how it failed."""
    if operation["outcome"] == "failed":
        return f"failed: {operation['error'] or 'no reason was recorded'}"
    if operation["outcome"] == "skipped":
        return "skipped"
    return seconds_text(operation["seconds"])
