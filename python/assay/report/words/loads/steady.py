"""Phrases on whether query mixes became steady, for terminal and page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import bytes_text, grouped_text, rate_text
from assay.report.words.wrapping import labelled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.load.steady import CountedReads, SeriesDrift, SteadySection
    from assay.report.documents.run import RunDocument

LABEL_WIDTH = 10
ABOUT = (
    "Mixes in batches of equal size, over all clients. The steady part begins where excluding "
    "more mixes gains no precision (MSER). A run is steady if neither throughput nor reads of "
    "the engine drift by more than a tenth in that part."
)
READS = (("asked", "asked of files"), ("fetched", "fetched from storage"))


def steady_words(document: RunDocument) -> list[str]:
    """Return texts on whether query mixes were steady, with their rates and reads."""
    steady = document.get("steady")
    if steady is None:
        return []
    phrases = [_steadiness(steady), *_figures(steady)]
    phrases += [sentence for name, says in READS for sentence in _read(steady, name, says)]
    phrases += _before_and_then(
        steady["counted"], "read into the engine's cache, by its own counter"
    )
    if steady["why_no_reads"] is not None:
        phrases.append(
            f"reads not measured ({steady['why_no_reads']}), so throughput alone was judged"
        )
    return phrases


def steady_about(document: RunDocument) -> str:
    """Return the page's paragraph on whether query mixes were steady."""
    sentences = [f"{phrase[0].upper()}{phrase[1:]}." for phrase in steady_words(document)]
    return " ".join([*sentences, ABOUT])


def steady_lines(document: RunDocument, width: int) -> Iterator[str]:
    """Yield terminal lines on whether query mixes were steady."""
    phrases = steady_words(document)
    if phrases:
        yield from labelled("  mixes", "; ".join(phrases), width, LABEL_WIDTH)


def _steadiness(steady: SteadySection) -> str:
    count, warm = steady["mixes"], steady["warmup_mixes"]
    mixes = f"{count:,} mix{'es' * (count != 1)}"
    after = f", the {warm:,} of the warm-up not counted" if warm else ""
    if steady["steady"] is None:
        return f"{mixes}{after}, with too few samples to judge whether they were steady"
    if not steady["steady"]:
        most = " (the maximum of the run)" if steady["mixes"] == steady["mixes_max"] else ""
        return f"not steady in {mixes}{most}{after}"
    if not steady["first_mix"]:
        return f"steady from the first of {mixes} on{after}"
    return f"steady after {steady['first_mix']:,} of {mixes}{after}"


def _figures(steady: SteadySection) -> list[str]:
    """Return texts on the metrics of the steady part and of the whole measured part."""
    whole = f"{rate_text(steady['all_per_s'])} over the whole measured part"
    if not steady["steady"] or not steady["first_mix"]:
        return [whole]
    named = [
        f"{figure['name']} {grouped_text(figure['steady'])} in it,"
        f" {grouped_text(figure['all'])} over all"
        for figure in steady["figures"]
    ]
    return [f"{rate_text(steady['rate_per_s'])} in the steady part, {whole}", *named]


def _read(steady: SteadySection, name: str, says: str) -> list[str]:
    """Return texts on reads per query mix before and in the steady part."""
    return _before_and_then(
        next((drift for drift in steady["drifts"] if drift["series"] == name), None), says
    )


def _before_and_then(read: SeriesDrift | CountedReads | None, says: str) -> list[str]:
    if read is None or not (read["before"] or read["level"]):
        return []
    then = bytes_text(read["level"])
    if read["before"] is None:
        return [f"{then} {says} a mix"]
    return [f"{bytes_text(read['before'])} {says} a mix before, {then} then"]
