"""Scale factors of comparable results, and how many query streams the specification asks for."""

from __future__ import annotations

# Scale factor and the fewest query streams of its throughput test.
STREAMS_MINIMUM = (
    (1, 2),
    (10, 3),
    (30, 4),
    (100, 5),
    (300, 6),
    (1000, 7),
    (3000, 8),
    (10000, 9),
    (30000, 10),
    (100000, 11),
)


def streams_minimum(scale: float) -> int:
    """The fewest query streams: those of the largest standard scale up to this one."""
    return max((streams for size, streams in STREAMS_MINIMUM if size <= scale), default=2)


def larger_scales(scale: float) -> list[tuple[int, int]]:
    """Standard scales above one, each with its fewest query streams."""
    return [row for row in STREAMS_MINIMUM if row[0] > scale]
