"""Converts DuckDB's plans to the plan tree that all engines share."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from assay.engines.plan_reading import plan_parser
from assay.model.plan import Plan, PlanNode

Node = dict[str, Any]

OPERATORS = {
    "TABLE_SCAN": "scan",
    "SEQ_SCAN": "scan",
    "INDEX_SCAN": "index scan",
    "COLUMN_DATA_SCAN": "values",
    "EXPRESSION_SCAN": "values",
    "DUMMY_SCAN": "result",
    "EMPTY_RESULT": "result",
    "CTE": "cte",
    "CTE_SCAN": "cte",
    "RECURSIVE_CTE": "cte",
    "RECURSIVE_CTE_SCAN": "cte",
    "DELIM_SCAN": "cte",
    "HASH_JOIN": "hash join",
    "LEFT_DELIM_JOIN": "hash join",
    "RIGHT_DELIM_JOIN": "hash join",
    "NESTED_LOOP_JOIN": "nested loop",
    "BLOCKWISE_NL_JOIN": "nested loop",
    "CROSS_PRODUCT": "nested loop",
    "POSITIONAL_JOIN": "nested loop",
    "PIECEWISE_MERGE_JOIN": "merge join",
    "IE_JOIN": "merge join",
    "ASOF_JOIN": "merge join",
    "HASH_GROUP_BY": "aggregate",
    "PERFECT_HASH_GROUP_BY": "aggregate",
    "PARTITIONED_AGGREGATE": "aggregate",
    "UNGROUPED_AGGREGATE": "aggregate",
    "ORDER_BY": "sort",
    "TOP_N": "top-n",
    "LIMIT": "limit",
    "LIMIT_PERCENT": "limit",
    "STREAMING_LIMIT": "limit",
    "WINDOW": "window",
    "STREAMING_WINDOW": "window",
    "UNION": "set operation",
    "PROJECTION": "projection",
    "UNNEST": "projection",
    "FILTER": "filter",
    "INSERT": "modify",
    "BATCH_INSERT": "modify",
    "UPDATE": "modify",
    "DELETE": "modify",
    "DELETE_OPERATOR": "modify",
    "MERGE_INTO": "modify",
    "CREATE_TABLE_AS": "modify",
    "BATCH_CREATE_TABLE_AS": "modify",
    "COPY_TO_FILE": "modify",
    "BATCH_COPY_TO_FILE": "modify",
}
# Nodes around every plan that EXPLAIN executed.
SCAFFOLDING = {"RESULT_COLLECTOR", "EXPLAIN_ANALYZE"}
# Operators that pass rows through: the consumer of a common table and the sides of a union count
# these rows.
COUNTS_NO_ROWS = {"CTE", "UNION", "CREATE_VIEW"}
# Attributes that hold a node's condition; the first one present is used.
CONDITIONS = ("Conditions", "Condition", "Filters", "Expression", "Groups", "Order By")
# Nodes that output each row as soon as they have it.
STREAMING = {"FILTER", "PROJECTION", "STREAMING_WINDOW", "UNNEST"}
DYNAMIC = "Dynamic Filters"
ESTIMATE = "Estimated Cardinality"
PROJECTIONS = "Projections"
TOLD_ELSEWHERE = {ESTIMATE, *CONDITIONS}
_PLACE = re.compile(r"#(\d+)")
# Parts of DuckDB's text of a condition that are not columns: texts, casts, functions, quoted names.
_WORD = re.compile(
    r"'(?:[^']|'')*'|::\s*\w+|\w+(?=\()|\"((?:[^\"]|\"\")+)\"|\b([a-z_]\w*)\b(?!:\s)"
)


@plan_parser("DuckDB")
def normalised(text: str, operation: str, statement: int, native: str) -> Plan:
    """Return the plan in the output of DuckDB's EXPLAIN (FORMAT JSON).

    See `HasPlans.plan`.
    """
    try:
        whole = json.loads(text)
        if isinstance(whole, list):
            (root,) = whole
            return Plan(operation, statement, native, _tree(root, _named_tables(root)), timed=False)
        (root,) = whole["operator"]
        while root["type"] in SCAFFOLDING:
            (root,) = root["children"]
        plan = Plan(operation, statement, native, _tree(root, _named_tables(root)))
        return _with_totals(plan, whole)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the text is not a DuckDB plan: {error!r}") from error


def _with_totals(plan: Plan, whole: dict[str, Any]) -> Plan:
    planning_s = sum(
        whole[part]["total_time"] for part in ("planner", "optimizer", "physical_planner")
    )
    system, query = whole["system"], whole["query"]
    return replace(
        plan,
        planning_s=planning_s,
        execution_s=max(0.0, query["total_time"] - planning_s),
        read_bytes=whole["io"]["total_bytes_read"],
        spilled_bytes=system["peak_temp_dir_size"],
        memory_bytes=system["peak_buffer_memory"],
        details={
            **{key: value for key, value in whole.items() if key not in {"operator", "query"}},
            "query": {key: value for key, value in query.items() if key != "sql"},
        },
    )


def _named_tables(node: Node) -> dict[str, str]:
    """Return names of common table expressions by their number in DuckDB's plan."""
    info = node["extra_info"]
    # The names that DuckDB generates end with a number that differs in each plan.
    own = {info["Table Index"]: info["CTE Name"].rstrip("0123456789")} if "CTE Name" in info else {}
    for child in node.get("children", ()):
        own |= _named_tables(child)
    return own


