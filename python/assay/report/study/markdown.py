"""The article of a study as Markdown, with tables instead of charts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.report.study.tables import cell_text, compared_table, is_number
from assay.report.study.words import (
    derived_sentence,
    doubts_sentence,
    part_rows,
    runs_sentence,
    short,
    source_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.report.documents.study import FigureEntry, StudyDocument, TableEntry

ROWS_MAX = 40
# Characters with a meaning in Markdown, with their escapes.
MARKS = str.maketrans({char: f"\\{char}" for char in "\\`*_|<>[]#"})


def markdown_lines(document: StudyDocument) -> Iterator[str]:
    """Yield the article of a study as lines of Markdown."""
    yield f"# {escaped(document['title'])}"
    yield ""
    yield from _paragraph(document["question"])
    article = document["article"]
    if article is not None:
        url = f" <{article['url']}>" if article["url"] else ""
        about = f" {escaped(article['about'])}" if article["about"] else ""
        yield f"It repeats {escaped(article['words'])}{url}.{about}"
        yield ""
    yield from _heading("In short")
    yield from _paragraph(f"Verdict: {document['verdict']}. {' '.join(document['answers'])}")
    doubts = doubts_sentence(document)
    if doubts:
        yield from _paragraph(doubts)
    yield from _list(sentence for _, sentence in short(document))
    yield from _heading("What was run")
    yield from _paragraph(runs_sentence(document))
    rows = [
        [part["name"], part["about"], part["varies"], part["runs"]] for part in part_rows(document)
    ]
    yield from _grid(["part", "what for", "what varies", "runs"], rows, [False] * 3 + [True])
    if article is not None and article["differs"]:
        yield from _heading("What differs from the article's measurement")
        yield from _list(article["differs"])
    for number, figure in enumerate(document["figures"], 1):
        yield from _figure(document, figure, number)
    yield from _end(document)


def escaped(text: str) -> str:
    """Return text in which Markdown characters are escaped."""
    return " ".join(str(text).split()).translate(MARKS)


def _figure(document: StudyDocument, figure: FigureEntry, number: int) -> Iterator[str]:
    yield from _heading(f"{number}. {figure['title']}")
    for sentence in figure["says"]:
        yield from _paragraph(sentence)
    if not figure["says"] and (figure["missing"] or not figure["tables"]):
        does = "conclude" if figure["tables"] else "show"
        yield from _paragraph(f"Nothing to {does}: {'; '.join(figure['missing'])}.")
    yield from _article_lines(document, figure)
    for table in figure["tables"]:
        yield f"*{escaped(table['title'])}*"
        yield ""
        yield from _table(table)
    yield from _list(figure["notes"])


def _article_lines(document: StudyDocument, figure: FigureEntry) -> Iterator[str]:
    article = figure["article"]
    if article is None:
        return
    if article["says"]:
        source = source_text(document, article)
        yield f"> {escaped(article['says'])} ({escaped(source)}; in our words)"
        yield ""
    compared = compared_table(figure)
    if compared is not None:
        yield from _table(compared)
    yield from _list(
        [*article["differs"], *(derived_sentence(derived) for derived in article["derived"])]
    )
    if article["reasons"]:
        yield "Why they differ:"
        yield ""
        yield from _list(article["reasons"])
    for table in article["tables"]:
        yield f"*the article: {escaped(table['title'])}*"
        yield ""
        yield from _table(table)


def _end(document: StudyDocument) -> Iterator[str]:
    yield from _heading("What could not be shown, and why")
    lines = [f"{entry['what']}: {entry['why']}" for entry in document["not_shown"]]
    yield from _list(lines or ["Everything that was asked for is shown."])
    if document["derived"]:
        yield from _heading("The article's own arithmetic")
        yield from _list(derived_sentence(derived) for derived in document["derived"])
    yield from _heading("Under which conditions")
    rows = [
        [condition["what"], "; ".join(condition["values"])] for condition in document["environment"]
    ]
    yield from _grid(["", "here"], rows, [False, False])
    for notice in document["legal"]:
        yield from _paragraph(notice)


def _heading(title: str) -> Iterator[str]:
    yield f"## {escaped(title)}"
    yield ""


def _paragraph(text: str) -> Iterator[str]:
    yield escaped(text)
    yield ""


def _list(texts: Iterable[str]) -> Iterator[str]:
    items = list(texts)
    yield from (f"- {escaped(text)}" for text in items)
    if items:
        yield ""


def _table(table: TableEntry) -> Iterator[str]:
    columns = table["columns"]
    rows = [
        [cell_text(cell, column) for cell, column in zip(row, columns, strict=True)]
        for row in table["rows"][:ROWS_MAX]
    ]
    heads = [column["name"] for column in columns]
    yield from _grid(heads, rows, [is_number(column) for column in columns])
    left = len(table["rows"]) - ROWS_MAX
    if left > 0:
        yield f"... {left} more rows are in its CSV file"
        yield ""


def _grid(
    heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[bool]
) -> Iterator[str]:
    yield f"| {' | '.join(escaped(head) for head in heads)} |"
    yield f"| {' | '.join('---:' if number else '---' for number in numbers)} |"
    for row in rows:
        yield f"| {' | '.join(escaped(cell) for cell in row)} |"
    yield ""
