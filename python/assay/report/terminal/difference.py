"""What changed between the CPU samples of two runs, on a terminal."""

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

    from assay.report.documents.profile_difference import (
        ProfileDifference,
        SampleDifference,
    )
    from assay.report.documents.run import RunDocument

SYMBOLS_EACH, SYMBOLS_FEW = 6, 3


def compared_lines(
    ours: RunDocument,
    theirs: RunDocument,
    told: ProfileDifference,
    width: int,
    *,
    all_symbols: bool,
) -> Iterator[str]:
    """What `assay explain --against` prints: the titles of both runs and what changed."""
    yield from _titles(ours, theirs, width)
    yield from difference_lines(told, width, all_symbols=all_symbols)


def uncompared_lines(ours: RunDocument, theirs: RunDocument, width: int) -> Iterator[str]:
    """The same where one of them has no CPU samples, so that only plans are compared."""
    yield from _titles(ours, theirs, width)
    yield from textwrap.wrap(
        "CPU samples: not compared, for they were not taken of both (--profile).",
        width,
        initial_indent="  ",
        subsequent_indent="  ",
    )


def _titles(ours: RunDocument, theirs: RunDocument, width: int) -> Iterator[str]:
    for document, lead in ((ours, "this run"), (theirs, "against")):
        yield titled(document, width)
        yield f"  {lead}: {document['run']}"


def difference_lines(told: ProfileDifference, width: int, *, all_symbols: bool) -> Iterator[str]:
    """The differences as lines of at most `width`, without the runs' titles."""
    if told["total"] is None or not told["operations"]:
        yield "  The two runs have no operation in common that was sampled, so nothing is compared."
        return
    yield f"  CPU seconds of one pass over {operations_words(told)}; 95 % intervals"
    if told["scaled_by"] != 1:
        yield f"  {scaled_words(told)}"
    yield ""
    yield f"{'this run':>10} {'against':>10} {'difference':>22}  operation, symbol"
    yield _line(told["total"], "total", width)
    certain = told["total"]["is_noise"] is not None
    for row in shown_works(told):
        yield _line(row, row["work"] or "", width)
        changed = [one for one in row["symbols"] if not _says_nothing(one)]
        shown = changed if all_symbols else changed[: SYMBOLS_EACH if certain else SYMBOLS_FEW]
        for one in shown:
            yield _line(one, f"  {one_line(one['symbol'] or '')}", width)
        if len(changed) > len(shown):
            yield f"{'':>46}  ... {len(changed) - len(shown)} more (--all)"
    yield ""
    words = noise_words(told) if certain else WITHOUT_INTERVAL
    yield from textwrap.wrap(words, width)


WITHOUT_INTERVAL = (
    "One pass was measured on each side: there is no interval, so nothing here is told from noise."
    " Measure longer (--min-time 60s) on both sides."
)


def _says_nothing(row: SampleDifference) -> bool:
    """Whether a symbol is within noise or, where no interval tells, has too few samples."""
    few = row["ours_samples"] + row["theirs_samples"] < SAMPLES_MIN
    return bool(row["is_noise"]) or (row["is_noise"] is None and few)


def _line(row: SampleDifference, words: str, width: int) -> str:
    noise = "  (noise)" if row["is_noise"] else ""
    lead = (
        f"{seconds_text(row['ours_s']):>10} {seconds_text(row['theirs_s']):>10}"
        f" {interval_text(row):>22}  "
    )
    return f"{lead}{shortened(words, width - len(lead) - len(noise))}{noise}".rstrip()
