"""Converts Spark's report of an execution to a plan tree.

The text of `EXPLAIN FORMATTED` has the tree and a description of each operator. The driver's graph
of the execution has the same tree with counters.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from assay.engines.plan_reading import plan_parser
from assay.model.plan import Plan, PlanNode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PHYSICAL, SUBQUERIES = "== Physical Plan ==", "===== Subqueries ====="
INITIAL = "== Initial Plan =="
CODE = "WholeStageCodegen"
ROWS, WRITTEN = "number of output rows", "shuffle records written"
SPILLED = "spill size"
ESTIMATED = "it was not executed, and Spark estimates rows only where its CBO has statistics"
# Operators by prefix of Spark's names; the first match is used.
OPERATORS = (
    ("Scan ", "scan"),
    ("LocalTableScan", "values"),
    ("BroadcastHashJoin", "hash join"),
    ("ShuffledHashJoin", "hash join"),
    ("SortMergeJoin", "merge join"),
    ("BroadcastNestedLoopJoin", "nested loop"),
    ("CartesianProduct", "nested loop"),
    ("HashAggregate", "aggregate"),
    ("SortAggregate", "aggregate"),
    ("ObjectHashAggregate", "aggregate"),
    ("BroadcastExchange", "exchange"),
    ("Exchange", "exchange"),
    ("ReusedExchange", "exchange"),
    ("TakeOrderedAndProject", "top-n"),
    ("Sort", "sort"),
    ("Filter", "filter"),
    ("Project", "projection"),
    ("GlobalLimit", "limit"),
    ("LocalLimit", "limit"),
    ("CollectLimit", "limit"),
    ("Window", "window"),
    ("Union", "set operation"),
    ("Expand", "other"),
    ("Execute", "modify"),
)
# Lines of an operator's description that hold its condition.
CONDITIONS = ("Left keys", "Right keys", "Join condition", "Condition", "Keys", "Arguments")
_LINE = re.compile(r"^(?P<lead>[\s:+|-]*)(?:\* )?(?P<name>\S.*?) \((?P<id>\d+)\)\s*$")
_DETAIL = re.compile(r"^\((\d+)\) ")
_HOSTED = re.compile(r"^Subquery:\d+ Hosting operator id = (\d+)")
_SIDES = re.compile(r" (?:Inner|Left\w*|Right\w*|Full\w*|Cross|ExistenceJoin\S*)(?: Build\w+)?$")
_SIZE = re.compile(r"([\d.,]+) ([KMGT]i)?B")
_BYTES = {"": 1, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40}
_NUMBER = re.compile(r"[\d,]+")


@dataclass
class _Written:
    """An operator in Spark's plan text."""

    number: int
    name: str
    says: str
    column: int
    children: list[_Written] = field(default_factory=list)


@plan_parser("Spark")
def normalised(native_text: str, operation: str, statement: int, native: str) -> Plan:
    """Return the plan in a stored report of Spark.

    Raises:
        ValueError: If the document cannot be parsed.
    """
    try:
        document: dict[str, Any] = json.loads(native_text)
        text = str(document["planDescription"])
        graph = document.get("nodes")
        root = _tree(text, _Counted(graph or [], document.get("edges") or []))
    except (LookupError, TypeError) as error:
        raise ValueError(f"Spark's plan cannot be parsed: {error!r}") from error
    spilled = [node.spilled_bytes for node in root.walk() if node.spilled_bytes is not None]
    return Plan(
        operation,
        statement,
        native,
        root,
        execution_s=document["duration"] / 1000 if graph else None,
        timed=bool(graph),
        reason=None if graph else ESTIMATED,
        spilled_bytes=sum(spilled) if graph and spilled else None,
    )


class _Counted:
    """The counters of operators in the Spark driver's graph."""

    def __init__(
        self, nodes: Iterable[Mapping[str, Any]], edges: Iterable[Mapping[str, Any]]
    ) -> None:
        own = [node for node in nodes if not str(node["nodeName"]).startswith(CODE)]
        self.nodes = {int(node["nodeId"]): node for node in own}
        self.inputs: dict[int, list[int]] = {}
        for edge in sorted(edges, key=lambda edge: int(edge["fromId"])):
            self.inputs.setdefault(int(edge["toId"]), []).append(int(edge["fromId"]))
        self._taken: set[int] = set()

    def root(self) -> int | None:
        """Return the number of the operator whose rows no other operator reads."""
        taken = {node for some in self.inputs.values() for node in some}
        return min((node for node in self.nodes if node not in taken), default=None)

    def take(self, name: str, among: Iterable[int]) -> int | None:
        """Return the number of the first unused operator of a name; None if all are used."""
        for node in among:
            if node not in self._taken and str(self.nodes[node]["nodeName"]).strip() == name:
                self._taken.add(node)
                return node
        return None

    def metrics(self, node: int | None) -> dict[str, str]:
        """Return an operator's counters as text in the Spark driver's format."""
        metrics = [] if node is None else self.nodes[node]["metrics"]
        return {str(metric["name"]): str(metric["value"]) for metric in metrics}


