"""Refresh functions: the batches of a set's orders, and the statements of all its transactions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# What the text of a refresh function may name beside constants.
VALUES = ("set", "first", "last")
# Rows of `x_new` come into `x`; `y_old` holds the keys of what goes. Both number their rows.
NEW, OLD = "_new", "_old"
SET, ORDER = "set_number", "order_number"
HEADING = re.compile(r"\A(?:\s*--[^\n]*\n)+")


def batches_of(orders: int, batches: int) -> list[tuple[int, int]]:
    """First and last order, from 1, of each batch; 0 batches: each order is one.

    Batches differ by one order at most, and none is empty.

    Raises:
        UsageError: If the test has more batches than orders.
    """
    if not 0 <= batches <= orders:
        raise UsageError(
            f"a refresh set of {orders} orders cannot be cut into {batches} batches: ask for 1 to"
            f" {orders}, or for 0, which makes each order a batch of its own"
        )
    number = batches or orders
    ends = [orders * (batch + 1) // number for batch in range(number)]
    return list(zip([1, *(end + 1 for end in ends[:-1])], ends, strict=True))


def statements_of(
    templates: Sequence[str],
    render: Callable[[str, Mapping[str, str]], str],
    set_number: int,
    spans: Sequence[tuple[int, int]],
) -> list[str]:
    """The statements of all transactions of a set: those of the templates once a batch.

    Comments at the head of the text stand before the first batch only.
    """
    bare = [HEADING.sub("", templates[0]), *templates[1:]]
    statements: list[str] = []
    for first, last in spans:
        values = dict(zip(VALUES, (str(set_number), str(first), str(last)), strict=True))
        statements += [render(template, values) for template in (bare if statements else templates)]
    return statements