def _tree(node: Node, tables: dict[str, str], *, limited: bool = False) -> PlanNode:
    kind = node.get("type") or node["name"]
    below = kind in {"LIMIT", "STREAMING_LIMIT"} or (limited and kind in STREAMING)
    children = tuple(_tree(child, tables, limited=below) for child in node.get("children", ()))
    info = node["extra_info"]
    table = info.get("Table")
    if kind == "CTE":
        # The last input of a common table's node continues the statement; the other inputs are for
        # scans within it.
        children = (*children[-1:], *children[:-1])
    operator = "index scan" if info.get("Type") == "Index Scan" else OPERATORS.get(kind, "other")
    rows = _rows(node, kind, operator)
    return PlanNode(
        operator=operator,
        native=_native(kind, info),
        object=_object(info, tables),
        condition=_condition(node),
        estimated_rows=_estimated(info, kind),
        rows=rows,
        seconds=node.get("timing"),
        cut_short=_cut_short(kind, info, children, limited=limited),
        removed_rows=_removed(node, kind, rows, children),
        columns=_columns(info) if table else None,
        details=_details(node),
        children=children,
    )


def _rows(node: Node, kind: str, operator: str) -> float | None:
    """Return the output rows of a DuckDB operator; None if not counted."""
    if "intermediate_rows" not in node or kind in COUNTS_NO_ROWS or operator == "modify":
        return None
    return float(node["intermediate_rows"])


def _estimated(info: dict[str, Any], kind: str) -> float | None:
    rows = info.get(ESTIMATE)
    if rows is None or kind in COUNTS_NO_ROWS:
        return None
    # DuckDB reports 0 rows for a limit.
    return None if OPERATORS.get(kind) == "limit" and rows == "0" else float(rows)


def _object(info: dict[str, Any], tables: dict[str, str]) -> str | None:
    if "Table" in info:
        return str(info["Table"]).rpartition(".")[2]
    index = info.get("CTE Index") or info.get("Table Index")
    return tables.get(str(index)) or info.get("Function")


def _native(kind: str, info: dict[str, Any]) -> str:
    join = info.get("Join Type", "INNER")
    return kind if join == "INNER" else f"{kind} {join}"


def _cut_short(
    kind: str, info: dict[str, Any], children: tuple[PlanNode, ...], *, limited: bool
) -> bool:
    """Return True if a limit stopped the operator early, or a join filtered its scan."""
    through = kind in STREAMING and any(child.cut_short for child in children)
    return limited or DYNAMIC in info or through


def _removed(
    node: Node, kind: str, rows: float | None, children: tuple[PlanNode, ...]
) -> float | None:
    if rows is None:
        return None
    if "rows_scanned" in node:
        return max(0.0, float(node["rows_scanned"]) - rows)
    if kind == "FILTER" and children and children[0].rows is not None:
        return max(0.0, children[0].rows - rows)
    return None


def _texts(value: str | list[str] | None) -> list[str]:
    """Return one text or a list of texts as a list, without empty ones."""
    texts = [value] if isinstance(value, str) else value or []
    return [text for text in texts if text]


def _condition(node: Node) -> str | None:
    info = node["extra_info"]
    key = next((key for key in CONDITIONS if _texts(info.get(key))), None)
    if key is None:
        return None
    below = node.get("children", ())
    # Column positions in a join's condition refer to one of its sides, and DuckDB does not say
    # which.
    names = _names(below[0]) if len(below) == 1 else None
    together = " and " if key in {"Conditions", "Condition", "Filters"} else ", "
    return together.join(_named(text, names) for text in _texts(info[key]))


def _named(text: str, names: list[str] | None) -> str:
    """Return a plan expression with column names in place of column numbers."""

    def name(match: re.Match[str]) -> str:
        place = int(match[1])
        return names[place] if names is not None and place < len(names) else match[0]

    return _PLACE.sub(name, text)


def _names(node: Node) -> list[str] | None:
    """Return the output columns of a DuckDB operator; None if not named."""
    kind, info = node.get("type") or node["name"], node["extra_info"]
    below = _names(node["children"][0]) if node.get("children") else None
    if kind == "PROJECTION":
        return [_named(text, below) for text in _texts(info.get(PROJECTIONS))]
    if kind == "FILTER":
        return below
    if kind in {"HASH_GROUP_BY", "PERFECT_HASH_GROUP_BY"}:
        made = _texts(info.get("Groups")) + _texts(info.get("Aggregates"))
        return [_named(text, below) for text in made]
    return _texts(info.get(PROJECTIONS)) if "Table" in info else None


def _columns(info: dict[str, Any]) -> tuple[str, ...]:
    """Return the columns that a DuckDB scan outputs or filters by."""
    columns = dict.fromkeys(_texts(info.get(PROJECTIONS)))
    for text in _texts(info.get("Filters")):
        for match in _WORD.finditer(text):
            if word := match[1] or match[2]:
                columns[word] = None
    return tuple(columns)


def _details(node: Node) -> dict[str, Any]:
    extra = {key: value for key, value in node["extra_info"].items() if key not in TOLD_ELSEWHERE}
    counted = ("rows_scanned", "row_groups_scanned", "total_row_groups_to_scan")
    sizes = {key: node[key] for key in (*counted, "intermediate_size_bytes") if key in node}
    return extra | sizes
