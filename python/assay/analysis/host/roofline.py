"""Compares a query's disk reads with the disk's maximum rate for reads of that size.

A query that waits for one read before it requests the next is limited by the disk's rate at
queue depth 1. So a query's reads are compared with the disk's rate at the query's own mean queue
depth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.ceiling.trials import RANDOM, SEQUENTIAL

if TYPE_CHECKING:
    from assay.analysis.ceiling.trials import Ceiling, Estimate

# From this share of the disk's rate on, a query counts as reading at the ceiling.
AT_CEILING = 0.8


@dataclass(frozen=True)
class Reads:
    """The disk reads of an operation: their size, rate and queue depth.

    Attributes:
        size_bytes: Mean size of a read.
        per_s: Reads per second while the operation ran.
        at_once: Mean queue depth while reads were in progress; None if not sampled.
    """

    size_bytes: float
    per_s: float
    at_once: float | None = None


@dataclass(frozen=True)
class Placed:
    """An operation's disk reads compared with the disk's maximum rate.

    Attributes:
        reads: Reads of the operation.
        depth: Queue depth of the comparison.
        random, sequential: The disk's reads per second at this size and depth; None if not
            measured.
        most: The disk's highest rate of random reads of this size, at the best queue depth.
    """

    reads: Reads
    depth: float
    random: Estimate | None
    sequential: Estimate | None
    most: Estimate | None

    @property
    def share(self) -> float | None:
        """The reads per second divided by the disk's random reads per second."""
        return None if self.random is None else self.reads.per_s / self.random.value

    @property
    def share_interval(self) -> tuple[float, float] | None:
        """The interval of `share`, from that of the disk's maximum rate; None without one."""
        random = self.random
        if random is None or random.low is None or random.high is None or not random.low > 0:
            return None
        return self.reads.per_s / random.high, self.reads.per_s / random.low

    @property
    def more_at_once(self) -> float | None:
        """The factor by which the disk is faster at a deeper queue; None if not known."""
        if self.random is None or self.most is None:
            return None
        return self.most.value / self.random.value

    @property
    def is_at_ceiling(self) -> bool | None:
        """True if the reads are about as fast as the disk allows; None if not known."""
        return None if self.share is None else self.share >= AT_CEILING


def place(reads: Reads, ceiling: Ceiling) -> Placed:
    """Return an operation's disk reads compared with the disk's maximum at that size and depth."""
    depths = ceiling.depths()
    depth = min(max(reads.at_once or 1.0, depths[0]), depths[-1]) if depths else 1.0
    return Placed(
        reads,
        depth,
        ceiling.iops(reads.size_bytes, depth, RANDOM),
        ceiling.iops(reads.size_bytes, depth, SEQUENTIAL),
        ceiling.most_iops(reads.size_bytes, RANDOM),
    )
