"""Terminal output of a diagnosis: causes with verdicts, time after each change, open causes."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from assay.report.diagnosis.words import beside, step_words, times_words, title, way_words
from assay.report.words.wrapping import labelled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.diagnose import (
        DiagnosisStep,
        PlacedDiagnosis,
        TriedCause,
        UntriedCause,
    )

LABEL_WIDTH = 11
UNTRIED_MAX = 4
NO_CAUSES = "The run has no causes that a finding names, so there is nothing to try."


def diagnosis_lines(document: PlacedDiagnosis, width: int, *, whole: bool = False) -> Iterator[str]:
    """Yield the lines that `assay diagnose` prints.

    Args:
        document: Document of the diagnosis, with its directory.
        width: Columns of the terminal.
        whole: Whether to show every cause that could not be tried, not only the first ones.
    """
    yield from textwrap.wrap(title(document), width, subsequent_indent="  ")
    for step in document["steps"]:
        yield ""
        yield from _step(step, width, whole=whole)
    yield ""
    way = way_words(document)
    if way is not None:
        yield from labelled("Way down", way, width, LABEL_WIDTH)
    for sentence in document["interactions"]:
        yield from labelled("Together", sentence, width, LABEL_WIDTH)
    yield from labelled("Left", document["left"], width, LABEL_WIDTH)
    yield f"{'Run':<{LABEL_WIDTH}}{document['run']}"
    if document["study"]:
        yield f"{'Study':<{LABEL_WIDTH}}{document['study']}"
    if document["page"]:
        yield f"{'Page':<{LABEL_WIDTH}}{document['page']}"
    if document["legal"]:
        yield f"{'':<{LABEL_WIDTH}}{document['legal']}"


def _step(step: DiagnosisStep, width: int, *, whole: bool) -> Iterator[str]:
    yield step_words(step)
    if not (step["tried"] or step["cannot_be_tried"] or step["left_out"]):
        yield f"  {NO_CAUSES}"
    for tried in step["tried"]:
        yield from _tried(tried, step, width)
    yield from _untried("cannot be tried", step["cannot_be_tried"], width, whole=whole)
    yield from _untried("left out", step["left_out"], width, whole=whole)


def _tried(tried: TriedCause, step: DiagnosisStep, width: int) -> Iterator[str]:
    is_kept = tried["change"] == step["kept"] and tried["verdict"] == "confirmed"
    outcome = "kept" if tried.get("takes_back") is None else "left out from now on"
    kept = f"   {outcome}" if is_kept else ""
    yield f"  {tried['verdict'].upper():<12}{tried['key']}{kept}"
    room = 14
    yield from labelled("", tried["cause"]["claim"], width, room)
    yield from labelled("", f"tried: {tried['change']}", width, room)
    yield from labelled("", f"{tried['says']}{times_words(tried)}", width, room)
    for sentence in beside(tried):
        yield from labelled("", f"beside: {sentence}", width, room)
    if tried["why_not"]:
        yield from labelled("", f"not recommended: {tried['why_not']}", width, room)
    change = tried["cause"]["change"]
    if tried["recommended"] and change is not None:
        yield from labelled("", " ".join(change["sql"].split()), width, room)
    if tried["record"]:
        yield from labelled("", tried["record"], width, room)


def _untried(label: str, causes: list[UntriedCause], width: int, *, whole: bool) -> Iterator[str]:
    shown = causes if whole else causes[:UNTRIED_MAX]
    for cause in shown:
        yield f"  {label:<16}{cause['key']}"
        yield from labelled("", cause["why"], width, 18)
    if len(causes) > len(shown):
        yield f"  {'':<16}{len(causes) - len(shown)} more (--all)"
