"""Trino's plans in words that are no engine's."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from assay.engines.trino.query_counts import GIVERS, nanoseconds, size_bytes
from assay.model.plan import Plan, PlanNode
from assay.model.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Told = dict[str, Any]

# What Trino calls its nodes, up to what stands in brackets behind.
OPERATORS = {
    "TableScan": "scan",
    "ScanFilter": "scan",
    "ScanProject": "scan",
    "ScanFilterProject": "scan",
    "IndexSource": "index scan",
    "Filter": "filter",
    "FilterProject": "filter",
    "Project": "projection",
    "Unnest": "projection",
    "InnerJoin": "hash join",
    "LeftJoin": "hash join",
    "RightJoin": "hash join",
    "FullJoin": "hash join",
    "SemiJoin": "hash join",
    "SemiJoinFilter": "hash join",
    "CrossJoin": "nested loop",
    "IndexJoin": "nested loop",
    "Aggregate": "aggregate",
    "DistinctLimit": "aggregate",
    "MarkDistinct": "aggregate",
    "GroupId": "projection",
    "AssignUniqueId": "projection",
    "Sort": "sort",
    "PartialSort": "sort",
    "TopN": "top-n",
    "TopNPartial": "top-n",
    "TopNRanking": "top-n",
    "Limit": "limit",
    "LimitPartial": "limit",
    "Window": "window",
    "RowNumber": "window",
    "Union": "set operation",
    "Intersect": "set operation",
    "Except": "set operation",
    "LocalExchange": "exchange",
    "LocalMerge": "exchange",
    "RemoteExchange": "exchange",
    "RemoteMerge": "exchange",
    "RemoteSource": "exchange",
    "Values": "values",
    "TableWriter": "modify",
    "TableCommit": "modify",
    "Output": "result",
    "EnforceSingleRow": "limit",
}
# Operators that only fill what another one gives rows from, or hand its rows on.
GIVE_NO_ROWS = (
    "HashBuilderOperator",
    "NestedLoopBuildOperator",
    "SetBuilderOperator",
    "LocalExchangeSinkOperator",
    "DynamicFilterSourceOperator",
    *GIVERS,
)
# What makes a scan leave rows out that a join has no use for.
DYNAMIC = "dynamicFilters"
WALLS = ("addInputWall", "getOutputWall", "finishWall")
CPUS = ("addInputCpu", "getOutputCpu", "finishCpu")
OPERATOR_KEYS = (
    *("planNodeId", "operatorType", "totalDrivers", "getOutputCalls", "outputPositions"),
    *("outputDataSize", "inputPositions", "physicalInputPositions", "physicalInputDataSize"),
    *("internalNetworkInputDataSize", "spilledDataSize", "blockedWall"),
    *("dynamicFilterSplitsProcessed", *WALLS, *CPUS),
)
QUERY_KEYS = (
    *("elapsedTime", "analysisTime", "planningTime", "executionTime", "totalTasks"),
    *("totalDrivers", "totalScheduledTime", "totalCpuTime", "totalBlockedTime"),
    *("internalNetworkInputDataSize", "physicalInputDataSize", "spilledDataSize"),
    *("peakTotalMemoryReservation", "peakUserMemoryReservation"),
)
_NAME = re.compile(r"[A-Za-z]+")
_TABLE = re.compile(r"\btable = [\w$]+:(?:HiveTableHandle\{)?([^,\s\]}]+)")
_SCHEMA, _TABLE_NAME = re.compile(r"schemaName=([^,}]+)"), re.compile(r"tableName=([^,}]+)")
_PREDICATE = re.compile(r"filterPredicate = (.*?)(?:, \w+ = |\]$|$)")


def kept(account: Mapping[str, Any]) -> str:
    """Of the coordinator's account of a query what says its plan, as text.

    Args:
        account: Of `/v1/query/<id>`, with `stages`.
    """
    told = [
        {
            "id": str(stage["plan"]["id"]),
            "plan": json.loads(stage["plan"]["jsonRepresentation"]),
            "estimates": _estimates(stage["plan"]["statsAndCosts"]),
            "operators": _operators(stage["tasks"]),
        }
        for stage in account["stages"]
        if stage.get("plan")
    ]
    stats = account["queryStats"]
    return json.dumps({"stages": told, "query": {key: stats[key] for key in QUERY_KEYS}})


def _estimates(told: Mapping[str, Any]) -> dict[str, float]:
    """Rows that the optimiser expects, by node; none for what it does not know."""
    rows = {node: one.get("outputRowCount") for node, one in told.get("stats", {}).items()}
    return {node: float(count) for node, count in rows.items() if _is_number(count)}


def _is_number(told: object) -> bool:
    return isinstance(told, int | float) and told == told  # noqa: PLR0124 - NaN


def _operators(tasks: Iterable[Mapping[str, Any]]) -> list[Told]:
    return [
        {key: operator[key] for key in OPERATOR_KEYS}
        for task in tasks
        for pipeline in task["stats"]["pipelines"]
        for operator in pipeline["operatorSummaries"]
    ]


def normalised(told: str, operation: str, statement: int, native: str) -> Plan:
    """The plan that a kept account means.

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
        tree = _Tree.of_stages(whole["stages"])
        query = whole["query"]
        return Plan(
            operation,
            statement,
            native,
            tree.root(),
            planning_s=_seconds(query["analysisTime"]) + _seconds(query["planningTime"]),
            execution_s=_seconds(query["executionTime"]),
            read_bytes=int(size_bytes(query["physicalInputDataSize"])),
            spilled_bytes=int(size_bytes(query["spilledDataSize"])),
            memory_bytes=int(size_bytes(query["peakTotalMemoryReservation"])),
            details=query,
        )
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"this is no plan of Trino: {error!r}") from error


