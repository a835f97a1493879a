"""A list of runs on a terminal: a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from assay.record.layout import KIND_CEILING
from assay.report.ceiling.terminal import ceiling_line
from assay.report.terminal.summary import run_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from assay.report.documents.ceiling import CeilingDocument
    from assay.report.documents.run import RunDocument


def listed_lines(documents: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line a run: verdict, what was run, total, id."""
    for document in documents:
        if document["verdict"] is None:
            yield f"not judged yet: assay show {document['run']}"
        elif document.get("kind") == KIND_CEILING:
            yield ceiling_line(cast("CeilingDocument", document))
        else:
            yield run_line(cast("RunDocument", document))
