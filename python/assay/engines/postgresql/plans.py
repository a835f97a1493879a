"""Converts PostgreSQL's plans to the plan tree that all engines share."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.engines.plan_reading import plan_parser
from assay.engines.postgresql.plan_reads import columns_of, reads_of, triggers_of
from assay.engines.postgresql.plan_times import GATHERS, MS_PER_S, inputs, spent
from assay.model.plan import Plan, PlanNode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engines.postgresql.plan_times import Node, Spent

BLOCK_BYTES = 8192
KIB = 1024
DISABLED_COST = 1e10
MEMORY = "Memory"
# Keys of an amount of memory in KiB, and the key that shows whether it was in memory.
HELD = (
    ("Peak Memory Usage", ""),
    ("Sort Space Used", "Sort Space Type"),
    ("Maximum Storage", "Storage"),
)
SUBPLAN, CTE = "Subplan Name", "CTE "
OPERATORS = {
    "Seq Scan": "scan",
    "Sample Scan": "scan",
    "Tid Scan": "scan",
    "Tid Range Scan": "scan",
    "Function Scan": "values",
    "Table Function Scan": "values",
    "Foreign Scan": "scan",
    "Custom Scan": "scan",
    "Index Scan": "index scan",
    "Index Only Scan": "index scan",
    "Bitmap Heap Scan": "bitmap scan",
    "Bitmap Index Scan": "bitmap scan",
    "BitmapAnd": "bitmap scan",
    "BitmapOr": "bitmap scan",
    "Hash Join": "hash join",
    "Merge Join": "merge join",
    "Nested Loop": "nested loop",
    "Hash": "hash build",
    "Aggregate": "aggregate",
    "Group": "aggregate",
    "Unique": "aggregate",
    "Sort": "sort",
    "Incremental Sort": "sort",
    "Limit": "limit",
    "WindowAgg": "window",
    "SetOp": "set operation",
    "Append": "set operation",
    "Merge Append": "set operation",
    "Recursive Union": "set operation",
    "Gather": "exchange",
    "Gather Merge": "exchange",
    "Materialize": "materialize",
    "Memoize": "materialize",
    "CTE Scan": "cte",
    "WorkTable Scan": "cte",
    "Subquery Scan": "projection",
    "Values Scan": "values",
    "ModifyTable": "modify",
    # LockRows writes row locks into the rows.
    "LockRows": "modify",
    "Result": "result",
    "ProjectSet": "projection",
}
# Keys of a node's condition, with a prefix if the node's kind does not imply it.
CONDITIONS = (
    ("Hash Cond", ""),
    ("Merge Cond", ""),
    ("Index Cond", ""),
    ("TID Cond", ""),
    ("Order By", "order by "),
    ("Join Filter", "filter "),
    ("Filter", "filter "),
    ("Sort Key", ""),
    ("Presorted Key", "presorted "),
    ("Group Key", ""),
    ("Cache Key", ""),
    ("Function Call", ""),
)
# A recheck repeats the condition of the index below, unless there is no index node below.
RECHECK = "Recheck Cond"
STRATEGIES = {"Hashed": "Hash", "Sorted": "Group", "Mixed": "Mixed", "Plain": ""}
# Keys of rows that were read and removed; PostgreSQL reports them per loop.
REMOVED = ("Rows Removed by Filter", "Rows Removed by Join Filter", "Rows Removed by Index Recheck")
COUNTS_NO_ROWS = {"BitmapAnd", "BitmapOr", "ModifyTable"}
# Nodes that read all their input before they output the first row.
BLOCKING = {"Sort", "Hash", "SetOp"}
STOPPING_JOINS = {"Semi", "Anti", "Right Semi", "Right Anti"}
# Keys that another field has, or that the plan's own text contains.
TOLD_ELSEWHERE = {
    "Node Type",
    "Relation Name",
    "Index Name",
    "CTE Name",
    "Function Name",
    "Plan Rows",
    "Actual Rows",
    "Actual Loops",
    "Async Capable",
    "Parallel Aware",
    "Parent Relationship",
    SUBPLAN,
    *(key for key, _ in CONDITIONS),
    *REMOVED,
}


@dataclass(frozen=True)
class _Rows:
    """The rows of a plan node over all loops, and the uncertainty from rounding."""

    rows: float
    margin: float = 0.0


@dataclass(frozen=True)
class _Above:
    """Facts that a plan node receives from the nodes above it.

    Attributes:
        divisor: Number by which the optimiser divided the rows of partial plans.
        rounds: Number of times the nodes were started.
        cut_short: Whether a node above may stop early.
        joined: Output rows of the join above, if those are all rows that the node returned to it.
    """

    divisor: float = 1.0
    rounds: float = 1.0
    cut_short: bool = False
    joined: _Rows | None = None


@plan_parser("PostgreSQL")
def normalised(text: str, operation: str, statement: int, native: str) -> Plan:
    """Return the plan in the output of PostgreSQL's EXPLAIN (FORMAT JSON).

    See `HasPlans.plan`.
    """
    try:
        (whole,) = json.loads(text)
        root = whole["Plan"]
        timed = "Actual Loops" in root
        tree = _tree(root, spent(root), _Above(), whole.get("Settings", {}))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the text is not a PostgreSQL plan: {error!r}") from error
    return Plan(
        operation,
        statement,
        native,
        tree,
        planning_s=_seconds(whole.get("Planning Time")),
        execution_s=_seconds(whole.get("Execution Time")),
        compiling_s=_compiling(whole.get("JIT"), timed=timed),
        timed=timed,
        read_bytes=_sum(node.read_bytes for node in tree.walk()),
        spilled_bytes=_sum(node.spilled_bytes for node in tree.walk()),
        memory_bytes=_memory_bytes(root),
        cost=_cost(root),
        details={key: value for key, value in whole.items() if key != "Plan"},
        reads=reads_of(tree) if timed else None,
        triggers=triggers_of(whole.get("Triggers", ())),
    )


def _cost(root: Node) -> float | None:
    """Return the estimated cost of a plan, without penalties for disabled methods.

    Up to version 17, each such node has a cost penalty; later versions only count them.
    """
    cost: float | None = root.get("Total Cost")
    return None if cost is None else cost % DISABLED_COST


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / MS_PER_S


def _compiling(jit: dict[str, Any] | None, *, timed: bool) -> float | None:
    """Return the seconds of JIT compilation; None if nothing was timed."""
    if jit is None:
        return 0.0 if timed else None
    total: float | None = jit.get("Timing", {}).get("Total")
    return _seconds(total)


def _sum(values: Any) -> int | None:  # noqa: ANN401 - of any iterable
    numbers = [value for value in values if value is not None]
    return sum(numbers) if numbers else None


def _memory_bytes(root: Node) -> int | None:
    """Return the memory in bytes that plan nodes and workers held; None if not reported.

    The sum is an upper bound, because nodes need not have held their memory at the same time.
    """
    sizes = [size for node in _all_nodes(root) for size in _held_kib(node)]
    return sum(sizes) * KIB if sizes else None


def _all_nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in inputs(node):
        yield from _all_nodes(child)


def _held_kib(node: Node) -> Iterator[int]:
    """Yield the memory in KiB that the leader and its workers held for sorts and hashes."""
    for teller in (node, *node.get("Workers", ())):
        for size, place in HELD:
            if size in teller and teller.get(place, MEMORY) == MEMORY:
                yield int(teller[size])


def _tree(
    node: Node,
    own: dict[int, Spent],
    above: _Above,
    settings: dict[str, str],
    parent: Node | None = None,
) -> PlanNode:
    below = _below(node, above, settings)
    rows = _rows(node, above)
    mine = own[id(node)]
    ordered = sorted(inputs(node), key=lambda child: SUBPLAN in child)
    made = [
        _tree(child, own, _of_child(node, child, rows, below), settings, node) for child in ordered
    ]
    return PlanNode(
        operator=_operator(node),
        native=_native(node),
        object=node.get("Relation Name") or node.get("CTE Name") or node.get("Function Name"),
        index=node.get("Index Name"),
        schema=node.get("Schema") if node.get("Relation Name") else None,
        condition=_condition(node),
        estimated_rows=_estimated(node, above),
        rows=None if rows is None else rows.rows,
        rows_margin=0.0 if rows is None else rows.margin,
        loops=node.get("Actual Loops"),
        seconds=mine.seconds,
        workers=node.get("Workers Launched", node.get("Workers Planned")),
        workers_planned=node.get("Workers Planned"),
        workers_launched=node.get("Workers Launched"),
        cut_short=above.cut_short,
        removed_rows=_removed(node),
        read_bytes=_bytes(mine, "Shared Read Blocks", "Local Read Blocks"),
        cached_bytes=_bytes(mine, "Shared Hit Blocks", "Local Hit Blocks"),
        spilled_bytes=_bytes(mine, "Temp Written Blocks"),
        columns=columns_of(node, parent),
        details=_details(node),
        children=tuple(map(_wrapped, ordered, made)),
    )


def _rows(node: Node, above: _Above) -> _Rows | None:
    """Return a plan node's rows over all loops, from PostgreSQL's rounded average."""
    loops = node.get("Actual Loops")
    if not loops or node["Node Type"] in COUNTS_NO_ROWS:
        return None
    average = node["Actual Rows"]
    margin = 0.0 if loops == 1 else loops * (0.5 if isinstance(average, int) else 0.005)
    if above.joined is not None and above.joined.margin < margin:
        return above.joined
    return _Rows(float(round(average * loops)), margin)


def _wrapped(node: Node, made: PlanNode) -> PlanNode:
    """Return a subplan below a node that names it."""
    if SUBPLAN not in node:
        return made
    name = str(node[SUBPLAN])
    if name.startswith(CTE):
        return PlanNode("cte", name, object=name.removeprefix(CTE), children=(made,))
    return PlanNode("subquery", name, children=(made,))


def _operator(node: Node) -> str:
    if node.get("Sort Method", "").startswith("top-N"):
        return "top-n"
    return OPERATORS.get(node["Node Type"], "other")


def _native(node: Node) -> str:
    """Return the plan node's name in EXPLAIN's text format."""
    kind = str(node["Node Type"])
    if kind == "Aggregate":
        kind = f"{STRATEGIES.get(node.get('Strategy', ''), '')}Aggregate"
    elif kind == "ModifyTable":
        kind = str(node.get("Operation", kind))
    join = node.get("Join Type", "Inner")
    if join != "Inner":
        kind = (
            f"{kind} {join} Join" if kind == "Nested Loop" else kind.replace("Join", f"{join} Join")
        )
    if kind == "SetOp":
        kind = (
            f"{STRATEGIES.get(node.get('Strategy', ''), '')}SetOp {node.get('Command', '')}".strip()
        )
    if node.get("Scan Direction") == "Backward":
        kind += " Backward"
    partial = node.get("Partial Mode", "Simple")
    if partial != "Simple":
        kind = f"{partial} {kind}"
    return f"Parallel {kind}" if node.get("Parallel Aware") else kind


def _condition(node: Node) -> str | None:
    parts = [
        before + (", ".join(node[key]) if isinstance(node[key], list) else str(node[key]))
        for key, before in CONDITIONS
        if key in node
    ]
    if RECHECK in node and not inputs(node):
        parts.append(str(node[RECHECK]))
    return "; ".join(parts) or None


def _estimated(node: Node, above: _Above) -> float | None:
    """Return a plan node's estimated rows over all loops and processes."""
    rows, loops = node.get("Plan Rows"), node.get("Actual Loops")
    if rows is None or node["Node Type"] in COUNTS_NO_ROWS:
        return None
    if _is_partial(node):
        return float(round(rows * above.divisor * above.rounds))
    # A node that was never executed is estimated for one loop.
    return float(round(rows * max(1.0, float(loops or 1))))