def _seconds(text: str) -> float:
    return nanoseconds(text) / NS_PER_S


class _Tree:
    """Stages put together: where one takes from another, that one's plan stands below."""

    def __init__(
        self,
        plans: Mapping[str, Told],
        estimates: Mapping[str, float],
        operators: Mapping[str, Sequence[Told]],
        given: Mapping[str, Sequence[Told]],
    ) -> None:
        self._plans = plans
        self._estimates = estimates
        # By node.
        self._operators = operators
        # What gave a stage's pages out, by stage.
        self._given = given
        if not plans:
            raise KeyError("stages")
        self._first = next(iter(plans))

    @classmethod
    def of_stages(cls, stages: Sequence[Told]) -> _Tree:
        """Of what was executed, the last stage first."""
        operators: dict[str, list[Told]] = {}
        given: dict[str, list[Told]] = {}
        for stage in stages:
            for one in stage["operators"]:
                if one["operatorType"] in GIVERS:
                    given.setdefault(stage["id"], []).append(one)
                else:
                    operators.setdefault(str(one["planNodeId"]), []).append(one)
        estimates = {node: rows for stage in stages for node, rows in stage["estimates"].items()}
        plans = {stage["id"]: stage["plan"] for stage in stages}
        return cls(plans, estimates, operators, given)

    def root(self) -> PlanNode:
        """The last stage with all that it takes from; what gave out its pages is its own."""
        made = self._node(self._plans[self._first])
        given = self._given.get(self._first, ())
        if not given:
            return made
        return PlanNode(
            "exchange", given[0]["operatorType"], seconds=_wall(given), children=(made,)
        )

    def _node(self, told: Told) -> PlanNode:
        name = _NAME.match(told["name"])
        word = name[0] if name else told["name"]
        below = [self._node(child) for child in told["children"]]
        given: list[Told] = []
        for source in told["remoteSources"]:
            below.append(self._node(self._plans[str(source)]))
            given += self._given.get(str(source), ())
        found = self._operators.get(str(told["id"]), [])
        operator = OPERATORS.get(word, "other")
        identifier = told.get("identifier") or ""
        return PlanNode(
            operator=operator,
            native=told["name"],
            object=_table(identifier) if operator in ("scan", "index scan", "modify") else None,
            condition=_condition(identifier, operator),
            estimated_rows=self._estimates.get(str(told["id"])),
            rows=_rows(found),
            seconds=_wall([*found, *given]) if found else None,
            cut_short=any(DYNAMIC in text for text in (identifier, told.get("details") or "")),
            read_bytes=_sum_sizes(found, "physicalInputDataSize"),
            spilled_bytes=_sum_sizes(found, "spilledDataSize"),
            removed_rows=_removed(found, operator),
            details=_details(told, found, given),
            children=tuple(below),
        )


def _rows(found: Sequence[Told]) -> float | None:
    """Rows that a node gave; None where another node's operator does its work."""
    if not found:
        return None
    giving = [one for one in found if one["operatorType"] not in GIVE_NO_ROWS]
    return float(sum(one["outputPositions"] for one in giving)) if giving else None


def _removed(found: Sequence[Told], operator: str) -> float | None:
    if not found or operator not in ("scan", "filter"):
        return None
    read = sum(max(one["inputPositions"], one["physicalInputPositions"]) for one in found)
    return max(0.0, float(read) - (_rows(found) or 0.0))


def _wall(operators: Iterable[Told]) -> float:
    return sum(_seconds(one[key]) for one in operators for key in WALLS)


def _sum_sizes(found: Sequence[Told], key: str) -> int | None:
    if not found:
        return None
    return int(sum(size_bytes(one[key]) for one in found)) or None


def _table(identifier: str) -> str | None:
    named = _TABLE_NAME.search(identifier) or _TABLE.search(identifier)
    return named[1].rpartition(":")[2].rpartition(".")[2].strip('"') if named else None


def _condition(identifier: str, operator: str) -> str | None:
    if operator in ("scan", "index scan"):
        found = _PREDICATE.search(identifier)
        return found[1] if found else None
    return None if identifier in ("", "[]") else identifier


def _details(told: Told, found: Sequence[Told], given: Sequence[Told]) -> Told:
    """What else Trino tells: of an exchange what went over it, of all what they waited."""
    details: Told = {"details": told["details"].strip()} if told.get("details") else {}
    if not found:
        return details
    details["cpu_s"] = sum(_seconds(one[key]) for one in [*found, *given] for key in CPUS)
    details["drivers"] = sum(one["totalDrivers"] for one in found)
    if blocked := sum(_seconds(one["blockedWall"]) for one in found):
        details["waited_s"] = blocked
    if given:
        details["pages"] = sum(one["getOutputCalls"] for one in found)
        sent = sum(size_bytes(one["internalNetworkInputDataSize"]) for one in found)
        details["sent_bytes"] = int(sent)
        details["blocked_on_output_s"] = sum(_seconds(one["blockedWall"]) for one in given)
    return details
