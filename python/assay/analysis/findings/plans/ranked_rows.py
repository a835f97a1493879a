"""Finds window functions that rank a whole table, of which the statement uses few rows.

A view of the newest version of each row is an example. The engine can select rows before the
window only by columns of `partition by`, so other conditions and joins are checked afterwards.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.analysis.findings.operation_shares import names_text
from assay.analysis.findings.plans.filter_after_window import (
    FIRST_ROWS,
    RUN_CONDITION,
    filtered_windows,
)
from assay.analysis.findings.plans.plan_time import Timed, fraction_of, timed_nodes
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Advice, Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

METHOD = "ranked-rows"
EFFECT_MIN = 0.05
ROWS_MIN = 1000
# If more of the first rows are used, ranking the needed groups alone takes nearly as long.
USED_OF_FIRST_MAX = 0.1
# With fewer used rows, the window is too much work even if each group has a used row: the groups
# have some 100 rows then.
USED_OF_RANKED_MAX = 0.01
WINDOW = "window"
SCANS = ("scan", "index scan", "bitmap scan")
# Operators that pass on the rows of one window, and joins with the rows of other tables.
PASSING = ("filter", "projection", "exchange", "materialize", "sort", "subquery", WINDOW, *SCANS)
JOINS = ("hash join", "merge join", "nested loop", "hash build")
# Such a join returns rows of its other input only.
_WITHOUT_ROWS = re.compile(r"semi|anti|mark|single", re.IGNORECASE)
_RANK = re.compile(r"\b(?:row_number|dense_rank|rank)\s*\(\s*\)\s*over\b", re.IGNORECASE)
_PARTITION = re.compile(r"\bpartition\s+by\b", re.IGNORECASE)
# Name of a rank in a statement, and a comparison with the first rank.
_NAMED = re.compile(r"\bover\s*\([^()]*\)\s*(?:as\s+)?(\w+)", re.IGNORECASE)
_IS_FIRST = r"\s*(?:<?=\s*'?1\b(?![.\d])|<\s*'?2\b(?![.\d]))"
_FIRST_RANK = re.compile(rf"[\w\")]{_IS_FIRST}")
# Other reasons for which an engine ranks rows.
_LIMITED = re.compile(r"\b(?:limit|lateral|fetch\s+first|apply)\b", re.IGNORECASE)
TO_SETTLE = "store the first row of each group in a table, and measure the statement with it"


@dataclass(frozen=True)
class Ranked:
    """A window function that ranks rows of which few are used.

    Attributes:
        window: The window's operator.
        top: Highest operator that handles only rows of this window.
        rows: Number of ranked rows.
        used: Largest possible number of used rows.
        user: Operator that shows this number.
    """

    window: Timed
    top: PlanNode
    rows: float
    used: float
    user: PlanNode

    @property
    def tables(self) -> list[str]:
        """Names of the tables whose rows are ranked."""
        nodes = self.window.node.walk()
        return list(dict.fromkeys(n.object for n in nodes if n.object and n.operator in SCANS))


def find(case: Case) -> list[Finding]:
    """Return a finding for each set of tables whose rows are ranked and hardly used."""
    nodes = timed_nodes(case)
    others = filtered_windows(nodes)
    by_operation: dict[str, list[Ranked]] = {}
    for timed in nodes:
        if timed.node.operator == WINDOW and id(timed.node) not in others:
            ranked = _ranked(timed)
            if ranked is not None:
                by_operation.setdefault(timed.operation, []).append(ranked)
    by_tables: dict[frozenset[str], list[Ranked]] = {}
    for windows in by_operation.values():
        tables = frozenset(table for ranked in windows for table in ranked.tables)
        by_tables.setdefault(tables, []).extend(windows)
    findings = [_finding(case, windows, nodes) for windows in by_tables.values()]
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _ranked(timed: Timed) -> Ranked | None:
    """Return the use of a window's rows; None if it is no rank, or if many rows are used."""
    window = timed.node
    chain, joined = _above(timed)
    if any(node.operator == WINDOW for node in chain) or (window.loops or 1.0) > 1:
        return None
    climbed = [window, *chain, *joined]
    if any(node.cut_short for node in climbed) or not _selects_first_rank(timed, climbed):
        return None
    counted = [node for node in climbed if node.rows is not None]
    rows = max(window.rows or 0.0, sum(child.rows or 0.0 for child in window.children))
    if rows < ROWS_MIN or not counted:
        return None
    user = min(counted, key=lambda node: node.rows or 0.0)
    used = user.rows or 0.0
    is_few_of_first = used <= USED_OF_FIRST_MAX * _first_rows(window, chain)
    if not is_few_of_first and used > USED_OF_RANKED_MAX * rows:
        return None
    return Ranked(timed, chain[-1] if chain else window, rows, used, user)


