"""Converts MariaDB's plans to the plan tree that all engines share.

MariaDB reports a pipeline: tables in join order, each with its access method, inside steps that
process the rows. This module converts the pipeline to a tree of operators.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.engines.mariadb.plan_tables import Prefix, Table, comparing_seconds, scan, seconds_of
from assay.engines.mysql_family.plan_names import with_schemas
from assay.engines.plan_reading import plan_parser
from assay.model.plan import Plan, PlanNode

if TYPE_CHECKING:
    from collections.abc import Iterable

JsonObject = dict[str, Any]

MS_PER_S = 1000
BLOCK, SUBQUERIES, MATERIALIZED = "query_block", "subqueries", "materialized"
# Key that Assay adds to the server's text: the session's database.
DATABASE = "database"
SUBQUERY_KINDS = {
    BLOCK: "subquery",
    "expression_cache": "subquery with a cache",
    "materialization": "materialised subquery",
}
# Steps that may enclose the tables, from the outside to the inside, and their operators.
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
# Steps around a table whose access path is chosen anew for each row of the tables before it.
CHOSEN_PER_ROW = ("range-checked-for-each-record", "full-scan-on-null_key")
# Kinds of join buffers that are looked up by a hash of the key.
HASHED = ("BNLH", "BKAH")
CHANGES = ("insert", "update", "delete")


@dataclass(frozen=True)
class _Above:
    """Facts that a MariaDB plan step receives from the steps above it.

    Attributes:
        loops: Number of times the part is executed.
        cut_short: Whether a step above may stop early.
    """

    loops: float = 1.0
    cut_short: bool = False


@plan_parser("MariaDB")
def normalised(text: str, operation: str, statement: int, native: str) -> Plan:
    """Return the plan in the output of MariaDB's ANALYZE or EXPLAIN (JSON).

    See `HasPlans.plan`.
    """
    try:
        whole = json.loads(text)
        block = whole[BLOCK]
        tree = with_schemas(_block(block, _Above()), whole.get(DATABASE))
        optimising_ms = whole.get("query_optimization", {}).get("r_total_time_ms")
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the text is not a MariaDB plan: {error!r}") from error
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
    numbers = [value for value in values if value is not None]
    return sum(numbers) if numbers else None


def _is_plain(value: object) -> bool:
    return not isinstance(value, (dict, list))


def _block(block: JsonObject, above: _Above) -> PlanNode:
    """Return the operators of one query block in a MariaDB plan."""
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


def _pipeline(part: JsonObject, above: _Above) -> PlanNode:
    """Return the operators of a step in a MariaDB plan, with its subqueries."""
    made = _unqueried(part, above)
    below = tuple(_subquery(subquery) for subquery in part.get(SUBQUERIES, ()))
    return replace(made, children=made.children + below) if below else made


def _within(part: JsonObject) -> JsonObject:
    """Return the step with the table of a step that chooses the table's access path."""
    return next((part[kind] for kind in CHOSEN_PER_ROW if kind in part), part)


def _unqueried(part: JsonObject, above: _Above) -> PlanNode:
    part = _within(part)
    for kind, operator in AROUND.items():
        if kind in part:
            return _around(kind, operator, part[kind], above)
    if "nested_loop" in part:
        return _joined(part["nested_loop"], above)
    if JOINED_BY_BUFFER in part:
        return _table(part[JOINED_BY_BUFFER]["table"], above)
    if "table" in part:
        return _table(part["table"], above)
    # No table is read: the query has constants only, or a condition that is never true.
    return PlanNode("result", str(part.get("message", part.get("table_name", "no tables"))))


def _around(kind: str, operator: str, part: JsonObject, above: _Above) -> PlanNode:
    """Return a blocking operator, such as a sort, of a MariaDB plan."""
    if kind == "read_sorted_file":
        return _around("filesort", operator, part["filesort"], above)
    if kind == TEMPORARY_TABLE:
        part, collecting_s = _collecting(part)
    else:
        collecting_s = None
    child = _pipeline(part, _Above(above.loops))
    if kind == "window_functions_computation":
        for sort in part.get("sorts", ()):
            child = replace(_sort(sort["filesort"], above), children=(child,))
    rows = child.rows if operator == "window" else None
    made = PlanNode(operator, kind.replace("_", " "), rows=rows)
    if kind == "filesort":
        made = _sort(part, above)
    own_s = made.seconds if collecting_s is None else collecting_s
    if own_s is not None and "table" in part:
        # The time of a sort that reads its own table includes the read.
        own_s = max(0.0, own_s - sum(node.seconds or 0.0 for node in child.walk()))
    loops = part.get("r_loops")
    work = made.work if collecting_s is None else "aggregate"
    return replace(made, seconds=own_s, work=work, loops=loops or made.loops, children=(child,))


