"""Terminal output of a comparison of two systems: the difference and its explanation."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from assay.analysis.figures.compare.compare_tables import (
    FOREST,
    GAIN,
    PLANNING,
    PLANS,
    PRUNING,
    SETTINGS,
    STATEMENTS,
    TAIL,
    TOTAL,
    is_remarkable,
)
from assay.analysis.profile.difference import SAMPLES_MIN
from assay.analysis.quantities import SECONDS, SHARE, TIMES, text
from assay.report.study.words import doubts_sentence
from assay.report.words.wrapping import indented

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.report.documents.study import FigureEntry, StudyDocument

LEAD = "  "
ROWS_MAX = 8
KIND = "compare"
# Causes with a smaller share of the difference are shown only with --all.
SHARE_MIN = 0.01


def compare_lines(document: StudyDocument, width: int, *, whole: bool = False) -> Iterator[str]:
    """Yield terminal lines of a comparison of two systems.

    Args:
        document: Document of the study, which has a figure of kind `compare`.
        width: Columns of the terminal.
        whole: Whether to show every row, not only the largest.
    """
    figure = next(shown for shown in document["figures"] if shown["kind"] == KIND)
    verdict = str(document["verdict"]).upper()
    yield f"{document['title'][: width - len(verdict) - 1]:<{width - len(verdict) - 1}} {verdict}"
    yield from indented(" ".join(document["answers"]), LEAD, width)
    if (doubts := doubts_sentence(document)) is not None:
        yield from indented(doubts, LEAD, width)
    yield ""
    for sentence in figure["says"] or [f"nothing to show: {'; '.join(figure['missing'])}"]:
        yield from indented(sentence, LEAD, width)
    tables = {table["name"]: table for table in figure["tables"]}
    most = None if whole else ROWS_MAX
    for name, lines in (
        (FOREST, _ratios),
        (GAIN, _gain),
        (STATEMENTS, _statements),
        (PLANNING, _planning),
        (TAIL, _tail),
        (PLANS, _plans),
        (PRUNING, _pruning),
        (SETTINGS, _settings),
    ):
        if name in tables:
            yield ""
            yield from lines(tables[name], width, most)
    for sentence in figure["missing"] if figure["says"] else ():
        yield from indented(f"Not known: {sentence}", LEAD, width)
    yield from _end(document, figure, width, whole=whole)


def _end(document: StudyDocument, figure: FigureEntry, width: int, *, whole: bool) -> Iterator[str]:
    yield ""
    for sentence in figure["notes"] if whole else ():
        yield from indented(sentence, LEAD, width)
    if document["report"]:
        yield f"Page  {document['report']}"
    for sentence in document["legal"]:
        yield f"      {sentence}"


def _ratios(table: Mapping[str, Any], width: int, most: int | None) -> Iterator[str]:
    names = [column["name"] for column in table["columns"]][2:4]
    of = max(12, width - 57)
    yield from textwrap.wrap(f"Ratios: {table['title']}", width)
    yield f"{LEAD}{'':<{of}}{_heads(names)} {'ratio':>8}  95 %"
    rows = _first_of(table["rows"], most)
    for of_what, quantity, first, second, ratio, low, high, differs in rows:
        mark = " " if differs == "yes" else "~"
        name = _short(f"{of_what}, {quantity}", of)
        yield (
            f"{LEAD}{name:<{of}} {first:>11} {second:>11} {text(ratio, TIMES):>8}{mark}"
            f" {_ends(low, high, TIMES)}"
        ).rstrip()[:width]
    yield from _left(table["rows"], rows)
    yield f"{LEAD}~ may be noise"


def _gain(table: Mapping[str, Any], width: int, most: int | None) -> Iterator[str]:
    of = max(12, width - 44)
    yield from textwrap.wrap(_capital(table["title"]), width)
    every = [row for row in table["rows"] if row[0] != TOTAL]
    large = [row for row in every if row[4] is None or abs(row[4]) >= SHARE_MIN]
    rows = every if most is None else large[: most + 2]
    yield f"{LEAD}{'':<{of}} {'seconds':>9} {'share':>7}  95 %"
    for row in [*rows, *_others(every, rows), table["rows"][-1]]:
        cause, seconds, low, high, share, differs = row
        mark = "~" if differs == "no" else " "
        yield (
            f"{LEAD}{_short(cause, of):<{of}} {text(seconds, SECONDS):>9}"
            f" {text(share, SHARE):>7}{mark} {_ends(low, high, SECONDS)}"
        ).rstrip()[:width]


def _others(every: Sequence[Sequence[Any]], rows: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    left = (
        every[len(rows) :]
        if every[: len(rows)] == list(rows)
        else [r for r in every if r not in rows]
    )
    if not left:
        return []
    shares = [row[4] for row in left]
    share = None if None in shares else sum(shares)
    return [(f"{len(left)} others (--all)", sum(row[1] for row in left), None, None, share, None)]


def _statements(table: Mapping[str, Any], width: int, most: int | None) -> Iterator[str]:
    of = max(12, width - 56)
    yield from textwrap.wrap(_capital(table["title"]), width)
    rows = _first_of(table["rows"], most)
    yield f"{LEAD}{'':<{of}} {'seconds':>9} {'share':>7}  most by"
    for name, seconds, _, _, share, differs, cause, own in rows:
        mark = "~" if differs == "no" else " "
        yield (
            f"{LEAD}{_short(name, of):<{of}} {text(seconds, SECONDS):>9}"
            f" {text(share, SHARE):>7}{mark} {_short(f'{cause} {text(own, SECONDS)}', 33)}"
        )
    yield from _left(table["rows"], rows)


def _planning(table: Mapping[str, Any], width: int, most: int | None) -> Iterator[str]:
    names = [column["name"] for column in table["columns"]][2:4]
    of = max(12, width - 50)
    yield f"{_capital(table['title'])}"[:width]
    yield f"{LEAD}{'':<{of}}{_heads(names)} {'change':>9} samples"
    every = (
        table["rows"] if most is None else [row for row in table["rows"] if row[1] == "all steps"]
    )
    rows = _first_of(every, most)
    for name, step, first, second, change, low, high, samples in rows:
        mark = "~" if low is None or low <= 0 <= high or samples < SAMPLES_MIN else " "
        label = name if step == "all steps" else f"{name}, {step}"
        yield (
            f"{LEAD}{_short(label, of):<{of}} {text(first, SECONDS):>11}"
            f" {text(second, SECONDS):>11} {text(change, SECONDS):>9}{mark} {samples:>6}"
        )
    yield from _left(every, rows)


def _tail(table: Mapping[str, Any], width: int, most: int | None) -> Iterator[str]:
    yield (
        "Statement that causes the tail latency, and its share of the extra time of the "
        "slowest executions"
    )
    for row in _first_of(table["rows"], most):
        sides = [_tail_statement(*row[1:4]), _tail_statement(*row[4:7])]
        of = (width - 18) // 2
        yield f"{LEAD}{_short(row[0], 13):<13} {_short(sides[0], of):<{of}} {_short(sides[1], of)}"


def _tail_statement(statement: str | None, share: float | None, beyond_s: float | None) -> str:
    if statement is None:
        return "no tail"
    return f"{statement} {text(share, SHARE)} (from {text(beyond_s, SECONDS)})"


def _plans(table: Mapping[str, Any], width: int, most: int | None) -> Iterator[str]:
    yield "Plans, columns and reads that differ"
    rows = _first_of(table["rows"], most)
    for name, what, says, *_ in rows:
        lead = f"{LEAD}{name}, {what}: "
        yield from textwrap.wrap(
            f"{lead}{says}",
            width,
            subsequent_indent=LEAD * 2,
            drop_whitespace=True,
            initial_indent="",
        )
    yield from _left(table["rows"], rows)


def _pruning(table: Mapping[str, Any], width: int, most: int | None) -> Iterator[str]:
    names = [column["name"].removesuffix(": reads") for column in table["columns"][2::2]]
    every = [row for row in table["rows"] if most is None or is_remarkable(row[2:])]
    of = max(12, width - 47)
    yield "Number of columns that are read from each table, and how many are needed"
    if not every:
        yield f"{LEAD}no unneeded column is read, as far as the plans show (--all)"
        return
    yield f"{LEAD}{'':<{of}} {'table':<11}{_heads(names, 16)}"
    rows = _first_of(every, most)
    for name, of_table, *counts in rows:
        cells = "".join(f" {_needed(*counts[side : side + 2]):>16}" for side in (0, 2))
        yield f"{LEAD}{_short(name, of):<{of}} {_short(of_table, 11):<11}{cells}"
    yield from _left(every, rows)


def _needed(reads: int | None, needs: int | None) -> str:
    return "not told" if reads is None else f"{reads}, needs {needs}"


def _settings(table: Mapping[str, Any], width: int, most: int | None) -> Iterator[str]:
    yield "Settings that differ"
    rows = _first_of(table["rows"], most)
    for name, first, second in rows:
        yield _short(f"{LEAD}{name}: {first} | {second}", width)
    yield from _left(table["rows"], rows)


def _first_of(rows: Sequence[Any], most: int | None) -> Sequence[Any]:
    return rows if most is None else rows[:most]


def _left(rows: Sequence[Any], shown: Sequence[Any]) -> Iterator[str]:
    if len(rows) > len(shown):
        yield f"{LEAD}... {len(rows) - len(shown)} more (--all)"


def _ends(low: float | None, high: float | None, unit: str) -> str:
    return "" if low is None or high is None else f"{text(low, unit)} to {text(high, unit)}"


def _heads(names: Sequence[str], of: int = 11) -> str:
    return "".join(f" {_short(name, of):>{of}}" for name in _apart(names, of))


def _apart(names: Sequence[str], of: int) -> Sequence[str]:
    """Return column names without their common beginning, if they are otherwise equal."""
    if len({_short(name, of) for name in names}) == len(names):
        return names
    for mark in "=@":
        if len({name.rpartition(mark)[0] for name in names}) == 1 and mark in names[0]:
            return [name.rpartition(mark)[2] for name in names]
    return names


def _short(sentence: str, most: int) -> str:
    return sentence if len(sentence) <= most else f"{sentence[: max(0, most - 3)]}..."


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
