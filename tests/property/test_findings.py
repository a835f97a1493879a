"""Whatever was recorded or not: findings never break down, and what they say keeps its bounds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analysis.causes import PARTS
from assay.analysis.findings.case import Case
from assay.analysis.findings.discovery import findings, methods
from assay.analysis.findings.engine_facts import TableFacts
from assay.analysis.host.accounts import Accounts
from assay.analysis.load.latency import Window, distribution
from assay.analysis.load.summary import LoadSummary, OperationLoad, Pace
from assay.analysis.load_plan import Load
from assay.model.finding import TELLS, Finding
from assay.model.plan import OPERATORS, Plan, PlanNode
from tests.cases import ADVICE, HOST, RUN, SETTINGS, executions, operation
from tests.truths import TRUTHS, Truth

NAMES = ("q1", "q2", "q3")
TABLES = ("orders", "lines")
FIGURES = (
    "temporary_bytes",
    "buffer_hits",
    "buffer_reads",
    "buffer_read_bytes",
    "block_read_seconds",
    "wal_bytes",
    "checkpoint_pages",
)


def maybe(kind: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | kind


shares = st.floats(0, 1)
# Mostly of a few sizes, so that figures which belong together meet.
amounts = maybe(st.sampled_from([0.0, 1.0, 1e3, 1e6]) | st.floats(0, 1e12))
conditions = maybe(st.sampled_from(["(line = 7)", "a, #1", "sum(b)", "filter (x > 'y'::text)", ""]))


def a_node(children: st.SearchStrategy[tuple[PlanNode, ...]]) -> st.SearchStrategy[PlanNode]:
    common = ("scan", "nested loop", "sort", "projection")
    return st.builds(
        PlanNode,
        operator=st.sampled_from(common) | st.sampled_from(OPERATORS),
        native=st.sampled_from(["Sort", "Scan"]),
        object=st.sampled_from(TABLES) | st.none(),
        condition=conditions,
        estimated_rows=amounts,
        rows=amounts,
        seconds=amounts,
        removed_rows=amounts,
        spilled_bytes=maybe(st.integers(0, 1 << 40)),
        columns=maybe(st.just(("a", "b", "c"))),
        workers_planned=maybe(st.just(2)),
        workers_launched=maybe(st.integers(0, 2)),
        children=children,
    )


leaves = a_node(st.just(()))
nodes = st.recursive(
    leaves, lambda inner: a_node(st.lists(inner, max_size=2).map(tuple)), max_leaves=8
)
plans = st.builds(
    Plan,
    operation=st.sampled_from(NAMES),
    statement=st.just(0),
    native=st.just("x.json"),
    root=nodes,
    planning_s=amounts,
    execution_s=st.none() | amounts,
    compiling_s=amounts,
    timed=st.booleans(),
)


@st.composite
def operations(draw: st.DrawFn) -> tuple[Any, ...]:
    """Operations whose parts add up to one, or are not known."""
    made = []
    for name in NAMES[: draw(st.integers(0, len(NAMES)))]:
        weights = draw(st.lists(st.integers(0, 9), min_size=len(PARTS), max_size=len(PARTS)))
        whole = sum(weights) or 1
        parts = {part: weight / whole for part, weight in zip(PARTS, weights, strict=True)}
        unknown = draw(st.sets(st.sampled_from(PARTS)))
        overrides = {"where": {part: None if part in unknown else parts[part] for part in PARTS}}
        for field in ("seconds", "coverage", "threads_at_work", "read_bytes", "write_bytes"):
            overrides[field] = draw(maybe(st.floats(0, 1e6)))
        share = draw(st.sampled_from([0.3, 0.6]) | maybe(shares))
        made.append(operation(name, share, draw(maybe(st.floats(0, 9))), overrides))
    return tuple(made)


rows = st.lists(
    st.fixed_dictionaries(
        {
            "phase": st.sampled_from(["warmup", "measured"]),
            "pass": st.integers(0, 3),
            "operation": st.sampled_from(NAMES),
            "seconds": st.floats(0, 1e3),
            "system_s": amounts,
            "minor_faults": amounts,
            "read_bytes": amounts,
        }
    ),
    max_size=30,
)
counters = st.fixed_dictionaries(dict.fromkeys(FIGURES, amounts)).map(
    lambda totals: {
        "counters": [
            {"name": name, "total": total, "operations": {"q1": 1e9}, "to_try": None}
            for name, total in totals.items()
        ],
        "series": [
            {"name": "checkpoint_pages", "time_s": [0.0, 1.0, 2.5], "values": [None, 3.0, 0.0]}
        ],
    }
)
accounts = st.builds(
    Accounts,
    window_s=st.floats(0, 1e3),
    cpus=st.integers(1, 8),
    by_process=st.dictionaries(
        st.sampled_from(["engine", "driver", "engine and driver"]), st.floats(0, 1e3)
    ),
    busy_s=st.floats(0, 1e4),
    idle_s=st.floats(0, 1e4),
    steal_s=amounts,
)


@st.composite
def loads(draw: st.DrawFn) -> LoadSummary:
    import polars as pl

    empty = distribution(pl.Series([], dtype=pl.Int64))
    counts = OperationLoad(9, 9, 0, 0, 0, None, 9.0, empty, empty)
    rates = tuple(draw(st.lists(st.floats(0, 1e5), max_size=20)))
    asked = Load("closed", draw(st.integers(1, 9)), None, 9.0, None)
    return LoadSummary(asked, Window(0, 9), counts, {}, Pace(1.0, rates, None), None)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    by_operation: dict[str, tuple[Plan, ...]] = {}
    for plan in draw(st.lists(plans, max_size=4)):
        by_operation[plan.operation] = (*by_operation.get(plan.operation, ()), plan)
    facts = st.builds(TableFacts, amounts, amounts, amounts, amounts, amounts, maybe(st.booleans()))
    return Case(
        RUN,
        draw(operations()),
        cores=draw(maybe(st.integers(1, 8))),
        accounts=draw(maybe(accounts)),
        load=draw(maybe(loads())),
        pinned=draw(st.sampled_from([{}, {"engine": 1, "client": 1}])),
        counters=draw(maybe(counters)),
        settings=draw(st.sampled_from([{}, SETTINGS, dict.fromkeys(SETTINGS, "0")])),
        advice=draw(st.sampled_from([{}, ADVICE])),
        plans=by_operation,
        tables=draw(st.just({}) | st.fixed_dictionaries(dict.fromkeys(TABLES, facts))),
        executions=executions(*draw(rows)),
        statements=draw(st.sampled_from([{}, dict.fromkeys(NAMES, "select a from lines")])),
        results=draw(st.sampled_from([{}, dict.fromkeys(NAMES, ("a",))])),
        throttled_share=draw(maybe(shares)),
        environment=draw(st.sampled_from([{}, HOST])),
    )


@settings(max_examples=300, deadline=None)
@given(cases())
def test_findings_never_break_down_and_keep_their_bounds_their_order_and_their_parts(
    case: Case,
) -> None:
    # Drawing a case takes longer than all that is looked at in it.
    assert_bounds(case)
    all_findings = findings(case)
    assert_order(all_findings)
    assert_parts(all_findings, case)
    for tree in [*case.trees.values(), *([case.time] if case.time else [])]:
        assert tree.closure_error < 1e-6


def assert_bounds(case: Case) -> None:
    """Shares and intervals of every finding are within 0 and 1, and it can be written as JSON."""
    for method, find in methods().items():
        for finding in find(case):
            assert finding.method == method
            assert 0.0 <= finding.effect_share <= 1.0
            assert finding.runs == (RUN,)
            assert all(0.0 <= fraction <= 1.0 for fraction in finding.fractions.values())
            assert not finding.fractions or tuple(finding.fractions) == finding.operations
            if finding.interval is not None:
                low, high = finding.interval
                assert 0.0 <= low <= high <= 1.0
            if finding.advice is not None and finding.advice.gain_share is not None:
                assert 0.0 <= finding.advice.gain_share <= 1.0
            assert json.loads(json.dumps(finding.facts(), allow_nan=False))["claim"]


def assert_order(all_findings: Sequence[Finding]) -> None:
    """Findings are ordered by kind, then by effect, half of it if suspected; one is the bound."""
    ranks = [TELLS.index(finding.tells) for finding in all_findings]
    assert ranks == sorted(ranks)
    assert ranks.count(TELLS.index("bound")) <= 1
    for tells in TELLS:
        of_kind = [finding for finding in all_findings if finding.tells == tells]
        weighted = [
            finding.effect_share / (2 if finding.certainty == "suspected" else 1)
            for finding in of_kind
        ]
        assert tells != "cause" or weighted == sorted(weighted, reverse=True)
        for certainty in ("seen", "suspected"):
            effects = [
                finding.effect_share for finding in of_kind if finding.certainty == certainty
            ]
            assert effects == sorted(effects, reverse=True)


def assert_parts(all_findings: Sequence[Finding], case: Case) -> None:
    """No cause claims more than its part of an operation's time."""
    for finding in all_findings:
        if finding.tells == "cause" and finding.part is not None:
            for name, fraction in finding.fractions.items():
                if name in case.trees:
                    assert fraction <= case.trees[name].share_of(finding.part) + 1e-9


