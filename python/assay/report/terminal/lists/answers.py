"""Terminal output of `assay answers`: one line of expected rows for each operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def answers_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield terminal lines of an `assay answers` document."""
    rows = document["operations"]
    width = max(len("operation"), *(len(row["operation"]) for row in rows))
    yield f"{'operation':<{width}}  {'rows':>9}  {'digest':<16}  compared with the stored answer"
    for row in rows:
        name, answer = f"{row['operation']:<{width}}", row["answer"]
        if answer is None:
            yield f"{name}  {'-':>9}  {'-':<16}  not kept: {row['why_not']}"
        else:
            yield f"{name}  {answer['rows']:>9,}  {answer['digest']:<16}  {row['change']}"
    yield ""
    if document["kept"]:
        yield f"Kept in {document['folder']}: the next `assay run` compares with these rows."
    elif any(row["answer"] is not None for row in rows):
        yield f"Nothing was written. --keep stores these rows in {document['folder']}."
    else:
        yield "No operation has an answer that can be stored."
