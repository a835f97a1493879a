"""Converts Virtuoso's plans to the plan tree that all engines share.

Virtuoso prints pipelines: a step's output is the next step's input. Earlier pipelines fill the hash
tables of later ones, and a sort or group ends a pipeline that another one continues. This module
converts the pipelines to a tree of operators.

Times of `profile()` are shares of the time of all steps. Queries in a step's code count twice
there: as steps and in the step that contains them. Here each query counts once.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.plans.work import ALSO
from assay.engines.plan_reading import plan_parser
from assay.engines.virtuoso.plan_text import UNNAMED, Chain, Figures, Step, chain_of
from assay.engines.virtuoso.plan_totals import Totals, facts, read_native, totals
from assay.model.plan import Plan, PlanNode

if TYPE_CHECKING:
    from collections.abc import Iterator

FILLED = re.compile(r"fill to \$(\d+)")
PROBED = re.compile(r"Hash source (\d+)")
MERGED = re.compile(
    r"hash partition(?:\+bloom)? by (\d+).*hash join merged (?:always|if unique) card\s+(\S+)"
)
MERGED_INTO_SCAN = "merged into ts"
# A hash join merged into a scan filters its rows and looks up matches, within the scan's time.
MERGED_WORK = ("join filter", "hash probe")
KEYS = re.compile(r"(\(.*?\))(?: -> |$)")
COLUMN = re.compile(r"(?:[^(), ]*\.)?([^(),. $]+)\$\d+")
BY_INDEX = "inlined"
SORT, FILL = "Sort", "Sort hash area fill"
TARGET = re.compile(r"^\w+ (?:keyset |vectored )*\s*<?(?:\w+\.)*(\w+)")
NUMBERED = re.compile(r"\$\d+\b")
TESTED = re.compile(r"if \((.*?)(?:\) then|$)")
# Figures have six digits, which limits the error of row counts that are a product of two.
ROUNDED, EXACT_MAX = 1e-5, 100_000
SELECTS = ("Select", "Subquery Select")
SELECT_NOTHING = "Subquery Select( <none> )"


@plan_parser("Virtuoso")
def normalised(text: str, operation: str, statement: int, native: str) -> Plan:
    """Return the plan in the output of Virtuoso's `profile()` or `explain()`.

    See `HasPlans.plan`.
    """
    kept = read_native(text)
    chain = chain_of(kept.text)
    whole = totals(kept)
    root = _Tree(whole, kept.tables, chain).root(chain)
    timed = any(node.seconds is not None for node in root.walk())
    return Plan(
        operation,
        statement,
        native,
        root,
        planning_s=whole.planning_s,
        execution_s=whole.execution_s if timed else None,
        timed=timed,
        read_bytes=whole.read_bytes,
        details=facts(kept),
    )


def _steps(chain: Chain) -> Iterator[Step]:
    """Yield all steps of a plan chain, and of chains within them."""
    for step in chain:
        yield step
        for inner in (*step.within, *step.in_code):
            yield from _steps(inner)


def _percent(step: Step) -> float | None:
    """Return a plan step's own share of the time in %, without queries in its code."""
    percents = [figures.percent for figures in (step.figures, step.closing) if figures]
    known_percents = [percent for percent in percents if percent is not None]
    if not known_percents:
        return None
    asked = sum(_all_percents(chain) for chain in step.in_code)
    return max(0.0, sum(known_percents) - asked)


def _all_percents(chain: Chain) -> float:
    """Return the shares in % of all steps of a query in a step's code."""
    return sum(_percent(step) or 0.0 for step in _steps(chain))


def _rows(figures: Figures | None) -> float | None:
    if figures is None or figures.fanout is None:
        return None
    return float(round(figures.rows_in * figures.fanout))


def _margin(rows: float | None) -> float:
    return ROUNDED * rows if rows and rows > EXACT_MAX else 0.0


def _rows_in(step: Step) -> float | None:
    return None if step.figures is None else step.figures.rows_in


class _Flow:
    """The state of a plan pipeline during conversion.

    Attributes:
        node: Node that outputs the current rows; None at the beginning.
        estimated: Estimated rows; None if the plan has none.
        carried: Share of time of steps without names, which is added to the next step.
    """

    def __init__(self, node: PlanNode | None = None) -> None:
        self.node = node
        self.estimated: float | None = 1.0
        self.carried: float | None = None

    @property
    def nodes(self) -> tuple[PlanNode, ...]:
        """The node at the pipeline's end, as input of the next."""
        return () if self.node is None else (self.node,)


