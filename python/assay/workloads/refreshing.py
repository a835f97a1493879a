"""Computes the batches of TPC-H's refresh functions, and their statements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.model.errors import UsageError
from assay.workloads import rules, scripts, texts
from assay.workloads.texts import Statement

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from assay.workloads.contract import Workload

# Names besides constants that the text of a refresh function may use.
VALUES = ("set", "first", "last")
# Rows of `x_new` are inserted into `x`; `y_old` holds keys of rows to delete. Rows of both are
# numbered.
NEW, OLD = "_new", "_old"
SET, ORDER = "set_number", "order_number"
HEADING = re.compile(r"\A(?:\s*--[^\n]*\n)+")


def refresh_setup(
    workload: Workload, dialects: Sequence[str], scale: float, sets: int
) -> dict[str, str]:
    """Return the scripts that make the tables of refresh sets: text by file, in order.

    The scripts may name `${sets}` and `${orders}`, the number of orders in a set.
    """
    return _scripts(workload, workload.refresh.setup, dialects, scale, sets)


def refresh_keys(
    workload: Workload, dialects: Sequence[str], scale: float, sets: int
) -> dict[str, str]:
    """Return scripts of the sets' keys and indexes, made after loading: text by file."""
    return _scripts(workload, workload.refresh.keys, dialects, scale, sets)


def refresh_statement(
    workload: Workload,
    operation: str,
    set_number: int,
    batches: int,
    dialects: Sequence[str],
    scale: float,
) -> Statement:
    """Return the transactions of a refresh function on one set, from 1, in batches.

    With 0 batches, each order is a separate transaction.

    Raises:
        UsageError: If there is no `[refresh]`, there are more batches than orders, or the file is
            missing or names an undefined value.
    """
    spans = batches_of(workload.refresh_orders(scale), batches)
    path = workload.operation_file(operation, dialects)
    constants = rules.constants_at(workload.facts.constants, scale)

    def rendered(template: str, values: Mapping[str, str]) -> str:
        fixed = {**constants, **values}
        return texts.render(template, operation, workload.facts, scale, fixed=fixed)[0]

    try:
        templates = scripts.statements(texts.read_text(path), dialects)
        statements = statements_of(templates, rendered, set_number, spans)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    text = "".join(f"{statement};\n" for statement in statements)
    values = {"set": [str(set_number)], "batches": [str(batches)]}
    return Statement(operation, text, path.name, values)


def batches_of(orders: int, batches: int) -> list[tuple[int, int]]:
    """Return the first and last order of each refresh batch, from 1.

    Batches differ in size by at most one order, and none is empty.

    Raises:
        UsageError: If the test has more batches than orders.
    """
    if not 0 <= batches <= orders:
        raise UsageError(
            f"a refresh set of {orders} orders cannot be cut into {batches} batches: write a "
            f"number from 1 to {orders}, or 0 for one batch per order"
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
    """Return the statements of all transactions of a refresh set.

    Comments at the head of the text are only in the first batch.
    """
    bare = [HEADING.sub("", templates[0]), *templates[1:]]
    statements: list[str] = []
    for first, last in spans:
        values = dict(zip(VALUES, (str(set_number), str(first), str(last)), strict=True))
        statements += [render(template, values) for template in (bare if statements else templates)]
    return statements


def _scripts(
    workload: Workload, names: Sequence[str], dialects: Sequence[str], scale: float, sets: int
) -> dict[str, str]:
    sizes = workload.set_sizes(scale, sets)
    return texts.scripts_at(workload.folder, workload.facts, names, dialects, scale, sizes)
