"""Markdown of CPU samples in an article's style: share, function and description.

The text is Markdown: a sentence, then a preformatted block.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from assay.model.units import seconds_text
from assay.report.terminal.profile import TOP_SYMBOLS
from assay.report.words.profile import TOGETHER, no_samples, passes_text, sampled_text, samples_text
from assay.report.words.wrapping import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.profile.profile import ProfileSection, SymbolRow

WIDTH = 96


def article_lines(
    heading: str, profile: ProfileSection, *, all_symbols: bool = False
) -> Iterator[str]:
    """Yield the section `profile` of a document as lines of Markdown.

    Args:
        heading: Name of workload and engine.
        profile: Section `profile` of the document.
        all_symbols: Whether to list all symbols of the section, not only the first ones.
    """
    of = f" ({profile['operation']})" if profile["operation"] else ""
    sentence = (
        f"{heading}{of}: {samples_text(profile['samples'])} {_in_what(profile)},"
        f" {seconds_text(profile['seconds'])} of CPU time. Sampled by"
        f" {sampled_text(profile['sampling'])}."
    )
    if not profile["samples"]:
        reason = no_samples(profile)
        sentence = f"{sentence} {reason[:1].upper()}{reason[1:]}"
    yield from textwrap.wrap(sentence, WIDTH, break_on_hyphens=False)
    if not profile["samples"]:
        return
    yield ""
    yield "```text"
    yield f"{'samples':>9}  {'%':>6}  symbol"
    for row in profile["symbols"] if all_symbols else profile["symbols"][:TOP_SYMBOLS]:
        symbol = one_line(row["symbol"])
        yield f"{row['samples']:>9}  {row['share'] * 100:>6.2f}  {symbol}"
        yield from textwrap.wrap(
            _meaning(row, profile["operation"]),
            WIDTH,
            initial_indent="-- ",
            subsequent_indent="   ",
        )
    yield "```"


def _in_what(profile: ProfileSection) -> str:
    return f"in {passes_text(profile['passes'])}" if profile["sampling"]["told_apart"] else TOGETHER


def _meaning(row: SymbolRow, operation: str | None) -> str:
    says = one_line(row["says"] or "").rstrip(".")
    work = str(row["work"])
    kind = f"{work[:1].upper()}{work[1:]}"
    where = _where(row) if operation is None else ""
    return f"{kind}: {says}.{where}" if says else f"{kind}.{where}"


def _where(row: SymbolRow) -> str:
    names = row["operations"]
    if row["operations_all"] and len(names) != 1:
        return " Seen in all operations."
    return f" Seen in {', '.join(sorted(names))}." if names else ""