class _Tree:
    """Converts one Virtuoso plan to a tree of operators."""

    def __init__(self, whole: Totals, tables: dict[str, str], chain: Chain) -> None:
        self._tables = tables
        self._filled: dict[str, PlanNode] = {}
        percents = _all_percents(chain)
        self._seconds_each = whole.thread_s / percents if percents and whole.thread_s else None

    def root(self, chain: Chain) -> PlanNode:
        """Return the plan tree of a whole Virtuoso statement."""
        made = self._grown(chain, _Flow())
        left = tuple(self._filled.values())
        return replace(made, children=(*made.children, *left)) if left else made

    def _grown(self, chain: Chain, flow: _Flow) -> PlanNode:
        """Return the plan node for a chain of Virtuoso plan steps."""
        for step in chain:
            self._add(step, flow)
        if flow.node is None or flow.carried is not None:
            return self._charged(PlanNode("other", UNNAMED, children=flow.nodes), flow, 0.0)
        return flow.node

    def _add(self, step: Step, flow: _Flow) -> None:
        """Add one plan step to a pipeline."""
        begins = step.word.begins if step.word else ""
        percent = _percent(step)
        if step.text == UNNAMED and not step.in_code:
            flow.carried = _sum(flow.carried, percent)
        elif begins == "hash filler":
            self._fill(step, percent)
        elif step.table is not None:
            self._read(step, flow, percent)
        elif begins == "Subquery ":
            self._enter(step, flow, percent)
        elif begins == "fork":
            node = self._grown(step.within[0], _Flow(flow.node))
            flow.node = self._forked(step, node, flow, percent)
        elif begins == "outer":
            node = self._grown(step.within[0], flow)
            flow.node = self._made(step, flow, percent, (node,), _rows(step.closing))
        elif begins == "Hash source":
            self._probe(step, flow, percent)
        elif step.word and step.word.reads and _is_collected(flow.node):
            flow.node = self._given_out(step, flow, percent)
        else:
            branches = tuple(self._grown(inner, _Flow()) for inner in step.within)
            flow.node = self._made(step, flow, percent, (*flow.nodes, *branches))

    def _made(
        self,
        step: Step,
        flow: _Flow,
        percent: float | None,
        children: tuple[PlanNode, ...],
        rows: float | None = None,
    ) -> PlanNode:
        """Return the plan node of a step."""
        word = step.word
        begins = word.begins if word else ""
        if rows is None and not begins.startswith(SORT):
            rows = _rows_in(step) if begins in SELECTS else _rows(step.figures)
        node = PlanNode(
            word.operator if word else "other",
            begins.strip() or step.text[:60],
            object=_target(step) if word and word.operator == "modify" else None,
            condition=_condition(step),
            estimated_rows=step.card if begins == FILL else None,
            rows=rows,
            rows_margin=_margin(rows),
            loops=_never(step),
            work=word.work if word else None,
            children=(*children, *self._asked(step)),
        )
        return self._charged(node, flow, percent)

    def _charged(self, node: PlanNode, flow: _Flow, percent: float | None) -> PlanNode:
        """Return the plan node with its time, including that of preceding unnamed steps."""
        part = _sum(percent, flow.carried)
        flow.carried = None
        if part is None or self._seconds_each is None:
            return node
        return replace(node, seconds=part * self._seconds_each)

    def _asked(self, step: Step) -> tuple[PlanNode, ...]:
        """Return the queries in a plan step's code."""
        return tuple(
            PlanNode("subquery", "query in code", children=(self._in_code(chain),))
            for chain in step.in_code
        )

    def _in_code(self, chain: Chain) -> PlanNode:
        made = self._grown(chain, _Flow())
        is_first_enough = bool(chain) and chain[-1].text == SELECT_NOTHING
        return _cut_short(made) if is_first_enough else made

    def _fill(self, step: Step, percent: float | None) -> None:
        """Keep a pipeline that fills a hash table until another step probes the table."""
        made = self._grown(step.within[0], _Flow())
        numbers = [
            match[1] for inner in _steps(step.within[0]) if (match := FILLED.search(inner.text))
        ]
        made = self._also_charged(made, _Flow(), percent)
        made = replace(made, children=(*made.children, *self._asked(step)))
        self._filled[numbers[-1] if numbers else f"line {step.line}"] = made

    def _read(self, step: Step, flow: _Flow, percent: float | None) -> None:
        """Add a table access to the pipeline."""
        merged = [match for line in step.more for match in MERGED.finditer(line)]
        expected_each = step.card
        for match in merged:
            expected_each = None if expected_each is None else expected_each * float(match[2])
        rows_in = flow.estimated if step.figures is None else step.figures.rows_in
        expected = None if expected_each is None or rows_in is None else expected_each * rows_in
        scan = self._charged(
            self._scan(step, expected, [match[1] for match in merged]), flow, percent
        )
        flow.estimated = _product(flow.estimated, expected_each)
        if flow.node is not None:
            scan = PlanNode(
                "nested loop",
                "for each row",
                estimated_rows=flow.estimated,
                rows=scan.rows,
                children=(flow.node, scan),
            )
        flow.node = scan

    def _scan(self, step: Step, expected: float | None, merged: list[str]) -> PlanNode:
        shape = step.table or {}
        conditions = [line for line in step.more if not MERGED.search(line)]
        table = self._tables.get(step.text, step.text)
        # A table's primary key keeps its order; another index is chosen for lookups.
        is_chosen = table != step.text and any(conditions)
        is_inlined = any(BY_INDEX in line for line in conditions)
        is_by_index = bool(shape["unique"]) or is_inlined or is_chosen
        return PlanNode(
            "index scan" if is_by_index else "scan",
            "table read unq" if shape["unique"] else "table read",
            object=table,
            index=step.text if is_by_index or table != step.text else None,
            condition=NUMBERED.sub("", " ".join(conditions)) or None,
            estimated_rows=expected,
            rows=_rows(step.figures),
            rows_margin=_margin(_rows(step.figures)),
            loops=_never(step),
            columns=tuple(COLUMN.findall(shape["columns"] or "")),
            work="index look-up" if is_by_index else "scan",
            details={ALSO: list(MERGED_WORK)} if merged else {},
            children=self._asked(step),
        )

    def _probe(self, step: Step, flow: _Flow, percent: float | None) -> None:
        """Add a probe of a hash table to the pipeline."""
        match = PROBED.search(step.text)
        build = self._filled.pop(match[1], None) if match else None
        if MERGED_INTO_SCAN not in step.text:
            flow.estimated = _product(flow.estimated, step.card)
        children = flow.nodes if build is None else (*flow.nodes, build)
        node = self._made(step, flow, percent, children)
        flow.node = replace(node, estimated_rows=flow.estimated)

    def _enter(self, step: Step, flow: _Flow, percent: float | None) -> None:
        """Add a derived table to the pipeline."""
        before = flow.node
        made = [self._grown(inner, _Flow()) for inner in step.within]
        if len(made) == 1 and before is None:
            inner = self._also_charged(made[0], flow, percent)
            flow.node = replace(inner, children=(*inner.children, *self._asked(step)))
        else:
            joined = () if before is None else (before,)
            rows = made[-1].rows if made else None
            node = PlanNode(
                "nested loop" if made else "subquery",
                "for each row",
                rows=rows,
                children=(*joined, *made, *self._asked(step)),
            )
            flow.node = self._charged(node, flow, percent)
        flow.estimated = None

    def _also_charged(self, node: PlanNode, flow: _Flow, percent: float | None) -> PlanNode:
        """Return a plan node with the time of another step added."""
        other = self._charged(PlanNode(node.operator, node.native), flow, percent)
        return replace(node, seconds=_sum(node.seconds, other.seconds))

    def _forked(self, step: Step, inner: PlanNode, flow: _Flow, percent: float | None) -> PlanNode:
        """Return the plan node of a pipeline that ends here."""
        flow.estimated = None
        if _is_collected(inner):
            made = self._also_charged(inner, flow, percent)
            return replace(made, children=(*inner.children, *self._asked(step)))
        return self._made(step, flow, percent, (inner,))

    def _given_out(self, step: Step, flow: _Flow, percent: float | None) -> PlanNode:
        """Return the plan node of a sort or group-by."""
        word, node = step.word, flow.node
        if word is None or node is None:
            raise RuntimeError(f"line {step.line} gives out nothing")
        return replace(
            self._also_charged(node, flow, percent),
            operator=word.operator,
            native=word.begins,
            rows=_rows(step.figures),
            loops=_never(step),
            work=word.work,
            children=(*node.children, *self._asked(step)),
        )


