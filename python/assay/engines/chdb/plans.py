"""Converts chDB's plans to the plan tree that all engines share."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from assay.engines.plan_reading import plan_parser
from assay.model.plan import Plan, PlanNode

OPERATORS = {
    "Aggregating": "aggregate",
    "AggregatingProjection": "aggregate",
    "MergingAggregated": "aggregate",
    "Distinct": "aggregate",
    "PreliminaryDistinct": "aggregate",
    "Rollup": "aggregate",
    "Cube": "aggregate",
    "TotalsHaving": "aggregate",
    "ArrayJoin": "projection",
    "Expression": "projection",
    "CreatingSet": "materialize",
    "CreatingSets": "subquery",
    "DelayedCreatingSets": "subquery",
    "SaveSubqueryResultToBuffer": "materialize",
    "ReadFromCommonBuffer": "cte",
    "Filter": "filter",
    "Having": "filter",
    "Limit": "limit",
    "LimitBy": "limit",
    "Offset": "limit",
    "ReadFromMergeTree": "scan",
    "ReadFromMemoryStorage": "scan",
    "ReadFromStorage": "scan",
    "ReadFromSystemNumbers": "values",
    "ReadFromSystemOne": "values",
    "ReadFromPreparedSource": "values",
    "ReadNothing": "values",
    "Sorting": "sort",
    "Union": "set operation",
    "IntersectOrExcept": "set operation",
    "Window": "window",
}
JOINS = {"hash": "hash join", "merg": "merge join"}
# A union does not count its input rows.
COUNTS_NO_ROWS = {"Union", "CreatingSets", "DelayedCreatingSets"}
CONDITIONS = ("Join conditions", "Prewhere filter column", "Filter column", "Keys")
CONDITIONS_OF_SORTS = ("Sort description", "Result sort description")
FACTORS = {"": 1.0, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}

_NODE = re.compile(r"(?P<before>[│ ]*(?:[├└]──)?)(?P<kind>[A-Z]\w*)(?: \((?P<what>.*)\))?$")
_TOLD = re.compile(r"[│ ]*(?P<key>[^:]+?)(?::\s*(?P<value>.*))?$")
_ROWS = re.compile(
    r"rows (?P<read>[\d.]+)\s?(?P<reads>[a-z]*) → (?P<gave>[\d.]+)\s?(?P<gives>[a-z]*)"
)
_TIME = re.compile(r"\btime (?P<time>[\d.]+) (?P<unit>\w+) .*?parallelism (?P<threads>[\d.]+)/")
_PHASES = re.compile(r"planning (\S+) (\w+) · execution (\S+) (\w+)")
_ESTIMATE = re.compile(r"estimated (?P<rows>[\d.]+)\s?(?P<factor>[a-z]*)")
STEP = 3


@dataclass
class _Drawn:
    """One operator in ClickHouse's plan text: its heading, and the lines below it."""

    kind: str
    what: str
    attributes: dict[str, str] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    children: list[_Drawn] = field(default_factory=list)


@plan_parser("chDB")
def normalised(text: str, operation: str, statement: int, native: str) -> Plan:
    """Return the plan in the output of EXPLAIN ANALYZE.

    See `HasPlans.plan`.
    """
    head, _, tree = text.partition("\n\nOutput:")
    phases = _PHASES.search(head)
    if phases is None:
        raise ValueError("the text is not a ClickHouse plan: the planning time is missing")
    lines = tree.splitlines()[1:]
    details = dict(line.strip().split(":", 1) for line in head.splitlines()[1:])
    return Plan(
        operation,
        statement,
        native,
        _operator(_drawn([line for line in lines if line.strip()]), limited=False),
        planning_s=float(phases[1]) * SECONDS[phases[2]],
        execution_s=float(phases[3]) * SECONDS[phases[4]],
        memory_bytes=_bytes(details.get("Peak memory", "")),
        details={key: value.strip() for key, value in details.items()},
    )


