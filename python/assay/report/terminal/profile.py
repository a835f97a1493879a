"""Terminal output of CPU samples: the time by kind of work and by function."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from assay.model.units import seconds_text
from assay.report.terminal.summary import bar
from assay.report.words.profile import (
    BOUNDS,
    FEW,
    NAMELESS,
    NAMELESS_NOTE,
    facts,
    headline,
    no_samples,
    share_text,
)
from assay.report.words.run import title
from assay.report.words.wrapping import labelled, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.report.documents.plans.plan_work import PlanWorkRow
    from assay.report.documents.profile.profile import ProfileSection, SymbolRow, WorkRow
    from assay.report.documents.run import RunDocument

TOP_SYMBOLS = 20
NOTES_MAX = 3
WORK_BAR_WIDTH = 24
OPERATIONS_WIDTH = 16
SYMBOL_WIDTH_MIN = 24
# Kinds of work with a smaller share are merged into one line.
WORK_SHARE_MIN = 0.005


def titled(document: RunDocument, width: int) -> str:
    """Return the title of a run, with its verdict at the right edge of the terminal."""
    heading, verdict = title(document), document["verdict"].upper()
    return f"{heading}{verdict:>{max(len(verdict) + 2, width - len(heading))}}"


def profile_lines(
    profile: ProfileSection, width: int, *, all_symbols: bool = False, open_families: bool = False
) -> Iterator[str]:
    """Yield the CPU samples of a run as terminal lines, without a title."""
    yield from textwrap.wrap(headline(profile), width)
    yield ""
    if not profile["samples"]:
        yield from labelled("Nothing to show", no_samples(profile), width)
    else:
        yield from work_lines(profile["work"], width, everything=all_symbols)
        yield ""
        yield from _symbol_lines(
            profile, width, all_symbols=all_symbols, open_families=open_families
        )
        yield ""
    for label, sentence in facts(profile):
        yield from labelled(label, sentence, width)
    notes = profile["sampling"]["notes"]
    for number, note in enumerate(notes[:NOTES_MAX]):
        yield from labelled("Not measured" if number == 0 else "", note, width)
    if len(notes) > NOTES_MAX:
        yield from labelled("", f"... {len(notes) - NOTES_MAX} more (--json)", width)


def work_lines(
    works: Sequence[WorkRow | PlanWorkRow], width: int, *, everything: bool = False
) -> Iterator[str]:
    """Yield a terminal line per kind of work: its share as a bar and number, and seconds."""
    longest = max((row["share"] for row in works), default=0.0)
    small = [row for row in works if row["share"] < WORK_SHARE_MIN and not everything]
    works = [row for row in works if row not in small] if len(small) > 1 else works
    label_width = max((len(row["work"]) for row in works), default=0)
    length = min(WORK_BAR_WIDTH, width - label_width - 24)
    for row in works:
        drawn = bar(row["share"] / longest if longest else 0.0, length)
        share, seconds = share_text(row["share"]), seconds_text(row["seconds"])
        yield f"  {row['work']:<{label_width}}  {drawn:<{length}} {share:>6}  {seconds:>7}"
    if len(small) > 1:
        together = sum(row["share"] for row in small)
        yield f"  ... {len(small)} kinds more with {share_text(together)} together (--all)"


def _digits(share: float) -> str:
    """Return a share as text in %, formatted for a column."""
    return "< 0.1" if 0 < share < FEW else f"{share * 100:>5.1f}"


def _symbol_lines(
    profile: ProfileSection, width: int, *, all_symbols: bool, open_families: bool
) -> Iterator[str]:
    shown = profile["symbols"] if all_symbols else profile["symbols"][:TOP_SYMBOLS]
    label_width = max(len("operation"), *(len(row["work"]) for row in shown))
    room = max(SYMBOL_WIDTH_MIN, width - label_width - 18)
    # The operations of a symbol are shown only if enough width remains for its name.
    fits = room - OPERATIONS_WIDTH - 2 >= SYMBOL_WIDTH_MIN
    named = OPERATIONS_WIDTH if profile["operation"] is None and fits else 0
    room -= named + 2 if named else 0
    heading = f"{'samples':>8} {'%':>5}  {'operation':<{label_width}}  {'symbol':<{room}}"
    yield f"{heading}  counts in" if named else heading.rstrip()
    for row in shown:
        lead = f"{row['samples']:>8,} {_digits(row['share'])}  {row['work']:<{label_width}}  "
        line = lead + f"{symbol_text(row, room):<{room}}"
        yield (f"{line}  {operations_text(row, named)}" if named else line).rstrip()
        if open_families:
            yield from _member_lines(row, len(lead), room)
    yield from _left_line(profile, shown)


def symbol_text(row: SymbolRow, width: int) -> str:
    """Return a function's name, or its address in the file for one without a name."""
    symbol = one_line(row["symbol"])
    if row["kind"] not in NAMELESS:
        return shortened(symbol, width)
    begins = symbol.partition(BOUNDS)[0]
    return shortened(begins, width - len(NAMELESS_NOTE)) + NAMELESS_NOTE


def _member_lines(row: SymbolRow, indent: int, room: int) -> Iterator[str]:
    for member in row["members"]:
        share = f"{member['samples']:>8,} {_digits(member['share'])}"
        symbol = shortened(one_line(member["symbol"]), room - 2)
        yield f"{share:<{indent}}  {symbol}"
    more = row["members_count"] - len(row["members"])
    if row["members"] and more > 0:
        yield f"{'':<{indent}}  ... {more} more"


def _left_line(profile: ProfileSection, shown: list[SymbolRow]) -> Iterator[str]:
    hidden = profile["symbols"][len(shown) :]
    rest = profile["rest"]
    count = len(hidden) + rest["symbols"]
    if count:
        share = sum(row["share"] for row in hidden) + rest["share"]
        how = " (--all)" if hidden else ""
        noun = "symbol" if count == 1 else "symbols"
        yield f"     ... {count:,} {noun} more with {share_text(share)} together{how}"


def shortened(text: str, width: int) -> str:
    """Return a function's name within the width, with an ellipsis for omitted parts.

    The function omits names of namespaces and classes first, then the middle of the name. An
    address is never shortened.
    """
    if len(text) <= width:
        return text
    for at in _ends_of_qualifiers(text):
        if len(text) - at < width:
            return f"…{text[at:]}"
    file, plus, address = text.rpartition("+0x")
    is_place = bool(file) and len(plus + address) + 2 < width
    tail = len(plus + address) if is_place else (width - 1) * 3 // 5
    return f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"


def _ends_of_qualifiers(name: str) -> Iterator[int]:
    """Yield the positions at which parts of a C++ name begin, outside template arguments.

    A virtual table's slot, which begins with `[`, stays with its class.
    """
    depth = 0
    for at, letter in enumerate(name):
        depth += (letter == "<") - (letter == ">")
        if depth == 0 and name.startswith("::", at) and not name.startswith("[", at + 2):
            yield at + 2


def operations_text(row: SymbolRow, width: int) -> str:
    """Return the names of the operations with a function's samples, as many as fit."""
    if row["operations_all"] and len(row["operations"]) != 1:
        return "all"
    names = row["operations"]
    for count in range(len(names), 0, -1):
        left = len(names) - count
        # The shown names are sorted, so that lines can be compared by eye.
        text = " ".join(sorted(names[:count])) + (f" +{left}" if left else "")
        if len(text) <= width or count == 1:
            return text
    return "few in each"
