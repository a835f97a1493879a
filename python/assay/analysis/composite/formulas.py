"""TPC-H's metrics as functions of interval lengths in seconds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SECONDS_PER_HOUR = 3600.0


def power(query_s: Sequence[float], refresh_s: Sequence[float], scale: float) -> float:
    """Return Power@Size: 3600 x SF over the geometric mean of query and refresh intervals.

    Args:
        query_s: Seconds of each query of the power test.
        refresh_s: Seconds of the two refresh functions; empty without refresh functions.
        scale: Scale factor.

    The result is infinite if an interval has no length.
    """
    every = [*query_s, *refresh_s]
    if min(every) <= 0:
        return math.inf
    return SECONDS_PER_HOUR * scale * math.exp(-math.fsum(map(math.log, every)) / len(every))


def throughput(streams: int, elapsed_s: float, scale: float, queries: int) -> float:
    """Return Throughput@Size: queries of all streams per hour, times the scale factor.

    Args:
        streams: Number of query streams.
        elapsed_s: Seconds from the first query's submission to the last result or commit.
        scale: Scale factor.
        queries: Number of queries in each stream.

    The result is infinite if no time elapsed.
    """
    if elapsed_s <= 0:
        return math.inf
    return streams * queries * SECONDS_PER_HOUR / elapsed_s * scale


def composite(power_per_h: float, throughput_per_h: float) -> float:
    """Return QphH@Size: the geometric mean of power and throughput."""
    return math.sqrt(power_per_h) * math.sqrt(throughput_per_h)