def _collecting(part: JsonObject) -> tuple[JsonObject, float | None]:
    """Return a plan step without the time of filling its temporary table, and that time.

    MariaDB adds this time to the extra time of the last joined table. If that table has a
    condition, the time includes the condition and stays there.
    """
    items = part.get("nested_loop") or [part]
    last = items[-1].get("table", {})
    if OTHER_TIME not in last or "attached_condition" in last:
        return part, None
    table = {key: value for key, value in last.items() if key != OTHER_TIME}
    item = {**items[-1], "table": table}
    whole = {**part, "nested_loop": [*items[:-1], item]} if "nested_loop" in part else item
    return whole, last[OTHER_TIME] / MS_PER_S


def _sort(facts: JsonObject, above: _Above) -> PlanNode:
    rows = facts.get("r_output_rows")
    loops = float(facts.get("r_loops") or above.loops)
    return PlanNode(
        operator="top-n" if facts.get("r_used_priority_queue") else "sort",
        native="filesort",
        condition=facts.get("sort_key"),
        rows=None if rows is None else rows * loops,
        loops=facts.get("r_loops"),
        seconds=seconds_of(facts),
        details={key: value for key, value in facts.items() if _is_plain(value)},
    )


def _joined(items: list[JsonObject], above: _Above) -> PlanNode:
    """Return the tables of a MariaDB join as a left-deep tree of operators."""
    made: PlanNode | None = None
    prefix = Prefix(estimated=above.loops)
    for item in items:
        buffered = item.get(JOINED_BY_BUFFER)
        part = buffered or _within(item)
        right = _pipeline(part, _Above(above.loops, above.cut_short))
        table = _item_table(part)
        prefix = prefix.joined(table, buffered)
        made = right if made is None else _join(made, right, prefix, buffered, above)
    if made is None:
        return PlanNode("result", "no tables")
    return made


def _item_table(part: JsonObject) -> Table:
    """Return the table of a join step, which may be inside a sort."""
    sorted_first = part.get("read_sorted_file", part)
    inner = sorted_first.get("filesort", sorted_first)
    return Table(inner.get("table", {}))


def _join(
    left: PlanNode, right: PlanNode, prefix: Prefix, buffered: JsonObject | None, above: _Above
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


def _table(facts: JsonObject, above: _Above) -> PlanNode:
    """Return the operator for a table in a MariaDB plan."""
    if "table_name" not in facts:
        return PlanNode("values", str(facts.get("message", "no table")))
    if "access_type" not in facts and MATERIALIZED not in facts:
        # Rows are inserted into the table, and none are read.
        return PlanNode("modify", "insert", object=facts["table_name"])
    table = Table(facts)
    made = scan(table, above.loops, cut_short=above.cut_short)
    if MATERIALIZED in facts:
        made = replace(made, children=(_made(facts[MATERIALIZED]),))
    changes = [change for change in CHANGES if facts.get(change)]
    if not changes:
        return made
    return PlanNode("modify", changes[0], object=made.object, children=(made,))


def _made(part: JsonObject) -> PlanNode:
    """Return the operator that fills a temporary table of the query."""
    part = part.get("materialization", part)
    inner = part.get(BLOCK, part)
    top = _block(inner, _Above())
    return PlanNode(
        "materialize", "materialised", rows=top.rows, loops=inner.get("r_loops"), children=(top,)
    )


def _subquery(part: JsonObject) -> PlanNode:
    """Return the operator of a subquery in a MariaDB plan."""
    for kind, native in SUBQUERY_KINDS.items():
        if kind in part:
            inner = part[kind] if kind == BLOCK else part[kind][BLOCK]
            above = _Above(float(inner.get("r_loops") or 1.0), cut_short=kind != "materialization")
            return PlanNode(
                "subquery",
                native,
                loops=inner.get("r_loops"),
                details={key: value for key, value in part[kind].items() if _is_plain(value)},
                children=(_block(inner, above),),
            )
    raise ValueError(f"the JSON is not a MariaDB subquery: {', '.join(part)}")


def _union(union: JsonObject, above: _Above) -> PlanNode:
    parts = union.get("query_specifications", ())
    rows = union.get("r_rows")
    return PlanNode(
        "set operation",
        str(union.get("table_name", "union")),
        rows=None if rows is None else rows * above.loops,
        loops=union.get("r_loops"),
        children=tuple(_block(part[BLOCK], above) for part in parts),
    )