def _above(timed: Timed) -> tuple[list[PlanNode], list[PlanNode]]:
    """Return the operators above a window for its rows alone, and the joins above these."""
    chain: list[PlanNode] = []
    joined: list[PlanNode] = []
    for node in reversed(timed.above):
        if not joined and node.operator in PASSING and len(node.children) == 1:
            chain.append(node)
        elif node.operator in (*PASSING, *JOINS) and not _WITHOUT_ROWS.search(_join_type(node)):
            joined.append(node)
        else:
            break
    return chain, joined


def _join_type(node: PlanNode) -> str:
    kinds = (node.details.get(key, "") for key in ("Join Type", "join_type"))
    return " ".join([node.native, *map(str, kinds)])


def _first_rows(window: PlanNode, chain: Sequence[PlanNode]) -> float:
    """Return how many first rows of groups there are at least; 0 if no operator counts them."""
    if RUN_CONDITION in window.details:
        return window.rows or 0.0
    return next((node.rows or 0.0 for node in chain if node.condition), 0.0)


def _selects_first_rank(timed: Timed, climbed: Sequence[PlanNode]) -> bool:
    """Return True if the window ranks rows of groups, and only the first rank is used."""
    window, text = timed.node, timed.plan.text or ""
    own = f"{window.condition or ''} {window.details}"
    if not _RANK.search(text) and (_LIMITED.search(text) or not _RANK.search(own)):
        return False
    if not _PARTITION.search(own if _RANK.search(own) and _PARTITION.search(own) else text):
        return False
    names = "|".join(map(re.escape, _NAMED.findall(text)))
    if names and re.search(rf"\b(?:{names})\b[`\"]?{_IS_FIRST}", text, re.IGNORECASE):
        return True
    conditions = [
        f"{node.condition or ''} {node.details.get(RUN_CONDITION, '')}" for node in climbed
    ]
    return any(_FIRST_RANK.search(condition) for condition in conditions)


def _finding(case: Case, windows: Sequence[Ranked], nodes: Sequence[Timed]) -> Finding:
    """Return one finding of the operations that rank the same tables."""
    by_operation: dict[str, list[Ranked]] = {}
    for ranked in windows:
        by_operation.setdefault(ranked.window.operation, []).append(ranked)
    fractions = {
        operation: min(1.0, sum(_fraction(ranked, nodes) for ranked in own))
        for operation, own in by_operation.items()
    }
    effect, names = case.of_run(fractions), case.largest_first(fractions)
    rows = max(sum(ranked.rows for ranked in own) for own in by_operation.values())
    used = max(sum(ranked.used for ranked in own) for own in by_operation.values())
    tables = names_text(sorted({table for ranked in windows for table in ranked.tables}))
    claim = (
        f"Each execution of {names_text(names)} ranks {count_text(rows)} rows"
        f"{f' of {tables}' if tables else ''} by window functions to select the first row of each "
        f"group, and uses at most {count_text(used)} of them; reading, sorting and ranking the "
        f"others took {percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(_used_text(ranked), f"plan:{name}")
        for name in names
        for ranked in by_operation[name]
    ]
    to_try, advice = FIRST_ROWS, _advice(case, windows, names, effect)
    if advice is not None:
        to_try += f"; {case.try_words(METHOD, fractions, 'measures it with the view as a table')}"
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    finding = replace(finding.without_interval(), settle=TO_SETTLE)
    return finding.of(COMPUTING, saved=(0.0, effect))


def _advice(
    case: Case, windows: Sequence[Ranked], names: Sequence[str], effect: float
) -> Advice | None:
    """Return the advice to store views; None if a statement itself has the window function."""
    own = [case.statements.get(name) for name in names]
    expanded = [ranked.window.plan.text or "" for ranked in windows]
    if any(text is None or _RANK.search(text) for text in own):
        return None
    if not all(_RANK.search(text) for text in expanded):
        return None
    also = tuple(Advice("stored-views", name) for name in names[1:])
    return Advice("stored-views", names[0], {}, effect, also)


def _fraction(ranked: Ranked, nodes: Sequence[Timed]) -> float:
    """Return the share of the operation's time for rows that are ranked and not used."""
    parts = {id(node) for node in ranked.top.walk()}
    whole = fraction_of(timed for timed in nodes if id(timed.node) in parts)
    return whole.get(ranked.window.operation, 0.0) * (1 - ranked.used / ranked.rows)


def _used_text(ranked: Ranked) -> str:
    of_tables = f" of {names_text(ranked.tables)}" if ranked.tables else ""
    by = f" by {ranked.user.condition}" if ranked.user.condition else ""
    return (
        f"{ranked.window.node.native} ranked {count_text(ranked.rows)} rows{of_tables}, and "
        f"{ranked.user.native} above it returned {count_text(ranked.used)} rows{by}"
    )
