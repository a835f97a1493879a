"""Refresh functions: batches of a set's orders, and the statements of all its transactions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# Names besides constants that the text of a refresh function may use.
VALUES = ("set", "first", "last")
# Rows of `x_new` are inserted into `x`; `y_old` holds keys of rows to delete. Rows of both are
# numbered.
NEW, OLD = "_new", "_old"
SET, ORDER = "set_number", "order_number"
HEADING = re.compile(r"\A(?:\s*--[^\n]*\n)+")


def batches_of(orders: int, batches: int) -> list[tuple[int, int]]:
    """Return first and last order, from 1, of each batch; 0 batches means one order per batch.

    Batches differ in size by at most one order, and none is empty.

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
    """Return the statements of all transactions of a set: the templates once per batch.

    Comments at the head of the text are only in the first batch.
    """
    bare = [HEADING.sub("", templates[0]), *templates[1:]]
    statements: list[str] = []
    for first, last in spans:
        values = dict(zip(VALUES, (str(set_number), str(first), str(last)), strict=True))
        statements += [render(template, values) for template in (bare if statements else templates)]
    return statements