NOTHING: dict[str, Any] = {
    "accounts": None,
    "advice": {},
    "cores": None,
    "counters": None,
    "environment": {},
    "executions": executions(),
    "plans": {},
    "results": {},
    "settings": {},
    "statements": {},
    "tables": {},
}
FORGOTTEN = ("object", "condition", "estimated_rows", "rows", "seconds", "removed_rows", "columns")


def without(node: PlanNode, fields: set[str]) -> PlanNode:
    children = tuple(without(child, fields) for child in node.children)
    return replace(node, **dict.fromkeys(fields), children=children)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(TRUTHS),
    st.floats(0.0, 0.7),
    st.sets(st.sampled_from(sorted(NOTHING)), max_size=3),
    st.sets(st.sampled_from(FORGOTTEN), max_size=2),
)
def test_a_cause_of_which_something_was_not_recorded_breaks_nothing(
    truth: Truth, effect: float, lost: set[str], forgotten: set[str]
) -> None:
    case = replace(truth.build(effect), **{field: NOTHING[field] for field in lost})
    plans = {
        name: tuple(replace(plan, root=without(plan.root, forgotten)) for plan in query_plans)
        for name, query_plans in case.plans.items()
    }
    for find in methods().values():
        for finding in find(replace(case, plans=plans)):
            assert 0.0 <= finding.effect_share <= 1.0
            json.dumps(finding.facts(), allow_nan=False)
