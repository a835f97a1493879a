"""Chart axes that several charts share: logarithmic scales and sizes in bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import altair as alt

# Factor of the margin beside the outermost values of a logarithmic axis.
ROOM = 1.3


def logarithmic(values: Iterable[float]) -> alt.Scale | None:
    """Return a logarithmic scale with a margin at both ends; None without a value above zero."""
    import altair as alt

    positive = [value for value in values if value > 0]
    if not positive:
        return None
    return alt.Scale(type="log", nice=False, domain=[min(positive) / ROOM, max(positive) * ROOM])


def sizes_axis(ticks: Sequence[int]) -> alt.Axis:
    """Return an axis of sizes in bytes, with ticks at powers of two such as `8 KiB`."""
    import altair as alt

    # Vega has no unit names for powers of two, so this expression names each step of 1024.
    steps = "['B', 'KiB', 'MiB', 'GiB']"
    label = (
        "format(datum.value / pow(1024, floor(log(datum.value) / log(1024) + 1e-9)), '~r') + ' ' +"
        f" {steps}[floor(log(datum.value) / log(1024) + 1e-9)]"
    )
    return alt.Axis(
        values=list(ticks), labelExpr=label, labelOverlap=True, labelAngle=0, gridOpacity=0.35
    )