def _is_collected(node: PlanNode | None) -> bool:
    return node is not None and node.native == SORT


def _cut_short(node: PlanNode) -> PlanNode:
    """Mark the plan nodes of a query that ends after its first row."""
    below = tuple(_cut_short(child) for child in node.children)
    return replace(node, cut_short=True, children=below)


def _condition(step: Step) -> str | None:
    """Return the condition of a plan step: a filter's tests, or the keys of a sort."""
    if step.word and step.word.operator == "filter":
        tests = [
            match[1].strip(" {") or "a query" for match in map(TESTED.search, step.code) if match
        ]
        return NUMBERED.sub("", "; ".join(tests)) or None
    keys = KEYS.search(step.text)
    return NUMBERED.sub("", keys[1]) if keys else None


def _target(step: Step) -> str | None:
    """Return the table that a plan step changes."""
    match = TARGET.search(step.text)
    return match[1] if match else None


def _never(step: Step) -> float | None:
    """Return 0 if a plan step had no input rows, else None."""
    return 0.0 if step.figures is not None and step.figures.rows_in == 0 else None


def _sum(left: float | None, right: float | None) -> float | None:
    if left is None or right is None:
        return right if left is None else left
    return left + right


def _product(left: float | None, right: float | None) -> float | None:
    return None if left is None or right is None else left * right
