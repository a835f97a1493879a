"""One operation in words: its time, or how it failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import (
    seconds_text,
)

if TYPE_CHECKING:
    from assay.report.documents.load.operations import OperationRow


def retries_words(operation: OperationRow, unit: str = "") -> str:
    """Attempts beyond the first, with their unit, and the classes of the errors they came of."""
    # A document that was kept before classes were told has none of them.
    classes = operation.get("retries_by_class", {})
    counts = ", ".join(f"{name} {count:,}" for name, count in classes.items())
    return f"{operation['retries']:,}{unit}" + (f" ({counts})" if counts else "")


def operation_time(operation: OperationRow) -> str:
    """The time of an operation, or how it failed."""
    if operation["outcome"] == "failed":
        return f"failed: {operation['error'] or 'no reason recorded'}"
    if operation["outcome"] == "skipped":
        return "skipped"
    return seconds_text(operation["seconds"])