def _drawn(lines: list[str]) -> _Drawn:
    """Return ClickHouse's plan text as a tree, by its indentation."""
    above: list[_Drawn] = []
    for line in lines:
        heading = _NODE.match(line)
        if heading is not None and (not above or "──" in heading["before"]):
            depth = len(heading["before"]) // STEP
            if depth > len(above) or (depth == 0 and above):
                raise ValueError(
                    f"the text is not a ClickHouse plan: the line {line!r} has no parent"
                )
            step = _Drawn(heading["kind"], heading["what"] or "")
            del above[depth:]
            if above:
                above[-1].children.append(step)
            above.append(step)
        elif above:
            _read_line(above[-1], line)
    if not above:
        raise ValueError("the text is not a ClickHouse plan: it contains no operator")
    return above[0]


def _read_line(step: _Drawn, line: str) -> None:
    time = _TIME.search(line)
    if time is not None:
        # The step's wall time, times the average number of threads that worked at it.
        seconds = float(time["time"]) * SECONDS[time["unit"]]
        step.seconds.append(seconds * float(time["threads"]))
    elif attribute := _TOLD.match(line):
        key, value = attribute["key"], attribute["value"]
        word, _, rest = key.partition(" ")
        if value is None and word in {"Limit", "Offset"}:
            key, value = word, rest
        step.attributes.setdefault(key, value or "")


def _operator(step: _Drawn, *, limited: bool) -> PlanNode:
    below = step.kind == "Limit" or (limited and step.kind in {"Expression", "Filter"})
    children = tuple(_operator(child, limited=below) for child in step.children)
    operator = _word(step)
    rows, margin, read = _rows(step)
    return PlanNode(
        operator=operator,
        native=_native(step),
        object=step.what.rpartition(".")[2] if operator == "scan" else None,
        condition=_condition(step),
        estimated_rows=_estimated(step),
        rows=rows,
        rows_margin=margin,
        seconds=sum(step.seconds) if step.seconds else None,
        cut_short=limited or "Runtime filters" in step.attributes,
        removed_rows=max(0.0, read - rows) if operator == "filter" and rows is not None else None,
        columns=tuple(step.attributes["Output"].split(", "))
        if step.attributes.get("Output")
        else None,
        details=_details(step),
        children=children,
    )


def _word(step: _Drawn) -> str:
    if step.kind != "Join":
        word = OPERATORS.get(step.kind, "other")
        return "top-n" if word == "sort" and "Limit" in step.attributes else word
    _, _, algorithm = step.attributes.get("Type", "").rpartition("Algorithm: ")
    methods = (word for part, word in JOINS.items() if part in algorithm.lower())
    return next(methods, "nested loop")


def _native(step: _Drawn) -> str:
    """Return ClickHouse's name of a plan step, with the join kind unless inner."""
    kinds = re.match(r"(\w+) \| Strictness: (\w+)", step.attributes.get("Type", ""))
    suffixes = (
        [] if kinds is None else [word for word in kinds.groups() if word not in {"inner", "all"}]
    )
    return " ".join([step.kind, *suffixes])


def _rows(step: _Drawn) -> tuple[float | None, float, float]:
    """Return a plan step's output rows, their possible error, and its input rows."""
    counts = _ROWS.match(step.attributes.get("I/O", ""))
    if counts is None or step.kind in COUNTS_NO_ROWS:
        return None, 0.0, 0.0
    margin = 0.0 if not counts["gives"] else 0.005 * FACTORS[counts["gives"]]
    read = _whole(counts["read"], counts["reads"])
    return _whole(counts["gave"], counts["gives"]), margin, read


def _whole(number: str, factor: str) -> float:
    return float(round(float(number) * FACTORS[factor]))


def _estimated(step: _Drawn) -> float | None:
    estimate = _ESTIMATE.match(step.attributes.get("Output rows", ""))
    return None if estimate is None else _whole(estimate["rows"], estimate["factor"])


def _condition(step: _Drawn) -> str | None:
    keys = CONDITIONS_OF_SORTS if step.kind == "Sorting" else CONDITIONS
    return next((step.attributes[key] for key in keys if step.attributes.get(key)), None)


def _details(step: _Drawn) -> dict[str, Any]:
    elsewhere = {"Output", *CONDITIONS, *CONDITIONS_OF_SORTS}
    attributes = {key: value for key, value in step.attributes.items() if key not in elsewhere}
    return {"Description": step.what, **attributes} if step.what else dict(attributes)


def _bytes(text: str) -> int | None:
    number, _, unit = text.strip().partition(" ")
    return round(float(number) * BYTES[unit]) if unit in BYTES else None
