"""ClickHouse's plans in words that are no engine's: what EXPLAIN ANALYZE draws as a tree."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

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
# A union counts what it is given as nothing, for rows pass by it.
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
    """One operator as it is drawn: its heading, and the lines below it."""

    kind: str
    what: str
    told: dict[str, str] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    children: list[_Drawn] = field(default_factory=list)


def normalised(told: str, operation: str, statement: int, native: str) -> Plan:
    """The plan that a text of EXPLAIN ANALYZE means.

    Args:
        told: The text.
        operation: The operation that was asked.
        statement: Which of its statements.
        native: The file that keeps the text.

    Raises:
        ValueError: If it is no such text.
    """
    head, _, tree = told.partition("\n\nOutput:")
    phases = _PHASES.search(head)
    if phases is None:
        raise ValueError("this is no plan of ClickHouse: it tells no time of planning")
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
    """The tree: how far a heading stands to the right says whose child it is."""
    above: list[_Drawn] = []
    for line in lines:
        heading = _NODE.match(line)
        if heading is not None and (not above or "──" in heading["before"]):
            depth = len(heading["before"]) // STEP
            if depth > len(above) or (depth == 0 and above):
                raise ValueError(f"this is no plan of ClickHouse: {line!r} is below nothing")
            one = _Drawn(heading["kind"], heading["what"] or "")
            del above[depth:]
            if above:
                above[-1].children.append(one)
            above.append(one)
        elif above:
            _tell(above[-1], line)
    if not above:
        raise ValueError("this is no plan of ClickHouse: it has no operator")
    return above[0]


def _tell(one: _Drawn, line: str) -> None:
    time = _TIME.search(line)
    if time is not None:
        # It is wall time of the step; so many threads worked at it on average.
        seconds = float(time["time"]) * SECONDS[time["unit"]]
        one.seconds.append(seconds * float(time["threads"]))
    elif told := _TOLD.match(line):
        key, value = told["key"], told["value"]
        word, _, rest = key.partition(" ")
        if value is None and word in {"Limit", "Offset"}:
            key, value = word, rest
        one.told.setdefault(key, value or "")


def _operator(one: _Drawn, *, limited: bool) -> PlanNode:
    below = one.kind == "Limit" or (limited and one.kind in {"Expression", "Filter"})
    children = tuple(_operator(child, limited=below) for child in one.children)
    operator = _word(one)
    rows, margin, read = _rows(one)
    return PlanNode(
        operator=operator,
        native=_native(one),
        object=one.what.rpartition(".")[2] if operator == "scan" else None,
        condition=_condition(one),
        estimated_rows=_estimated(one),
        rows=rows,
        rows_margin=margin,
        seconds=sum(one.seconds) if one.seconds else None,
        cut_short=limited or "Runtime filters" in one.told,
        removed_rows=max(0.0, read - rows) if operator == "filter" and rows is not None else None,
        columns=tuple(one.told["Output"].split(", ")) if one.told.get("Output") else None,
        details=_details(one),
        children=children,
    )


def _word(one: _Drawn) -> str:
    if one.kind != "Join":
        word = OPERATORS.get(one.kind, "other")
        return "top-n" if word == "sort" and "Limit" in one.told else word
    _, _, algorithm = one.told.get("Type", "").rpartition("Algorithm: ")
    found = (word for part, word in JOINS.items() if part in algorithm.lower())
    return next(found, "nested loop")


def _native(one: _Drawn) -> str:
    """The word for it, with the kind of a join that is none of all pairs that match."""
    told = re.match(r"(\w+) \| Strictness: (\w+)", one.told.get("Type", ""))
    words = [] if told is None else [word for word in told.groups() if word not in {"inner", "all"}]
    return " ".join([one.kind, *words])


def _rows(one: _Drawn) -> tuple[float | None, float, float]:
    """Rows that it gave, how many more or fewer that may be, and rows that it was given."""
    told = _ROWS.match(one.told.get("I/O", ""))
    if told is None or one.kind in COUNTS_NO_ROWS:
        return None, 0.0, 0.0
    margin = 0.0 if not told["gives"] else 0.005 * FACTORS[told["gives"]]
    read = _whole(told["read"], told["reads"])
    return _whole(told["gave"], told["gives"]), margin, read


def _whole(number: str, factor: str) -> float:
    return float(round(float(number) * FACTORS[factor]))


def _estimated(one: _Drawn) -> float | None:
    told = _ESTIMATE.match(one.told.get("Output rows", ""))
    return None if told is None else _whole(told["rows"], told["factor"])


def _condition(one: _Drawn) -> str | None:
    keys = CONDITIONS_OF_SORTS if one.kind == "Sorting" else CONDITIONS
    return next((one.told[key] for key in keys if one.told.get(key)), None)


def _details(one: _Drawn) -> dict[str, Any]:
    elsewhere = {"Output", *CONDITIONS, *CONDITIONS_OF_SORTS}
    told = {key: value for key, value in one.told.items() if key not in elsewhere}
    return {"Description": one.what, **told} if one.what else dict(told)


def _bytes(told: str) -> int | None:
    number, _, unit = told.strip().partition(" ")
    return round(float(number) * BYTES[unit]) if unit in BYTES else None
