"""Converts MySQL's plans to the plan tree that all engines share.

MySQL reports a tree of iterators (EXPLAIN FORMAT=JSON, version 2), with averages over the loops of
each iterator. For statements that change rows it reports only tables (version 1), without times.
Only version 1 has the columns read, and the tables read while planning.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from assay.engines.mysql.plan_tables import block_tree, tables_of, with_tables
from assay.engines.mysql_family.plan_names import with_schemas
from assay.engines.plan_reading import plan_parser
from assay.model.plan import Plan, PlanNode

JsonObject = dict[str, Any]

MS_PER_S = 1000
PLAN, BLOCK, INPUTS = "query_plan", "query_block", "inputs"
SELECTED = "inputs_from_select_list"
OPERATORS = {
    "aggregate": "aggregate",
    "append": "set operation",
    "delete_rows": "modify",
    "filter": "filter",
    "insert_values": "modify",
    "limit": "limit",
    "materialize": "materialize",
    "materialize_information_schema": "scan",
    "materialized_table_function": "scan",
    "replace_values": "modify",
    "rows_fetched_before_execution": "values",
    "sort": "sort",
    "stream": "projection",
    "table": "scan",
    "temp_table_aggregate": "aggregate",
    "update_rows": "modify",
    "window": "window",
    "zero_rows": "result",
    "zero_rows_aggregated": "result",
}
JOINS = {"nested_loop": "nested loop", "hash": "hash join", "batch_key_access": "nested loop"}
CONDITIONS = ("lookup_condition", "condition", "hash_condition", "sort_fields", "functions")
TOLD_ELSEWHERE = {
    "operation",
    "table_name",
    "schema_name",
    "index_name",
    "condition",
    "lookup_condition",
    "actual_rows",
    "actual_loops",
    "actual_last_row_ms",
    "estimated_rows",
}
# Kind of work of filling a temporary table, which CPU samples do not separate from grouping.
WORK = {"materialize": "aggregate"}
# Operators that may stop their inputs before these return all rows.
CUTTING = {"limit"}
CUTTING_JOINS = {"semijoin", "antijoin"}
# Operators that read all rows of their input before they return one.
BLOCKING = {"sort", "materialize", "temp_table_aggregate"}


@plan_parser("MySQL")
def normalised(text: str, operation: str, statement: int, native: str) -> Plan:
    """Return the plan in the output of MySQL's EXPLAIN FORMAT=JSON.

    See `HasPlans.plan`.
    """
    try:
        whole = json.loads(text)
        told_tables = tables_of(whole.get(BLOCK, {}))
        if PLAN in whole:
            root = with_tables(_node(whole[PLAN], 1.0), told_tables)
        else:
            root = block_tree(whole[BLOCK])
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the text is not a MySQL plan: {error!r}") from error
    seconds = _seconds(whole.get(PLAN, {}))
    return Plan(
        operation,
        statement,
        native,
        with_schemas(root),
        execution_s=seconds,
        timed=seconds is not None,
        details={"query_type": whole.get("query_type")},
    )


def _node(iterator: JsonObject, asked: float, *, cut_short: bool = False) -> PlanNode:
    """Return an iterator of MySQL's plan with its inputs, as an operator.

    `asked` is the expected number of loops, for a plan that does not report it.
    """
    loops: float | None = iterator.get("actual_loops")
    times = asked if loops is None else float(loops)
    children, spent_s = _children(iterator, times, cut_short=cut_short)
    seconds = _seconds(iterator)
    rows, expected = iterator.get("actual_rows"), iterator.get("estimated_rows")
    given = None if rows is None or loops is None else float(round(rows * loops))
    made = PlanNode(
        operator=_operator(iterator),
        native=_native(iterator),
        object=iterator.get("table_name"),
        index=iterator.get("index_name"),
        condition=_condition(iterator),
        estimated_rows=None if expected is None else expected * max(1.0, times),
        rows=given,
        loops=loops,
        # The average of loops that ended early may be less than the time of their inputs.
        seconds=None if seconds is None else max(0.0, seconds - spent_s),
        cut_short=cut_short,
        schema=iterator.get("schema_name"),
        removed_rows=_removed(iterator, given, children),
        work=WORK.get(str(iterator.get("access_type"))),
        details={key: value for key, value in iterator.items() if _is_detail(key, value)},
        children=children,
    )
    made = _of_table(made)
    if not iterator.get("subquery"):
        return made
    native = str(iterator.get("heading", "subquery"))
    return PlanNode("subquery", native, loops=loops, children=(made,))


def _of_table(made: PlanNode) -> PlanNode:
    """Return a table access and the filter right above it as one operator."""
    if made.operator != "filter" or len(made.children) != 1:
        return made
    (read,) = made.children
    if read.operator not in {"scan", "index scan"}:
        return made
    times = [seconds for seconds in (read.seconds, made.seconds) if seconds is not None]
    parts = [read.condition, None if made.condition is None else f"filter {made.condition}"]
    return replace(
        read,
        condition="; ".join(part for part in parts if part) or None,
        estimated_rows=made.estimated_rows,
        rows=made.rows,
        seconds=sum(times) if times else None,
        removed_rows=made.removed_rows,
    )


def _children(
    iterator: JsonObject, times: float, *, cut_short: bool
) -> tuple[tuple[PlanNode, ...], float]:
    """Return an iterator's inputs as operators, and their seconds with all below."""
    inputs = [*iterator.get(INPUTS, ()), *iterator.get(SELECTED, ())]
    kind = iterator.get("access_type")
    cut = (cut_short and kind not in BLOCKING) or kind in CUTTING
    cut_right = cut or any(word in str(iterator.get("join_type")) for word in CUTTING_JOINS)
    made: list[PlanNode] = []
    for place, child in enumerate(inputs):
        asked = times
        if place == 1 and iterator.get("join_algorithm") in {"nested_loop", "batch_key_access"}:
            # The second table is read once for each row of the first.
            asked = made[0].rows if made[0].rows is not None else made[0].estimated_rows or times
        made.append(_node(child, asked, cut_short=cut if place == 0 else cut_right))
    subqueries = [node for node in made if node.operator == "subquery"]
    others = [node for node in made if node.operator != "subquery"]
    return (*others, *subqueries), sum(_seconds(child) or 0.0 for child in inputs)


