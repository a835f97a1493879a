"""Converts Trino's plans to the plan tree that all engines share."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from assay.engines.plan_reading import plan_parser
from assay.engines.trino.query_counts import GIVERS, nanoseconds, size_bytes
from assay.model.plan import Plan, PlanNode
from assay.model.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

JsonObject = dict[str, Any]

# Trino's names of nodes, without the bracketed suffix.
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
# Operators that only prepare another operator's rows, or pass them on.
GIVE_NO_ROWS = (
    "HashBuilderOperator",
    "NestedLoopBuildOperator",
    "SetBuilderOperator",
    "LocalExchangeSinkOperator",
    "DynamicFilterSourceOperator",
    *GIVERS,
)
# Filter by which a scan skips rows that a join does not need.
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
    """Return the parts of a Trino query report that form its plan, as text.

    Args:
        account: JSON document of `/v1/query/<id>`, with `stages`.
    """
    stages = [
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
    return json.dumps({"stages": stages, "query": {key: stats[key] for key in QUERY_KEYS}})


def _estimates(costs: Mapping[str, Any]) -> dict[str, float]:
    """Return the estimated rows of Trino plan nodes, without unknown estimates."""
    rows = {
        node: estimate.get("outputRowCount") for node, estimate in costs.get("stats", {}).items()
    }
    return {node: float(count) for node, count in rows.items() if _is_number(count)}


def _is_number(number: object) -> bool:
    return isinstance(number, int | float) and number == number  # noqa: PLR0124 - NaN


def _operators(tasks: Iterable[Mapping[str, Any]]) -> list[JsonObject]:
    return [
        {key: operator[key] for key in OPERATOR_KEYS}
        for task in tasks
        for pipeline in task["stats"]["pipelines"]
        for operator in pipeline["operatorSummaries"]
    ]


@plan_parser("Trino")
def normalised(text: str, operation: str, statement: int, native: str) -> Plan:
    """Return the plan in a stored Trino query report.

    See `HasPlans.plan`.
    """
    try:
        whole = json.loads(text)
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
        raise ValueError(f"the text is not a Trino plan: {error!r}") from error


def _seconds(text: str) -> float:
    return nanoseconds(text) / NS_PER_S


class _Tree:
    """The plan tree of all stages of a Trino query."""

    def __init__(
        self,
        plans: Mapping[str, JsonObject],
        estimates: Mapping[str, float],
        operators: Mapping[str, Sequence[JsonObject]],
        given: Mapping[str, Sequence[JsonObject]],
    ) -> None:
        self._plans = plans
        self._estimates = estimates
        # Operators by node.
        self._operators = operators
        # Operators that output a stage's pages, by stage.
        self._given = given
        if not plans:
            raise KeyError("stages")
        self._first = next(iter(plans))

    @classmethod
    def of_stages(cls, stages: Sequence[JsonObject]) -> _Tree:
        """Make the plan tree of executed Trino stages."""
        operators: dict[str, list[JsonObject]] = {}
        given: dict[str, list[JsonObject]] = {}
        for stage in stages:
            for operator in stage["operators"]:
                if operator["operatorType"] in GIVERS:
                    given.setdefault(stage["id"], []).append(operator)
                else:
                    operators.setdefault(str(operator["planNodeId"]), []).append(operator)
        estimates = {node: rows for stage in stages for node, rows in stage["estimates"].items()}
        plans = {stage["id"]: stage["plan"] for stage in stages}
        return cls(plans, estimates, operators, given)

    def root(self) -> PlanNode:
        """Return the last stage of a Trino query with all its inputs, as a plan node."""
        made = self._node(self._plans[self._first])
        given = self._given.get(self._first, ())
        if not given:
            return made
        return PlanNode(
            "exchange", given[0]["operatorType"], seconds=_wall(given), children=(made,)
        )

    def _node(self, plan: JsonObject) -> PlanNode:
        name = _NAME.match(plan["name"])
        word = name[0] if name else plan["name"]
        below = [self._node(child) for child in plan["children"]]
        given: list[JsonObject] = []
        for source in plan["remoteSources"]:
            below.append(self._node(self._plans[str(source)]))
            given += self._given.get(str(source), ())
        operators = self._operators.get(str(plan["id"]), [])
        operator = OPERATORS.get(word, "other")
        identifier = plan.get("identifier") or ""
        return PlanNode(
            operator=operator,
            native=plan["name"],
            object=_table(identifier) if operator in ("scan", "index scan", "modify") else None,
            condition=_condition(identifier, operator),
            estimated_rows=self._estimates.get(str(plan["id"])),
            rows=_rows(operators),
            seconds=_wall([*operators, *given]) if operators else None,
            cut_short=any(DYNAMIC in text for text in (identifier, plan.get("details") or "")),
            read_bytes=_sum_sizes(operators, "physicalInputDataSize"),
            spilled_bytes=_sum_sizes(operators, "spilledDataSize"),
            removed_rows=_removed(operators, operator),
            details=_details(plan, operators, given),
            children=tuple(below),
        )


def _rows(operators: Sequence[JsonObject]) -> float | None:
    """Return the rows that a Trino plan node output; None if not counted for it."""
    if not operators:
        return None
    giving = [operator for operator in operators if operator["operatorType"] not in GIVE_NO_ROWS]
    return float(sum(operator["outputPositions"] for operator in giving)) if giving else None


def _removed(operators: Sequence[JsonObject], operator: str) -> float | None:
    if not operators or operator not in ("scan", "filter"):
        return None
    read = sum(
        max(counted["inputPositions"], counted["physicalInputPositions"]) for counted in operators
    )
    return max(0.0, float(read) - (_rows(operators) or 0.0))


def _wall(operators: Iterable[JsonObject]) -> float:
    return sum(_seconds(operator[key]) for operator in operators for key in WALLS)


def _sum_sizes(operators: Sequence[JsonObject], key: str) -> int | None:
    if not operators:
        return None
    return int(sum(size_bytes(operator[key]) for operator in operators)) or None


def _table(identifier: str) -> str | None:
    named = _TABLE_NAME.search(identifier) or _TABLE.search(identifier)
    return named[1].rpartition(":")[2].rpartition(".")[2].strip('"') if named else None


def _condition(identifier: str, operator: str) -> str | None:
    if operator in ("scan", "index scan"):
        match = _PREDICATE.search(identifier)
        return match[1] if match else None
    return None if identifier in ("", "[]") else identifier


def _details(
    plan: JsonObject, operators: Sequence[JsonObject], given: Sequence[JsonObject]
) -> JsonObject:
    """Return other counters of a plan node: network traffic and waits."""
    details: JsonObject = {"details": plan["details"].strip()} if plan.get("details") else {}
    if not operators:
        return details
    details["cpu_s"] = sum(
        _seconds(operator[key]) for operator in [*operators, *given] for key in CPUS
    )
    details["drivers"] = sum(operator["totalDrivers"] for operator in operators)
    if blocked := sum(_seconds(operator["blockedWall"]) for operator in operators):
        details["waited_s"] = blocked
    if given:
        details["pages"] = sum(operator["getOutputCalls"] for operator in operators)
        sent = sum(size_bytes(operator["internalNetworkInputDataSize"]) for operator in operators)
        details["sent_bytes"] = int(sent)
        details["blocked_on_output_s"] = sum(
            _seconds(operator["blockedWall"]) for operator in given
        )
    return details
