"""What changed between the CPU samples of two runs, on a terminal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from assay.analysis.profile.difference import SAMPLES_MIN
from assay.model.units import seconds_text
from assay.report.terminal.profile import shortened, titled
from assay.report.words.wrapping import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.profile_difference import (
        ProfileDifference,
        SampleDifference,
        WorkDifference,
    )
    from assay.report.documents.run import RunDocument

SYMBOLS_EACH, SYMBOLS_FEW = 6, 3
# Differences of sums are off by their rounding, which is no difference.
RESOLUTION_S = 1e-9
# With one pass a side nothing is told from noise, so only the largest differences are shown.
WORKS_WITHOUT_INTERVAL = 8


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


def operations_words(told: ProfileDifference) -> str:
    """Which operations are compared."""
    names = told["operations"]
    return str(names[0]) if len(names) == 1 else f"the {len(names)} operations that both have"


def scaled_words(told: ProfileDifference) -> str:
    """Why the other's seconds are not those that it took."""
    factor = told["scaled_by"]
    return f"Of another scale: its seconds are times {factor:.3g}, as if both took as long in all"


def shown_works(told: ProfileDifference) -> list[WorkDifference]:
    """Kinds of work that changed, or of which some function did."""
    if told["total"] is None or told["total"]["is_noise"] is None:
        return told["work"][:WORKS_WITHOUT_INTERVAL]
    return [row for row in told["work"] if not _quiet(row)]


def noise_words(told: ProfileDifference) -> str:
    """What did not change as far as can be told, in one sentence."""
    quiet = [row for row in told["work"] if _quiet(row)]
    symbols = [one for row in told["work"] for one in row["symbols"] if one["is_noise"]]
    if not symbols:
        return "Nothing is within noise."
    together = sum(one["difference_s"] for one in symbols)
    return (
        f"Within noise: {len(quiet)} kinds of work and {len(symbols)} symbols,"
        f" {signed_text(together)} together. Of rows that did not change one in twenty may seem to."
    )


def _says_nothing(row: SampleDifference) -> bool:
    """Whether a symbol is within noise or, where no interval tells, has too few samples."""
    few = row["ours_samples"] + row["theirs_samples"] < SAMPLES_MIN
    return bool(row["is_noise"]) or (row["is_noise"] is None and few)


def _quiet(row: WorkDifference) -> bool:
    return bool(row["is_noise"]) and all(one["is_noise"] for one in row["symbols"])


def signed_text(seconds: float) -> str:
    """A difference with its sign."""
    if abs(seconds) < RESOLUTION_S:
        return seconds_text(0.0)
    return f"{'-' if seconds < 0 else '+'}{seconds_text(abs(seconds))}"


def interval_text(row: SampleDifference) -> str:
    """A difference with half the width of its interval."""
    told = signed_text(row["difference_s"])
    if row["low_s"] is None or row["high_s"] is None:
        return told
    return f"{told} ± {seconds_text((row['high_s'] - row['low_s']) / 2):>7}"


def _line(row: SampleDifference, words: str, width: int) -> str:
    noise = "  (noise)" if row["is_noise"] else ""
    lead = (
        f"{seconds_text(row['ours_s']):>10} {seconds_text(row['theirs_s']):>10}"
        f" {interval_text(row):>22}  "
    )
    return f"{lead}{shortened(words, width - len(lead) - len(noise))}{noise}".rstrip()