def _seconds(iterator: JsonObject) -> float | None:
    """Return an iterator's seconds over all loops, with its inputs; None if not executed."""
    last_ms: float | None = iterator.get("actual_last_row_ms")
    return None if last_ms is None else last_ms * iterator.get("actual_loops", 1) / MS_PER_S


def _operator(iterator: JsonObject) -> str:
    kind = iterator.get("access_type")
    if kind == "join":
        return JOINS.get(str(iterator.get("join_algorithm")), "nested loop")
    if kind == "index":
        return "index scan"
    if kind == "sort" and iterator.get("per_chunk_limit") is not None:
        return "top-n"
    if kind is None and "Union" in str(iterator.get("operation")):
        return "set operation"
    return OPERATORS.get(str(kind), "other")


def _native(iterator: JsonObject) -> str:
    """Return MySQL's name of an operator without its table, condition or keys."""
    operation = str(iterator.get("operation", iterator.get("access_type", "?")))
    return operation.partition(" on ")[0].partition(":")[0].partition(" (")[0]


def _condition(iterator: JsonObject) -> str | None:
    parts = [
        value if isinstance(value, str) else ", ".join(map(str, value))
        for key in CONDITIONS
        if (value := iterator.get(key))
    ]
    return "; ".join(parts) or None


def _removed(
    iterator: JsonObject, rows: float | None, children: tuple[PlanNode, ...]
) -> float | None:
    if iterator.get("access_type") != "filter" or rows is None or not children:
        return None
    read = children[0].rows
    return None if read is None else max(0.0, read - rows)


def _is_detail(key: str, value: object) -> bool:
    return key not in TOLD_ELSEWHERE and not isinstance(value, (dict, list))
