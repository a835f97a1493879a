"""Terminal output of each operation's time before and after a change."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from assay.model.units import percent_text, seconds_text
from assay.report.words.wrapping import indented, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.before_after import BeforeAfter, BeforeAfterRow

# Larger changes are shown as a ratio instead of a percentage.
TIMES_MIN = 2.0
NAME_MAX = 28
# Last line of the table.
INTERVALS = (
    "95 % intervals over the passes of one run each; they do not include variation between runs"
)


def before_after_lines(changes: BeforeAfter, width: int) -> Iterator[str]:
    """Yield terminal lines of each operation's time before and after a change."""
    rows = changes["operations"]
    yield "Before and after"
    yield from indented(f"before is {changes['before']}{_age(changes)}", "  ", width)
    yield ""
    names = max((len(row["operation"]) for row in rows), default=0)
    column = min(NAME_MAX, max(names, len("operation")))
    yield f"  {'operation':<{column}} {'before':>9} {'after':>9}  change"
    for row in rows:
        times = f"{_time(row['before_s'])} {_time(row['after_s'])}"
        lead = f"  {row['operation'][:column]:<{column}} {times}  "
        yield from textwrap.wrap(
            _change_text(row),
            max(width, len(lead) + 20),
            initial_indent=lead,
            subsequent_indent=" " * len(lead),
        )
    yield from indented(INTERVALS, "  ", width)


def _change_text(row: BeforeAfterRow) -> str:
    plan = "" if row["plan"] is None else f"; {one_line(row['plan'])}"
    return f"{_factor_text(row)}{plan}"


def _factor_text(row: BeforeAfterRow) -> str:
    if row["verdict"] == "other text":
        return "not compared: the statement was changed"
    factor, interval = row["factor"], row["interval"]
    if factor is None:
        return "not compared: it did not succeed in both runs"
    if interval is None:
        return f"{_size(factor)}, too few passes for an interval"
    low, high = interval
    if row["verdict"] == "within noise":
        return f"within noise [{_signed(low)}, {_signed(high)}]"
    if max(factor, 1 / factor) < TIMES_MIN:
        return f"{_size(factor)} [{_signed(low)}, {_signed(high)}]"
    edges = (1 / high, 1 / low) if factor < 1 else (low, high)
    return f"{_size(factor)} [{edges[0]:.3g}, {edges[1]:.3g}]"


def _size(factor: float) -> str:
    """Return a ratio of times as text: `21.3 times as fast`, or `12 % slower`."""
    if max(factor, 1 / factor) >= TIMES_MIN:
        return f"{1 / factor:.3g} times as fast" if factor < 1 else f"{factor:.3g} times as long"
    return _signed(factor)


def _signed(factor: float) -> str:
    change = factor - 1
    return f"{'+' if change >= 0 else '-'}{percent_text(abs(change))}"


def _time(seconds: float | None) -> str:
    return f"{'-' if seconds is None else seconds_text(seconds):>9}"


def _age(changes: BeforeAfter) -> str:
    seconds = changes["earlier_s"]
    return "" if seconds is None or seconds < 0 else f", {seconds_text(seconds)} earlier"
