"""Predicts messages between nodes: their number, their size, and the share that leaves a node.

A hash spreads rows evenly over all recipients, so each batch becomes one message per recipient:
10,000 values over 48 recipients are 208 values a message. Some messages stay within the sending
process, and some stay on its host. With four processes on two hosts, a quarter stays in the
process, a quarter goes to the same host and half to the other host.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Shares:
    """The destinations of evenly spread messages, as shares of all messages (0 to 1)."""

    local: float
    same_host: float
    other_host: float

    @property
    def remote(self) -> float:
        """The share of messages that leave the process that sends them."""
        return self.same_host + self.other_host


def shares_of(processes: Sequence[int]) -> Shares:
    """Return message destinations as shares, if every process sends equally to every process.

    Each of n processes sends 1/n of its messages to itself, and with k processes on its host (k
    - 1)/n to other processes on that host.

    Args:
        processes: Number of processes on each host; at least one in total.
    """
    whole = sum(processes)
    same = sum(own * (own - 1) for own in processes) / whole**2
    local = 1 / whole
    return Shares(local, same, max(0.0, 1 - local - same))


def batch_messages(values: float, batch_values: float, recipients: float) -> float:
    """Return the number of messages if each batch of values sends one message per recipient.

    A batch with fewer values than recipients sends one message per value.
    """
    whole, rest = divmod(values, batch_values)
    return whole * min(batch_values, recipients) + min(rest, recipients)


def blocks_of(maps: float, reducers: float, rows: float | None = None) -> float:
    """Return the number of non-empty blocks of a shuffle, at most map tasks times reducers.

    With R reducers a block of a map task with m rows is empty with probability (1 - 1/R)^m
    (balls into urns).

    Args:
        maps: Number of tasks that write.
        reducers: Number of tasks that read.
        rows: Number of shuffled rows, spread evenly over the map tasks; None means that no block
            is empty.
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
    """Return the number of message pages, by the tighter of the byte and row limits per page.

    Args:
        rows: Number of rows that are sent.
        row_bytes: Bytes of one row.
        page_bytes: Size at which a page is sent; None means no limit.
        page_rows: Number of rows at which a page is sent; None means no limit.
        channels: Number of pairs of sender and recipient. Each pair has its own pages.
    """
    if not rows:
        return 0.0
    by_bytes = rows * row_bytes / page_bytes if page_bytes else 0.0
    by_rows = rows / page_rows if page_rows else 0.0
    return max(by_bytes, by_rows, min(rows, channels))