def _tree(text: str, counted: _Counted) -> PlanNode:
    if PHYSICAL not in text:
        raise ValueError(f"Spark's plan has no {PHYSICAL!r}")
    main, _, below = text.partition(PHYSICAL)[2].partition(SUBQUERIES)
    details = _details(text)
    hosted: dict[int, list[_Written]] = {}
    for part in re.split(r"(?m)^(?=Subquery:\d+)", below):
        if match := _HOSTED.match(part):
            hosted.setdefault(int(match[1]), []).extend(_written(part.splitlines()[1:]))
    roots = _written(main.splitlines())
    if not roots:
        raise ValueError("Spark's plan has no operators")
    first = counted.root()
    return _node(roots[0], [] if first is None else [first], counted, details, hosted)


def _written(lines: Iterable[str]) -> list[_Written]:
    """Return the root operators of Spark's final plan text."""
    roots: list[_Written] = []
    above: list[_Written] = []
    for line in lines:
        if INITIAL in line or (above and not line.strip()):
            break
        match = _LINE.match(line)
        if match is None:
            continue
        name, column = match["name"], len(match["lead"])
        operator = _Written(int(match["id"]), _SIDES.sub("", name), name, column)
        while above and above[-1].column >= column:
            above.pop()
        (above[-1].children if above else roots).append(operator)
        above.append(operator)
    return roots


def _details(text: str) -> dict[int, dict[str, str]]:
    """Return the details of each operator in Spark's plan text, by its number."""
    details: dict[int, dict[str, str]] = {}
    own: dict[str, str] | None = None
    for line in text.splitlines():
        if begun := _DETAIL.match(line):
            own = details.setdefault(int(begun[1]), {})
        elif not line.strip():
            own = None
        elif own is not None and ":" in line:
            name, _, value = line.partition(":")
            own[re.sub(r" \[\d+\]$", "", name).strip()] = value.strip()
    return details


def _node(
    written: _Written,
    among: list[int],
    counted: _Counted,
    details: Mapping[int, Mapping[str, str]],
    hosted: Mapping[int, list[_Written]],
) -> PlanNode:
    own = counted.take(written.name, among)
    below = [] if own is None else counted.inputs.get(own, [])
    children = [_node(child, below, counted, details, hosted) for child in written.children]
    # The text names the build side; the other side is the outer.
    if "BuildLeft" in written.says and len(children) > 1:
        children.reverse()
    for subquery in hosted.get(written.number, []):
        inside = _node(subquery, below, counted, details, hosted)
        children.append(PlanNode("subquery", "Subquery", children=(inside,)))
    made = _operator(written, counted.metrics(own), details.get(written.number, {}))
    return replace(made, children=tuple(children))


def _operator(written: _Written, metrics: Mapping[str, str], detail: Mapping[str, str]) -> PlanNode:
    operator = next((word for begin, word in OPERATORS if written.name.startswith(begin)), "other")
    said = [
        f"{name}: {detail[name]}" for name in CONDITIONS if detail.get(name) not in {None, "None"}
    ]
    is_scan = operator == "scan"
    pushed = detail.get("PushedFilters") if is_scan else None
    return PlanNode(
        operator,
        written.says,
        object=written.name.split()[-1].rpartition(".")[2] if is_scan else None,
        condition=pushed or ("; ".join(said) if said else None),
        rows=_number(metrics.get(ROWS) or metrics.get(WRITTEN)),
        spilled_bytes=_bytes(metrics.get(SPILLED)),
        details=dict(metrics),
    )


def _number(text: str | None) -> float | None:
    match = _NUMBER.match(text or "")
    return None if match is None else float(match[0].replace(",", ""))


def _bytes(text: str | None) -> int | None:
    """Return bytes of a size in the driver's format; of several the first, which is the total."""
    match = _SIZE.search(text or "")
    return (
        None if match is None else round(float(match[1].replace(",", "")) * _BYTES[match[2] or ""])
    )
