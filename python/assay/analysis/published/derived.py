"""Figures that an author derived from others, derived again by the analyses that records have."""

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
    """A part of a whole."""
    return part / whole


def ratio(value: float, base: float) -> float:
    """How many times as much as `base`."""
    return value / base


def same_page(random: float, same: float) -> float | None:
    """Share of random look-ups that were in the page of the one before."""
    return locality({RND: random, SAME_PAGE: same}).same_page


def rows_each(random: float, sequential: float) -> float | None:
    """Rows that were read on from each random look-up."""
    return locality({RND: random, SEQ: sequential}).rows_each


def total(values: Sequence[float]) -> float:
    """All together."""
    return math.fsum(values)


def per_work(ratio_of_rates: float, ratio_of_work: float) -> float:
    """How many times as much work is done in a time, where less of it is asked at a higher rate."""
    return ratio_of_work / ratio_of_rates


def work_each(
    work: Sequence[float], parts: Sequence[float], shares: Sequence[float]
) -> float | None:
    """How many times as much work is done for each unit of a whole, such as of CPU time.

    Args:
        work: Of the case in question, and of the one that it is compared with.
        parts: Of each a part of the whole, such as the samples of a function.
        shares: Of each the share of the whole that this part is.
    """
    each = [one * of_whole / part for one, part, of_whole in zip(work, parts, shares, strict=True)]
    return each[0] / each[1] if len(each) == 2 and each[1] else None  # noqa: PLR2004 - two cases


# By name. Those of the composite are what runs are analysed by.
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
    """A derived figure, and what its inputs give.

    Attributes:
        facts: As the article has it.
        value: By the analysis.
        agrees: Whether both are the same within what the author rounded.
    """

    facts: DerivedFacts
    value: float
    agrees: bool


def derive(published: Published, one: DerivedFacts) -> Derived:
    """Derives a figure again.

    Raises:
        UsageError: If an analysis or an input is not there.
    """
    arguments = {name: _resolved(published, given, one) for name, given in one.inputs.items()}
    value = ANALYSES[one.analysis](**arguments)
    if value is None:
        raise UsageError(f"derived {one.name!r}: an input is 0")
    return Derived(one, value, abs(value - one.value) <= one.within * abs(value))


def check_derived(published: Published, one: DerivedFacts, source: str) -> None:
    """Refuses a derived figure that cannot be derived.

    Raises:
        UsageError: With `source` and what is wrong.
    """
    where = f"{source}, derived {one.name!r}"
    if one.analysis not in ANALYSES:
        hint = suggestion(one.analysis, list(ANALYSES))
        raise UsageError(f"{where}: no analysis {one.analysis!r}; {hint}")
    wanted = list(inspect.signature(ANALYSES[one.analysis]).parameters)
    if sorted(wanted) != sorted(one.inputs):
        raise UsageError(f"{where}: {one.analysis} needs {', '.join(wanted)}")
    if one.figure is not None and published.figure(one.figure) is None:
        raise UsageError(f"{where}: no figure {one.figure!r}")
    try:
        derive(published, one)
    except UsageError as error:
        raise UsageError(f"{source}, {error}") from error
    except ZeroDivisionError as error:
        raise UsageError(f"{where}: an input is 0") from error


def _resolved(published: Published, given: Input, one: DerivedFacts) -> float | list[float]:
    if isinstance(given, tuple):
        return [_number(published, each, one) for each in given]
    return _number(published, given, one)


def _number(published: Published, given: float | str, one: DerivedFacts) -> float:
    if not isinstance(given, str):
        return float(given)
    parts = given.split("/")
    found = _cell(published, parts) if len(parts) == OF_A_TABLE else _value(published, given)
    if found is None:
        raise UsageError(
            f"derived {one.name!r}: no figure {given!r}; write it as figure.value, or as"
            " figure/table/row/column"
        )
    return found


def _value(published: Published, reference: str) -> float | None:
    name, _, key = reference.partition(".")
    figure = published.figure(name)
    told = None if figure is None else figure.measures().get(key)
    return None if told is None else told.value


def _cell(published: Published, parts: Sequence[str]) -> float | None:
    name, table_name, row_name, column = parts
    figure = published.figure(name)
    for table in () if figure is None else figure.tables:
        if table.name != table_name or column not in [each.name for each in table.columns]:
            continue
        place = table.place(column)
        for row in table.rows:
            amount = row[place]
            if row_name in row and isinstance(amount, int | float):
                return float(amount)
    return None
