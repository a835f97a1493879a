"""MariaDB's plans in words that are no engine's.

MariaDB tells a pipeline: tables in the order in which they are joined, each with how it is read,
and around them what is done with the rows. Here it becomes the tree of operators that it means.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.engines.mariadb.plan_tables import Prefix, Table, comparing_seconds, scan, seconds_of
from assay.model.plan import Plan, PlanNode

if TYPE_CHECKING:
    from collections.abc import Iterable

Told = dict[str, Any]

MS_PER_S = 1000
BLOCK, SUBQUERIES, MATERIALIZED = "query_block", "subqueries", "materialized"
SUBQUERY_KINDS = {
    BLOCK: "subquery",
    "expression_cache": "subquery with a cache",
    "materialization": "materialised subquery",
}
# What may stand around the tables, from the outside to the inside, and what it does.
AROUND = {
    "filesort": "sort",
    "read_sorted_file": "sort",
    "window_functions_computation": "window",
    "duplicates_removal": "aggregate",
    "temporary_table": "materialize",
}
TEMPORARY_TABLE, OTHER_TIME = "temporary_table", "r_other_time_ms"
UNIONS = ("union_result", "recursive_union")
JOINED_BY_BUFFER = "block-nl-join"
# Of kinds of join buffers: those that are looked up by a hash of the key.
HASHED = ("BNLH", "BKAH")
CHANGES = ("insert", "update", "delete")


@dataclass(frozen=True)
class _Above:
    """What is known of a part by those above it.

    Attributes:
        loops: How often it is executed.
        cut_short: Whether somebody above may stop early.
    """

    loops: float = 1.0
    cut_short: bool = False


def normalised(told: str, operation: str, statement: int, native: str) -> Plan:
    """The plan that a text of ANALYZE or EXPLAIN with FORMAT=JSON means.

    Args:
        told: The text.
        operation: The operation that was asked.
        statement: Which of its statements.
        native: The file that keeps the text.

    Raises:
        ValueError: If it is no such text.
    """
    try:
        whole = json.loads(told)
        block = whole[BLOCK]
        tree = _block(block, _Above())
        optimising_ms = whole.get("query_optimization", {}).get("r_total_time_ms")
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"this is no plan of MariaDB: {error!r}") from error
    nodes = list(tree.walk())
    execution_s = seconds_of(block)
    return Plan(
        operation,
        statement,
        native,
        tree,
        planning_s=None if optimising_ms is None else optimising_ms / MS_PER_S,
        execution_s=execution_s,
        timed=execution_s is not None or any(node.seconds is not None for node in nodes),
        read_bytes=_sum(node.read_bytes for node in nodes),
        details={key: value for key, value in block.items() if _is_plain(value)},
    )


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _is_plain(value: object) -> bool:
    return not isinstance(value, (dict, list))


def _block(block: Told, above: _Above) -> PlanNode:
    """A query block: its pipeline, with the condition on groups around it."""
    loops = float(block.get("r_loops") or above.loops)
    inner = _Above(loops, above.cut_short)
    for kind in UNIONS:
        if kind in block:
            return _union(block[kind], inner)
    top = _pipeline(block, inner)
    if "having_condition" not in block:
        return top
    condition = str(block["having_condition"])
    return PlanNode("filter", "having", condition=condition, loops=top.loops, children=(top,))


def _pipeline(part: Told, above: _Above) -> PlanNode:
    """What a part of a block does, with the subqueries that it computes."""
    made = _unqueried(part, above)
    below = tuple(_subquery(one) for one in part.get(SUBQUERIES, ()))
    return replace(made, children=made.children + below) if below else made


def _unqueried(part: Told, above: _Above) -> PlanNode:
    for kind, operator in AROUND.items():
        if kind in part:
            return _around(kind, operator, part[kind], above)
    if "nested_loop" in part:
        return _joined(part["nested_loop"], above)
    if JOINED_BY_BUFFER in part:
        return _table(part[JOINED_BY_BUFFER]["table"], above)
    if "table" in part:
        return _table(part["table"], above)
    # Nothing is read: constants, or a condition that cannot be met.
    return PlanNode("result", str(part.get("message", part.get("table_name", "no tables"))))


def _around(kind: str, operator: str, told: Told, above: _Above) -> PlanNode:
    """One step around the tables; it takes in all rows before it gives the first."""
    if kind == "read_sorted_file":
        return _around("filesort", operator, told["filesort"], above)
    if kind == TEMPORARY_TABLE:
        told, collecting_s = _collecting(told)
    else:
        collecting_s = None
    child = _pipeline(told, _Above(above.loops))
    if kind == "window_functions_computation":
        for sort in told.get("sorts", ()):
            child = replace(_sort(sort["filesort"], above), children=(child,))
    made = _sort(told, above) if kind == "filesort" else PlanNode(operator, kind.replace("_", " "))
    own_s = made.seconds if collecting_s is None else collecting_s
    if own_s is not None and "table" in told:
        # The time of a sort that reads a table itself has the reading in it.
        own_s = max(0.0, own_s - sum(node.seconds or 0.0 for node in child.walk()))
    loops = told.get("r_loops")
    work = made.work if collecting_s is None else "aggregate"
    return replace(made, seconds=own_s, work=work, loops=loops or made.loops, children=(child,))


def _collecting(told: Told) -> tuple[Told, float | None]:
    """A part without the time in which its rows were put into a temporary table; that time.

    It is told with the last table that is joined, as time beside reading it. Where that table has a
    condition, the time is the condition's, too, and stays there.
    """
    items = told.get("nested_loop") or [told]
    last = items[-1].get("table", {})
    if OTHER_TIME not in last or "attached_condition" in last:
        return told, None
    table = {key: value for key, value in last.items() if key != OTHER_TIME}
    item = {**items[-1], "table": table}
    whole = {**told, "nested_loop": [*items[:-1], item]} if "nested_loop" in told else item
    return whole, last[OTHER_TIME] / MS_PER_S


def _sort(told: Told, above: _Above) -> PlanNode:
    rows = told.get("r_output_rows")
    loops = float(told.get("r_loops") or above.loops)
    return PlanNode(
        operator="top-n" if told.get("r_used_priority_queue") else "sort",
        native="filesort",
        condition=told.get("sort_key"),
        rows=None if rows is None else rows * loops,
        loops=told.get("r_loops"),
        seconds=seconds_of(told),
        details={key: value for key, value in told.items() if _is_plain(value)},
    )


def _joined(items: list[Told], above: _Above) -> PlanNode:
    """Tables in the order of joining, as a tree that grows to the left."""
    made: PlanNode | None = None
    prefix = Prefix(estimated=above.loops)
    for item in items:
        buffered = item.get(JOINED_BY_BUFFER)
        part = buffered or item
        right = _pipeline(part, _Above(above.loops, above.cut_short))
        table = _told_table(part)
        prefix = prefix.joined(table, buffered)
        made = right if made is None else _join(made, right, prefix, buffered, above)
    if made is None:
        return PlanNode("result", "no tables")
    return made


def _told_table(part: Told) -> Table:
    """The table of an item of a join, wherever a sort hides it."""
    sorted_first = part.get("read_sorted_file", part)
    inner = sorted_first.get("filesort", sorted_first)
    return Table(inner.get("table", {}))


def _join(
    left: PlanNode, right: PlanNode, prefix: Prefix, buffered: Told | None, above: _Above
) -> PlanNode:
    kind = "" if buffered is None else str(buffered.get("join_type", ""))
    hashed = kind in HASHED
    condition = None if buffered is None else buffered.get("attached_condition")
    return PlanNode(
        operator="hash join" if hashed else "nested loop",
        native=f"block nested loop ({kind})" if buffered else "nested loop",
        condition=condition,
        estimated_rows=prefix.estimated,
        rows=prefix.rows,
        seconds=None if buffered is None else comparing_seconds(buffered),
        cut_short=above.cut_short,
        children=(left, right),
    )


def _table(told: Told, above: _Above) -> PlanNode:
    """A table as it is read, what makes it if it is made for this, what is changed in it."""
    if "table_name" not in told:
        return PlanNode("values", str(told.get("message", "no table")))
    if "access_type" not in told and MATERIALIZED not in told:
        # Rows are put into it, and nothing is read of it.
        return PlanNode("modify", "insert", object=told["table_name"])
    table = Table(told)
    made = scan(table, above.loops, cut_short=above.cut_short)
    if MATERIALIZED in told:
        made = replace(made, children=(_made(told[MATERIALIZED]),))
    changes = [change for change in CHANGES if told.get(change)]
    if not changes:
        return made
    return PlanNode("modify", changes[0], object=made.object, children=(made,))


def _made(told: Told) -> PlanNode:
    """What fills a table that only this query has."""
    told = told.get("materialization", told)
    inner = told.get(BLOCK, told)
    top = _block(inner, _Above())
    return PlanNode("materialize", "materialised", loops=inner.get("r_loops"), children=(top,))


def _subquery(told: Told) -> PlanNode:
    """What is computed for a value, or looked up, when a condition is checked."""
    for kind, native in SUBQUERY_KINDS.items():
        if kind in told:
            inner = told[kind] if kind == BLOCK else told[kind][BLOCK]
            above = _Above(float(inner.get("r_loops") or 1.0), cut_short=kind != "materialization")
            return PlanNode(
                "subquery",
                native,
                loops=inner.get("r_loops"),
                details={key: value for key, value in told[kind].items() if _is_plain(value)},
                children=(_block(inner, above),),
            )
    raise ValueError(f"this is no subquery of MariaDB: {', '.join(told)}")


def _union(told: Told, above: _Above) -> PlanNode:
    parts = told.get("query_specifications", ())
    rows = told.get("r_rows")
    return PlanNode(
        "set operation",
        str(told.get("table_name", "union")),
        rows=None if rows is None else rows * above.loops,
        loops=told.get("r_loops"),
        children=tuple(_block(part[BLOCK], above) for part in parts),
    )
