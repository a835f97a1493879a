"""Whether mixes became steady, in words for terminal and page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import bytes_text, grouped_text, rate_text
from assay.report.words.wrapping import labelled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.run import RunDocument
    from assay.report.documents.steady import CountedReads, SeriesDrift, SteadySection

LABEL_WIDTH = 10
ABOUT = (
    "Mixes in batches of as many, over all clients. A run is steady from where leaving out more of"
    " its beginning would tell no more (MSER), if from there on neither throughput nor what the"
    " engine reads drifts by more than a tenth."
)
READS = (("asked", "asked of files"), ("fetched", "fetched from storage"))


def steady_words(document: RunDocument) -> list[str]:
    """Whether it is steady, its two figures, what a mix read; none where nobody plays so."""
    told = document.get("steady")
    if told is None:
        return []
    words = [_whether(told), *_figures(told)]
    words += [sentence for name, says in READS for sentence in _read(told, name, says)]
    words += _before_and_then(told["counted"], "read into its cache by the engine's own count")
    if told["why_no_reads"] is not None:
        words.append(f"reads not measured ({told['why_no_reads']}), so throughput alone was judged")
    return words


def steady_about(document: RunDocument) -> str:
    """The same as a paragraph, and how it is judged."""
    sentences = [f"{words[0].upper()}{words[1:]}." for words in steady_words(document)]
    return " ".join([*sentences, ABOUT])


def steady_lines(document: RunDocument, width: int) -> Iterator[str]:
    """The same as lines of a terminal."""
    words = steady_words(document)
    if words:
        yield from labelled("  mixes", "; ".join(words), width, LABEL_WIDTH)


def _whether(told: SteadySection) -> str:
    count, warm = told["mixes"], told["warmup_mixes"]
    mixes = f"{count:,} mix{'es' * (count != 1)}"
    after = f", the {warm:,} of the warm-up not counted" if warm else ""
    if told["steady"] is None:
        return f"{mixes}{after}, too few looks at them to say whether they were steady"
    if not told["steady"]:
        most = " (the most that were to be played)" if told["mixes"] == told["mixes_max"] else ""
        return f"not steady in {mixes}{most}{after}"
    if not told["first_mix"]:
        return f"steady from the first of {mixes} on{after}"
    return f"steady after {told['first_mix']:,} of {mixes}{after}"


def _figures(told: SteadySection) -> list[str]:
    """Of the steady part, and of everything measured."""
    whole = f"{rate_text(told['all_per_s'])} over everything measured"
    if not told["steady"] or not told["first_mix"]:
        return [whole]
    named = [
        f"{one['name']} {grouped_text(one['steady'])} in it, {grouped_text(one['all'])} over all"
        for one in told["figures"]
    ]
    return [f"{rate_text(told['rate_per_s'])} in the steady part, {whole}", *named]


def _read(told: SteadySection, name: str, says: str) -> list[str]:
    """What a mix read before the steady part and in it; nothing where it read nothing."""
    return _before_and_then(
        next((one for one in told["drifts"] if one["series"] == name), None), says
    )


def _before_and_then(read: SeriesDrift | CountedReads | None, says: str) -> list[str]:
    if read is None or not (read["before"] or read["level"]):
        return []
    then = bytes_text(read["level"])
    if read["before"] is None:
        return [f"{then} {says} a mix"]
    return [f"{bytes_text(read['before'])} {says} a mix before, {then} then"]
