"""Terminal output of the differences between the CPU samples of two runs."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from assay.analysis.profile.difference import SAMPLES_MIN
from assay.model.units import seconds_text
from assay.report.terminal.profile import shortened, titled
from assay.report.words.profile_difference import (
    interval_text,
    noise_words,
    operations_words,
    scaled_words,
    shown_works,
)
from assay.report.words.wrapping import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.profile.profile_difference import (
        ProfileDifference,
        SampleDifference,
    )
    from assay.report.documents.run import RunDocument

SYMBOLS_EACH, SYMBOLS_FEW = 6, 3


def compared_lines(
    ours: RunDocument,
    theirs: RunDocument,
    difference: ProfileDifference,
    width: int,
    *,
    all_symbols: bool,
) -> Iterator[str]:
    """Yield the lines that `assay explain --against` prints: both titles, then the changes."""
    yield from _titles(ours, theirs, width)
    yield from difference_lines(difference, width, all_symbols=all_symbols)


def uncompared_lines(ours: RunDocument, theirs: RunDocument, width: int) -> Iterator[str]:
    """Yield the titles of two runs if one has no CPU samples, so that only plans compare."""
    yield from _titles(ours, theirs, width)
    yield from textwrap.wrap(
        "CPU samples: not compared, because not both runs have them (--profile).",
        width,
        initial_indent="  ",
        subsequent_indent="  ",
    )


def _titles(ours: RunDocument, theirs: RunDocument, width: int) -> Iterator[str]:
    for document, lead in ((ours, "this run"), (theirs, "against")):
        yield titled(document, width)
        yield f"  {lead}: {document['run']}"


def difference_lines(
    difference: ProfileDifference, width: int, *, all_symbols: bool
) -> Iterator[str]:
    """Yield the differences in CPU samples as terminal lines, without the runs' titles."""
    if difference["total"] is None or not difference["operations"]:
        yield "  No operation has CPU samples in both runs, so nothing can be compared."
        return
    yield f"  CPU seconds of one pass over {operations_words(difference)}; 95 % intervals"
    if difference["scaled_by"] != 1:
        yield f"  {scaled_words(difference)}"
    yield ""
    yield f"{'this run':>10} {'against':>10} {'difference':>22}  operation, symbol"
    yield _line(difference["total"], "total", width)
    certain = difference["total"]["is_noise"] is not None
    for row in shown_works(difference):
        yield _line(row, row["work"] or "", width)
        changed = [symbol for symbol in row["symbols"] if not _says_nothing(symbol)]
        shown = changed if all_symbols else changed[: SYMBOLS_EACH if certain else SYMBOLS_FEW]
        for symbol in shown:
            yield _line(symbol, f"  {one_line(symbol['symbol'] or '')}", width)
        if len(changed) > len(shown):
            yield f"{'':>46}  ... {len(changed) - len(shown)} more (--all)"
    yield ""
    sentences = noise_words(difference) if certain else WITHOUT_INTERVAL
    yield from textwrap.wrap(sentences, width)


WITHOUT_INTERVAL = (
    "One pass was measured on each side: there is no interval, so differences may be noise."
    " Measure longer (--min-time 60s) on both sides."
)


def _says_nothing(row: SampleDifference) -> bool:
    """Return True if a function's change is within noise or has few samples."""
    few = row["ours_samples"] + row["theirs_samples"] < SAMPLES_MIN
    return bool(row["is_noise"]) or (row["is_noise"] is None and few)


def _line(row: SampleDifference, label: str, width: int) -> str:
    noise = "  (noise)" if row["is_noise"] else ""
    lead = (
        f"{seconds_text(row['ours_s']):>10} {seconds_text(row['theirs_s']):>10}"
        f" {interval_text(row):>22}  "
    )
    return f"{lead}{shortened(label, width - len(lead) - len(noise))}{noise}".rstrip()
