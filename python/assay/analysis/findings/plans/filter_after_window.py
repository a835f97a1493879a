"""Finds conditions that are checked after a window function has processed a whole table.

The engine can select rows before the window only by columns of `partition by`: another condition
would change the result of the window function for the rows that it keeps.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.indexes.conditions import conjuncts
from assay.analysis.findings.plans.plan_time import Timed, fraction_of, scaled, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "filter-after-window"
EFFECT_MIN = 0.05
# If the condition keeps more rows, a window over these alone takes nearly as long.
REMOVED_SHARE_MIN = 0.9
ROWS_MIN = 1000
WINDOW = "window"
FILTERING = ("filter", "projection")
# Operators between the filter and the window.
BETWEEN = ("projection", "exchange", WINDOW)
# PostgreSQL's window stops at the first row that this condition refuses.
RUN_CONDITION = "Run Condition"
_TEXT = re.compile(r"'(?:[^']|'')*'")
_CAST = re.compile(r"::\s*\"?\w+(?: \w+)*\"?")
_NAME = re.compile(r"(?<![\w$.])(?:\w+\.)?\"?([A-Za-z_]\w*)\b\"?(?!\s*\()")
_KEYWORDS = frozenset(
    {"filter", "and", "or", "not", "is", "null", "in", "between", "like", "any", "array", "cast"}
    | {"true", "false", "as", "case", "when", "then", "else", "end", "all"}
)
# Advice for the first rows of groups, such as the newest version of each row.
FIRST_ROWS = (
    "keep the first row of each group in a table of its own or a materialised view, or mark it by "
    "a flag column; or look up the first row for each wanted row: `join lateral (select ... where "
    "<partition columns> = ... order by ... limit 1)`, with an index on the columns of `partition "
    "by` and `order by`"
)
TO_SETTLE = "find out whether the window is meant to include the rows that the condition removes"


def find(case: Case) -> list[Finding]:
    """Return a finding for each window over many rows of which a later condition keeps few."""
    nodes = timed_nodes(case)
    findings = [_finding(case, top, window, nodes) for top, window in _filtered(nodes)]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def filtered_windows(nodes: Sequence[Timed]) -> set[int]:
    """Return the identities of windows of whose many rows a condition on columns keeps few."""
    return {id(window) for top, lowest in _filtered(nodes) for window in _between(top.node, lowest)}


def _filtered(nodes: Sequence[Timed]) -> list[tuple[Timed, PlanNode]]:
    return [
        (top, window)
        for top in nodes
        if (window := _window_below(top.node)) is not None and _removes_by_columns(top.node, window)
    ]


def _between(top: PlanNode, lowest: PlanNode) -> list[PlanNode]:
    """Return the windows between a filter and the lowest window below it, inclusively."""
    return [node for node in _windows(top) if any(part is lowest for part in node.walk())]


def _window_below(top: PlanNode) -> PlanNode | None:
    """Return the lowest window whose rows an operator filters; None for other operators."""
    if top.operator not in FILTERING or not top.condition or top.removed_rows is None:
        return None
    node, window = top, None
    while len(node.children) == 1 and node.children[0].operator in BETWEEN:
        node = node.children[0]
        window = node if node.operator == WINDOW else window
    return window


def _removes_by_columns(top: PlanNode, window: PlanNode) -> bool:
    """Return True if conditions on columns of tables remove most of many rows of a window."""
    kept, removed = top.rows or 0.0, top.removed_rows or 0.0
    is_much = _rows(window) >= ROWS_MIN and removed >= REMOVED_SHARE_MIN * (kept + removed)
    parts = conjuncts(top.condition)
    by_columns = [part for part in parts if _is_of_columns(part, window)]
    # Other conditions may remove these rows, unless the window itself has checked them.
    others_are_checked = any(RUN_CONDITION in node.details for node in _windows(top))
    return is_much and bool(by_columns) and (by_columns == list(parts) or others_are_checked)


def _windows(top: PlanNode) -> list[PlanNode]:
    return [node for node in top.walk() if node.operator == WINDOW]


def _is_of_columns(part: str, window: PlanNode) -> bool:
    """Return True if a condition names only columns of tables below a window."""
    columns = {name.strip('"').lower() for node in window.walk() for name in node.columns or ()}
    bare = _CAST.sub("", _TEXT.sub("''", part))
    names = {name.lower() for name in _NAME.findall(bare)} - _KEYWORDS
    return bool(names) and names <= columns


def _rows(window: PlanNode) -> float:
    """Return the number of rows that a window processed."""
    return max(window.rows or 0.0, sum(child.rows or 0.0 for child in window.children))


def _condition(top: PlanNode, window: PlanNode) -> str:
    parts = [part for part in conjuncts(top.condition) if _is_of_columns(part, window)]
    return " and ".join(part.strip().removeprefix("filter ").strip(" ()") for part in parts)


def _finding(case: Case, top: Timed, window: PlanNode, nodes: Sequence[Timed]) -> Finding:
    parts, operation = {id(node) for node in top.node.walk()}, top.operation
    whole = fraction_of(timed for timed in nodes if id(timed.node) in parts)
    kept, removed, rows = top.node.rows or 0.0, top.node.removed_rows or 0.0, _rows(window)
    fractions = scaled(whole, removed / (kept + removed))
    effect, condition = case.of_run(fractions), _condition(top.node, window)
    claim = (
        f"A window function of {operation} processes {count_text(rows)} rows, and then the "
        f"condition {condition} keeps {count_text(kept)} rows of its result; reading, sorting and "
        f"processing the others took {percent_text(effect)} of the time"
    )
    keys = window.details.get("Window")
    evidence = [
        Evidence(
            f"{window.native} processed {count_text(rows)} rows" + (f" by {keys}" if keys else ""),
            f"plan:{operation}",
        ),
        Evidence(
            f"{top.node.native} kept {count_text(kept)} of {count_text(kept + removed)} rows by "
            f"{top.node.condition}",
            f"plan:{operation}",
        ),
    ]
    to_try = (
        f"move {condition} into the query with the window function, if the window is meant for "
        "these rows only; otherwise select there the `partition by` values that these rows have"
    )
    if any(RUN_CONDITION in node.details for node in _windows(top.node)):
        to_try += f", or {FIRST_ROWS}"
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    finding = replace(finding.without_interval(), settle=TO_SETTLE)
    return finding.of(COMPUTING, saved=(0.0, effect))
