"""TPC-H's metrics as functions of the seconds that intervals count as."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SECONDS_PER_HOUR = 3600.0


def power(query_s: Sequence[float], refresh_s: Sequence[float], scale: float) -> float:
    """Power@Size: 3600 x SF over the geometric mean of all intervals, refreshes included.

    Args:
        query_s: Seconds of each query of the power test.
        refresh_s: Seconds of its two refresh functions; empty if there were none.
        scale: Scale factor.

    The result is infinite if an interval took no time.
    """
    every = [*query_s, *refresh_s]
    if min(every) <= 0:
        return math.inf
    return SECONDS_PER_HOUR * scale * math.exp(-math.fsum(map(math.log, every)) / len(every))


def throughput(streams: int, elapsed_s: float, scale: float, queries: int) -> float:
    """Throughput@Size: queries of all streams an hour, times the scale factor.

    Args:
        streams: Query streams.
        elapsed_s: Seconds from the first query's submission to the last result or commit.
        scale: Scale factor.
        queries: Queries of each stream.

    The result is infinite if it took no time.
    """
    if elapsed_s <= 0:
        return math.inf
    return streams * queries * SECONDS_PER_HOUR / elapsed_s * scale


def composite(power_per_h: float, throughput_per_h: float) -> float:
    """QphH@Size: the geometric mean of power and throughput."""
    return math.sqrt(power_per_h) * math.sqrt(throughput_per_h)
