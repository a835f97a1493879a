"""Compares a study's result with the published article's result of the same name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.quantities import BYTES, COUNT, PER_HOUR, SECONDS, TIMES, listed, text
from assay.analysis.work.rules import UNCLASSIFIED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.analysis.figures.contract import Figure
    from assay.analysis.published.facts import FigureFacts, Value
    from assay.analysis.quantities import Spread

# Amounts in these units depend on scale and machine, so only their ratios are compared.
RELATIVE = (SECONDS, BYTES, PER_HOUR)
ROWS_MAX = 32
# With more quantities than this, sentences would only repeat the table.
SAID_MAX = 12


@dataclass(frozen=True)
class Beside:
    """One quantity of a published article, with the study's values for it.

    Attributes:
        key: Key of the article's value and of the measure.
        title: Title for readers.
        unit: Unit of the article's value.
        article: The article's value; for a range its lower end.
        article_high: The upper end of a range.
        printed: Text of the value as printed in the article.
        ours: The study's values by name of subject; empty if not measured.
        base: Key of the quantity by which the others are divided; None if they are not divided.
        article_times, our_times: The values divided by that of the base.
    """

    key: str
    title: str
    unit: str
    article: float
    article_high: float | None
    printed: str
    ours: Mapping[str, Spread]
    base: str | None = None
    article_times: float | None = None
    our_times: Mapping[str, float] | None = None


def compare(figure: Figure, facts: FigureFacts) -> tuple[Beside, ...]:
    """Return a published article's quantities, with the study's values in the same unit."""
    rows = [_beside(figure, key, value) for key, value in facts.measures().items()]
    return tuple(_with_times(row, rows) for row in rows[:ROWS_MAX])


def middle(row: Beside) -> float:
    """Return a published article's value, or the middle of its range."""
    return row.article if row.article_high is None else (row.article + row.article_high) / 2


def _beside(figure: Figure, key: str, value: Value) -> Beside:
    measure = figure.measure(key)
    same = measure is not None and measure.unit == value.unit
    return Beside(
        key,
        value.title or (measure.title if measure is not None else key.replace("_", " ")),
        value.unit,
        value.value,
        value.high,
        value.printed or printed(value),
        dict(measure.values) if measure is not None and same else {},
    )


def printed(value: Value) -> str:
    """Return a published article's value as text in its unit."""
    ends = (value.value,) if value.high is None else (value.value, value.high)
    if value.unit == SECONDS and value.value >= 1:
        return f"{' to '.join(f'{end:g}' for end in ends)} s"
    return " to ".join(text(end, value.unit) for end in ends)


def _with_times(row: Beside, every: list[Beside]) -> Beside:
    """Return a quantity in multiples of the first quantity of its unit, in article and study."""
    comparable = [other for other in every if other.unit == row.unit and other.ours]
    if row.unit not in RELATIVE or len(comparable) < 2 or not row.ours:  # noqa: PLR2004
        return row
    base = comparable[0]
    ours = {
        name: spread.middle / base.ours[name].middle
        for name, spread in row.ours.items()
        if name in base.ours and base.ours[name].middle
    }
    if row is base:
        ours = {}
    return Beside(
        **{
            **vars(row),
            "base": base.title,
            "article_times": None if row is base else middle(row) / middle(base),
            "our_times": ours,
        }
    )


def says(rows: tuple[Beside, ...], figure: Figure) -> Iterator[str]:
    """Yield sentences that compare the study's values with a published article's."""
    if rows and all(row.unit == "share" for row in rows) and len(rows) > 3:  # noqa: PLR2004
        yield from _share_sentences(rows, figure)
        return
    if len(rows) > SAID_MAX:
        return
    for row in rows:
        if row.ours and row.unit not in (*RELATIVE, COUNT):
            ours = [f"{name} {text(spread.middle, row.unit)}" for name, spread in row.ours.items()]
            yield f"{_sentence(row.title)}: {row.printed} in the article; here {listed(ours, 8)}."
        if row.article_times is not None and row.our_times:
            ours = [f"{name} {text(times, TIMES)}" for name, times in row.our_times.items()]
            theirs = f"{text(row.article_times, TIMES)} {row.base} in the article"
            yield f"{_sentence(row.title)} is {theirs}; here {listed(ours, 8)}."


def _sentence(phrase: str) -> str:
    return f"{phrase[:1].upper()}{phrase[1:]}"


def _share_sentences(rows: tuple[Beside, ...], figure: Figure) -> Iterator[str]:
    """Yield sentences on the largest shares in the article and in the study."""
    order = sorted(rows, key=lambda row: -row.article)
    theirs = [row.key for row in order[:3]]
    lead_there = listed([f"{row.key} {text(row.article, row.unit)}" for row in order[:3]])
    yield f"In the article {lead_there} lead."
    for name in figure.subjects:
        mine = sorted(
            (measure for measure in figure.measures if name in measure.values),
            key=lambda measure: -measure.values[name].middle,
        )
        lead = [measure.key for measure in mine[:3]]
        if UNCLASSIFIED in lead[:1]:
            yield f"{name}: most of it is not explained."
            continue
        common = [key for key in lead if key in theirs]
        both = f"{listed(common)} in both" if common else "none of them in both"
        yield f"{name}: {listed(lead)} lead, {both}."
