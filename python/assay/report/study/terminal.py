"""The article of a study for a terminal: sentences, and the published article's values."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from assay.report.study.tables import cell_text, compared_table, is_number
from assay.report.study.trade_text import trade_lines
from assay.report.study.words import (
    derived_sentence,
    doubts_sentence,
    paragraphs,
    runs_sentence,
    source_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.report.documents.study import (
        FigureContent,
        FigureEntry,
        StudyDocument,
        TableEntry,
    )

LEAD = "  "
ROWS_MAX, NOT_SHOWN_MAX = 8, 6
CELL_MIN, GAP = 8, "  "


def article_lines(document: StudyDocument, width: int, *, whole: bool = False) -> Iterator[str]:
    """Yield the article of a study as lines for a terminal.

    Args:
        document: Document of the study.
        width: Columns of the terminal.
        whole: Whether to show every row and every table, not only the first ones.
    """
    verdict = str(document["verdict"]).upper()
    yield f"{document['title']:<{max(0, width - len(verdict) - 1)}} {verdict}"
    for paragraph in paragraphs(document["question"]):
        yield from _wrapped(paragraph, width)
    yield from _wrapped(runs_sentence(document), width)
    yield from _wrapped(" ".join(document["answers"]), width)
    doubts = doubts_sentence(document)
    if doubts is not None:
        yield from _wrapped(doubts, width)
    for number, figure in enumerate(document["figures"], 1):
        yield ""
        yield f"{number}  {figure['title']}"
        yield from _figure(document, figure, width, whole=whole)
    yield from _not_shown(document, width, whole=whole)
    yield ""
    if document["report"]:
        yield f"Article  {document['report']}"
    for notice in document["legal"]:
        yield f"         {notice}"


def _figure(
    document: StudyDocument, figure: FigureEntry, width: int, *, whole: bool
) -> Iterator[str]:
    alone = len(document["figures"]) == 1
    for sentence in figure["says"] if whole or alone else figure["says"][:1]:
        yield from _wrapped(sentence, width)
    if not figure["says"]:
        yield from _wrapped(f"nothing to show: {'; '.join(figure['missing'])}", width)
    yield from trade_lines(figure, width)
    compared, article = _compared(figure, width), figure["article"]
    if compared is not None:
        yield ""
        yield from _grid(compared, width, None if whole else ROWS_MAX)
    if article is not None and whole:
        yield from _wrapped(f"{article['says']} ({source_text(document, article)})", width)
        for sentence in [*article["differs"], *article["reasons"]]:
            yield from _item(sentence, width)
        for derived in article["derived"]:
            yield from _item(derived_sentence(derived), width)
    # For a study with a single figure, the first table is shown.
    for table in figure["tables"] if whole else figure["tables"][:1] if alone else ():
        yield ""
        yield f"{LEAD}{table['title']}"
        yield from _grid(table, width, None)
    for sentence in figure["notes"] if whole else ():
        yield from _item(sentence, width)


def figure_lines(figure: FigureContent, width: int) -> Iterator[str]:
    """Yield terminal lines of one result, such as a predicted cluster size."""
    yield str(figure["title"])
    for sentence in figure["says"]:
        yield from _wrapped(sentence, width)
    for table in figure["tables"]:
        yield ""
        yield f"{LEAD}{table['title']}"
        yield from _grid(table, width, None)
    for head, sentences in (("Notes", figure["notes"]), ("Not shown, and why", figure["missing"])):
        if sentences:
            yield ""
            yield head
            for sentence in sentences:
                yield from _item(sentence, width)


def _compared(figure: FigureEntry, width: int) -> TableEntry | None:
    """Return the published values beside the study's, as terminal lines."""
    table = compared_table(figure)
    if table is None:
        return None
    rows = [[column["name"] for column in table["columns"]], *table["rows"]]
    needed = sum(max(len(cell) for cell in column) for column in zip(*rows, strict=True))
    room = width - len(LEAD) - len(GAP) * (len(table["columns"]) - 1)
    return table if needed <= room else compared_table(figure, times=False)


def _not_shown(document: StudyDocument, width: int, *, whole: bool) -> Iterator[str]:
    entries = document["not_shown"]
    if not entries:
        return
    yield ""
    yield "Not shown, and why"
    shown = entries if whole else entries[:NOT_SHOWN_MAX]
    for entry in shown:
        yield from _item(f"{entry['what']}: {entry['why']}", width)
    if len(entries) > len(shown):
        yield f"{LEAD}... {len(entries) - len(shown)} more (--all)"


def _grid(table: TableEntry, width: int, most: int | None) -> Iterator[str]:
    """Yield the lines of a table for a terminal, with columns as wide as needed."""
    columns = table["columns"]
    rows = [
        [cell_text(cell, column) for cell, column in zip(row, columns, strict=True)]
        for row in table["rows"][:most]
    ]
    heads = [column["name"] for column in columns]
    numbers = [is_number(column) for column in columns]
    widths = _widths(heads, rows, width)
    for row in [*_head_lines(heads, widths), *rows]:
        line = GAP.join(_cell(*cell) for cell in zip(row, widths, numbers, strict=True))
        yield f"{LEAD}{line}".rstrip()[:width]
    left = len(table["rows"]) - len(rows)
    if left > 0:
        yield f"{LEAD}... {left} more (--all)"


def _widths(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return table column widths that fit the longest cells, within the terminal.

    Headings shrink before cells: their words are broken into several lines.
    """
    widths = [max(len(cell) for cell in column) for column in zip(heads, *rows, strict=True)]
    room = width - len(LEAD) - len(GAP) * (len(widths) - 1)
    longest_words = [max(head.split(), key=len, default="") for head in heads]
    least = [max(len(cell) for cell in column) for column in zip(longest_words, *rows, strict=True)]
    while sum(widths) > room:
        wide = [at for at, current in enumerate(widths) if current > least[at]]
        if not wide:
            break
        widths[max(wide, key=lambda at: widths[at])] -= 1
    while sum(widths) > room and max(widths) > CELL_MIN:
        widths[widths.index(max(widths))] -= 1
    return widths


def _head_lines(heads: Sequence[str], widths: Sequence[int]) -> Iterator[Sequence[str]]:
    """Yield column headings on as many lines as the longest heading needs."""
    pairs = zip(heads, widths, strict=True)
    wrapped = [textwrap.wrap(head, width, break_long_words=False) for head, width in pairs]
    count = max(len(lines) for lines in wrapped)
    for line in range(-count, 0):
        yield [lines[line] if -line <= len(lines) else "" for lines in wrapped]


def _cell(text: str, width: int, number: bool) -> str:  # noqa: FBT001 - of a column
    shown = text if len(text) <= width else f"{text[: width - 3]}..."
    return f"{shown:>{width}}" if number else f"{shown:<{width}}"


def _wrapped(text: str, width: int) -> Sequence[str]:
    return textwrap.wrap(text, width, initial_indent=LEAD, subsequent_indent=LEAD)


def _item(text: str, width: int) -> Sequence[str]:
    lead = f"{LEAD}- "
    return textwrap.wrap(text, width, initial_indent=lead, subsequent_indent=" " * len(lead))
