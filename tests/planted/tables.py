"""Lines and tables of what a planted set came to."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.planted.cells import HALVES
from tests.planted.measuring import Judged
from tests.planted.scoring import Score, wilson

HEAD = (
    f"{'half':<5}{'cell':<30}{'engine':<15}{'true share':<21}"
    f"{'named':<7}{'root':<6}{'wrong':<7}{'silent':<8}{'error':<7}{'false':<7}first wrong or false"
)


def line(judged: Judged) -> str:
    """A cell in a line; figures are of its first run with the cause."""
    cell = judged.measured
    begin = f"{cell.half[:4]:<5}{cell.name:<30}{cell.engine:<15}"
    if cell.skipped is not None:
        return f"{begin}skipped: {' '.join(cell.skipped.split())}"
    shares = f"{cell.share:.0%} ({min(cell.shares):.0%} to {max(cell.shares):.0%})"
    begin += f"{shares:<21}"
    if not judged.scores:
        return begin.rstrip()
    score, false = judged.first, [claim for claims in judged.false for claim in claims]
    error = "-" if score.error is None else f"{score.error:.2f}"
    return (
        f"{begin}{_hits(score.named):<7}{_hits(score.root):<6}{len(score.wrong):<7}"
        f"{'yes' if score.silent else 'no':<8}{error:<7}{len(false):<7}"
        f"{next(iter((*score.wrong, *false)), '')[:90]}"
    ).rstrip()


def _hits(of_causes: Sequence[bool]) -> str:
    return f"{sum(of_causes)}/{len(of_causes)}"


@dataclass(frozen=True)
class Count:
    """How many of how many."""

    hits: int
    trials: int

    def text(self) -> str:
        """The share and its 95 % bounds."""
        if not self.trials:
            return "-"
        least, most = wilson(self.hits, self.trials)
        share = self.hits / self.trials
        return f"{self.hits} of {self.trials}, {share:.0%} ({least:.0%} to {most:.0%})"


COLUMNS = (
    "half",
    "engine",
    "cells",
    "named",
    "root",
    "confidently wrong",
    "silent",
    "twins with a false cause",
    "error, saved",
    "error, time in it",
)
ALL = "all"
# On some hosts a cause costs next to nothing, and what is not there cannot be named: such cells
# stand in the list, and count in no table.
COUNTED_SHARE_MIN = 0.15


def is_counted(cell: Judged) -> bool:
    """Return whether a cell was explained and its cause cost a part of the time that counts."""
    return bool(cell.scores) and cell.measured.share >= COUNTED_SHARE_MIN


def table(cells: Sequence[Judged], *, every_run: bool = False) -> list[str]:
    """A Markdown table by half and engine; of the first run with the cause, or of every one."""
    scored = [cell for cell in cells if is_counted(cell)]
    rows = [COLUMNS, tuple("---:" if number > 1 else "---" for number in range(len(COLUMNS)))]
    for half in HALVES:
        of_half = [cell for cell in scored if cell.measured.half == half]
        engines = sorted({cell.measured.engine for cell in of_half})
        for engine in (*engines, ALL) if of_half else ():
            chosen = [cell for cell in of_half if engine in {ALL, cell.measured.engine}]
            rows.append((half, engine, str(len(chosen)), *_figures(chosen, every_run=every_run)))
    return [f"| {' | '.join(row)} |" for row in rows]


def _figures(cells: Sequence[Judged], *, every_run: bool) -> Iterator[str]:
    scores = [score for cell in cells for score in (cell.scores if every_run else cell.scores[:1])]
    yield _count(hit for score in scores for hit in score.named)
    yield _count(hit for score in scores for hit in score.root)
    yield _count(bool(score.wrong) for score in scores)
    yield _count(score.silent for score in scores)
    yield _count(bool(claims) for cell in cells for claims in cell.false)
    yield _median(scores, lambda score: score.error)
    yield _median(scores, lambda score: score.error_effect)


def _count(hits: Iterable[bool]) -> str:
    listed = list(hits)
    return Count(sum(listed), len(listed)).text()


def _median(scores: Sequence[Score], figure: Callable[[Score], float | None]) -> str:
    figures = [value for score in scores if (value := figure(score)) is not None]
    return f"{statistics.median(figures):.2f}" if figures else "-"


def kinds_table(cells: Sequence[Judged]) -> list[str]:
    """A Markdown table by kind of cause: how often it was named, and its root."""
    by_kind: dict[str, list[tuple[bool, bool]]] = {}
    for cell in cells:
        if is_counted(cell):
            hits = zip(cell.measured.kinds, cell.first.named, cell.first.root, strict=True)
            for kind, named, root in hits:
                by_kind.setdefault(kind, []).append((named, root))
    rows = [
        f"| {kind} | {_of(hits, 0)} | {_of(hits, 1)} |" for kind, hits in sorted(by_kind.items())
    ]
    return ["| cause | named | root |", "| --- | ---: | ---: |", *rows]


def _of(hits: Sequence[tuple[bool, bool]], place: int) -> str:
    return f"{sum(hit[place] for hit in hits)} of {len(hits)}"