def _is_partial(node: Node) -> bool:
    """Return True if parallel processes share a plan node's rows."""
    if node["Node Type"] in GATHERS:
        return False
    if node.get("Parallel Aware"):
        return True
    outer = [child for child in inputs(node) if child.get("Parent Relationship") == "Outer"]
    return bool(outer) and node["Node Type"] != "Bitmap Index Scan" and _is_partial(outer[0])


def _below(node: Node, above: _Above, settings: dict[str, str]) -> _Above:
    """Return the facts for the nodes below a plan node, such as the number of processes."""
    if node["Node Type"] not in GATHERS:
        return above
    planned = float(node.get("Workers Planned", 0))
    leads = settings.get("parallel_leader_participation", "on") == "on" and not node.get(
        "Single Copy"
    )
    # The optimiser assumes that a leader has less time for its own part with more workers.
    divisor = planned + (max(0.0, 1.0 - 0.3 * planned) if leads else 0.0)
    rounds = float(node.get("Actual Loops", 1))
    return _Above(max(1.0, divisor), max(1.0, rounds), above.cut_short)


def _of_child(node: Node, child: Node, rows: _Rows | None, below: _Above) -> _Above:
    """Return the facts for a child of a plan node, such as whether a limit stops it early."""
    kind = node["Node Type"]
    stops = below.cut_short and not _blocks(node)
    joined = None
    if kind in {"Limit", "Merge Join"} and SUBPLAN not in child:
        stops = True
    elif SUBPLAN in child:
        # A subplan of EXISTS stops at its first row.
        stops = not child[SUBPLAN].startswith(CTE)
    elif kind == "Nested Loop" and child.get("Parent Relationship") == "Inner":
        stops = stops or node.get("Join Type") in STOPPING_JOINS or bool(node.get("Inner Unique"))
        is_all = node.get("Join Type", "Inner") == "Inner" and "Join Filter" not in node
        joined = rows if is_all else None
    return _Above(below.divisor, below.rounds, stops, joined)


def _blocks(node: Node) -> bool:
    kind = node["Node Type"]
    return kind in BLOCKING or (kind == "Aggregate" and node.get("Strategy") != "Sorted")


def _removed(node: Node) -> float | None:
    removed = [float(node[key]) for key in REMOVED if key in node]
    return sum(removed) * float(node.get("Actual Loops", 1)) if removed else None


def _bytes(mine: Spent, *counters: str) -> int | None:
    blocks = [mine.blocks[name] for name in counters if name in mine.blocks]
    return sum(blocks) * BLOCK_BYTES if blocks else None


def _details(node: Node) -> dict[str, Any]:
    """Return a plan node's other facts: methods, memory, workers, cache loops."""
    return {
        key: value
        for key, value in node.items()
        if key not in TOLD_ELSEWHERE
        and not isinstance(value, (list, dict))
        and not key.endswith(" Blocks")
    }
