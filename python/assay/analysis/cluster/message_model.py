"""Messages between nodes on paper: how many there have to be, how large, and how many leave a node.

Rows that are spread by a hash go to every recipient alike. So a batch is cut into as many messages
as there are recipients (10,000 values over 48 recipients are 208 a message), and of the processes
that a message can be for one is the sender's own, some are on its host, and the rest elsewhere (of
four processes on two hosts a quarter, a quarter and a half).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Shares:
    """The destinations of evenly spread messages, as shares of all."""

    local: float
    same_host: float
    other_host: float

    @property
    def remote(self) -> float:
        """The share of messages that leave their process."""
        return self.same_host + self.other_host


def shares_of(processes: Sequence[int]) -> Shares:
    """Return the destinations of messages when every process sends to every one alike.

    Of n processes each sends 1/n to itself, and with k on its host (k - 1)/n to others there.

    Args:
        processes: Number of processes on each host; at least one in total.
    """
    whole = sum(processes)
    same = sum(own * (own - 1) for own in processes) / whole**2
    local = 1 / whole
    return Shares(local, same, max(0.0, 1 - local - same))


def batch_messages(values: float, batch_values: float, recipients: float) -> float:
    """Return the number of messages: each batch of values sends one to each recipient.

    Where a batch has fewer values than recipients no more messages than values.
    """
    whole, rest = divmod(values, batch_values)
    return whole * min(batch_values, recipients) + min(rest, recipients)


def blocks_of(maps: float, reducers: float, rows: float | None = None) -> float:
    """Return the blocks of a shuffle: each map task has one per reducer; empty blocks are not sent.

    With R reducers a block of m rows is empty with probability (1 - 1/R)^m: balls into urns.

    Args:
        maps: Tasks that write.
        reducers: Tasks that read.
        rows: Number of shuffled rows, spread evenly over the map tasks; None if no block is empty.
    """
    every = maps * reducers
    if rows is None or not maps:
        return every
    if reducers == 1:
        return min(every, rows)
    return -every * math.expm1(rows / maps * math.log1p(-1 / reducers))


def page_messages(
    rows: float,
    row_bytes: float,
    page_bytes: float | None,
    page_rows: float | None,
    channels: float,
) -> float:
    """Return the number of pages: as the smaller limit requires, at least one a channel.

    Args:
        rows: Number of rows that are sent.
        row_bytes: Bytes of one row.
        page_bytes: Size at which a page is sent. None means no limit.
        page_rows: The same of rows.
        channels: Pairs of sender and recipient. Each has its own pages.
    """
    if not rows:
        return 0.0
    by_bytes = rows * row_bytes / page_bytes if page_bytes else 0.0
    by_rows = rows / page_rows if page_rows else 0.0
    return max(by_bytes, by_rows, min(rows, channels))
