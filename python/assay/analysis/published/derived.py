"""Recomputes results that a published article's author derived from measured values."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.composite.memory import extrapolated_bytes
from assay.analysis.composite.utilisation import utilised_share
from assay.analysis.counters.meters import RND, SAME_PAGE, SEQ, locality
from assay.model.errors import UsageError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from assay.analysis.published.facts import DerivedFacts, Input, Published


def share(part: float, whole: float) -> float:
    """Return a part divided by its whole."""
    return part / whole


def ratio(value: float, base: float) -> float:
    """Return a value divided by a base value."""
    return value / base


def same_page(random: float, same: float) -> float | None:
    """Return the share of random index look-ups that hit the page of the previous look-up."""
    return locality({RND: random, SAME_PAGE: same}).same_page


def rows_each(random: float, sequential: float) -> float | None:
    """Return the number of rows read sequentially after each random index look-up."""
    return locality({RND: random, SEQ: sequential}).rows_each


def total(values: Sequence[float]) -> float:
    """Return the sum of the given values."""
    return math.fsum(values)


def per_work(ratio_of_rates: float, ratio_of_work: float) -> float:
    """Return the factor of work per unit of time between two systems, from two ratios."""
    return ratio_of_work / ratio_of_rates


def work_each(
    work: Sequence[float], parts: Sequence[float], shares: Sequence[float]
) -> float | None:
    """Return the ratio of two cases' work per unit, such as per second of CPU time.

    Args:
        work: Work of the case in question, and of the case for comparison.
        parts: Part of the whole in each case, such as the samples of a function.
        shares: Share of the whole that this part is, in each case.
    """
    ratios = [
        amount * of_whole / part for amount, part, of_whole in zip(work, parts, shares, strict=True)
    ]
    return ratios[0] / ratios[1] if len(ratios) == 2 and ratios[1] else None  # noqa: PLR2004 - two cases


# Analyses by name. The functions for the composite are those that analyse runs.
ANALYSES: Mapping[str, Callable[..., float | None]] = {
    "share": share,
    "ratio": ratio,
    "sum": total,
    "same_page": same_page,
    "rows_each": rows_each,
    "per_work": per_work,
    "work_each": work_each,
    "utilised_share": utilised_share,
    "extrapolated_bytes": extrapolated_bytes,
}
OF_A_TABLE = 4


@dataclass(frozen=True)
class Derived:
    """A result that an article's author derived, with the same computation of its inputs.

    Attributes:
        facts: The derived figure in the article.
        value: Value by the analysis.
        agrees: Whether both values are equal within the author's rounding.
    """

    facts: DerivedFacts
    value: float
    agrees: bool


def derive(published: Published, facts: DerivedFacts) -> Derived:
    """Return an author's derived result with the value that the same computation gives.

    Raises:
        UsageError: If an analysis or an input does not exist.
    """
    arguments = {name: _resolved(published, given, facts) for name, given in facts.inputs.items()}
    value = ANALYSES[facts.analysis](**arguments)
    if value is None:
        raise UsageError(f"derived {facts.name!r}: an input of the formula is 0")
    return Derived(facts, value, abs(value - facts.value) <= facts.within * abs(value))


def check_derived(published: Published, facts: DerivedFacts, source: str) -> None:
    """Raise `UsageError` if an article's derived result cannot be computed from its inputs.

    Raises:
        UsageError: If the analysis or an input is missing. The message contains `source`.
    """
    where = f"{source}, derived {facts.name!r}"
    if facts.analysis not in ANALYSES:
        hint = suggestion(facts.analysis, list(ANALYSES))
        raise UsageError(f"{where}: unknown analysis {facts.analysis!r}; {hint}")
    wanted = list(inspect.signature(ANALYSES[facts.analysis]).parameters)
    if sorted(wanted) != sorted(facts.inputs):
        raise UsageError(f"{where}: the analysis {facts.analysis} needs {', '.join(wanted)}")
    if facts.figure is not None and published.figure(facts.figure) is None:
        raise UsageError(f"{where}: the study has no figure {facts.figure!r}")
    try:
        derive(published, facts)
    except UsageError as error:
        raise UsageError(f"{source}, {error}") from error
    except ZeroDivisionError as error:
        raise UsageError(f"{where}: an input of the formula is 0") from error


def _resolved(published: Published, given: Input, facts: DerivedFacts) -> float | list[float]:
    if isinstance(given, tuple):
        return [_number(published, reference, facts) for reference in given]
    return _number(published, given, facts)


def _number(published: Published, given: float | str, facts: DerivedFacts) -> float:
    if not isinstance(given, str):
        return float(given)
    parts = given.split("/")
    value = _cell(published, parts) if len(parts) == OF_A_TABLE else _value(published, given)
    if value is None:
        raise UsageError(
            f"derived {facts.name!r}: unknown figure {given!r}; write figure.value, or "
            "figure/table/row/column"
        )
    return value


def _value(published: Published, reference: str) -> float | None:
    name, _, key = reference.partition(".")
    figure = published.figure(name)
    value = None if figure is None else figure.measures().get(key)
    return None if value is None else value.value


def _cell(published: Published, parts: Sequence[str]) -> float | None:
    name, table_name, row_name, column = parts
    figure = published.figure(name)
    for table in () if figure is None else figure.tables:
        if table.name != table_name or column not in [
            table_column.name for table_column in table.columns
        ]:
            continue
        place = table.place(column)
        for row in table.rows:
            amount = row[place]
            if row_name in row and isinstance(amount, int | float):
                return float(amount)
    return None
