"""Terminal output of a list of runs: state, workload, engine, main figure, id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from assay.record.layout import KIND_CEILING
from assay.report.ceiling.terminal import ceiling_line
from assay.report.results.runs import STATES
from assay.report.terminal.load import run_figure
from assay.report.words.run import title

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from assay.report.documents.ceiling import CeilingDocument
    from assay.report.documents.run import RunDocument


def listed_lines(documents: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each run, including stopped runs and runs without a document."""
    for document in documents:
        if document["verdict"] is None:
            what = document["title"] or document["workload"] or ""
            yield _line(document["state"], what, "", document["run"])
        elif document.get("kind") == KIND_CEILING:
            yield ceiling_line(cast("CeilingDocument", document))
        else:
            yield run_line(cast("RunDocument", document))


def run_line(document: RunDocument) -> str:
    """Return a line for a run with a verdict: state, workload, engine, main figure, id."""
    state = STATES.get(document["status"], document["verdict"])
    return _line(state, title(document), run_figure(document), document["run"])


def _line(state: str, subject: str, figure: str, run: str) -> str:
    return f"{state:<8} {subject:<34} {figure:>12}  {run}"
