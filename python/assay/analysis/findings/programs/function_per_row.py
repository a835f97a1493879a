"""Finds functions that statements call repeatedly, for example once per row."""

from __future__ import annotations

import itertools
import re
from functools import partial
from typing import TYPE_CHECKING

from assay.analysis.findings.indexes.conditions import conjuncts, equal_columns
from assay.analysis.findings.indexes.index_use import end_of_call, value_call
from assay.analysis.findings.operation_shares import at_least, execution_text
from assay.analysis.findings.plans.plan_time import timed_nodes
from assay.analysis.findings.programs.counted_programs import counted_programs
from assay.analysis.plans.shown_calls import shows_call
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Advice, Evidence
from assay.model.sql import without_remarks
from assay.model.units import count_text, percent_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.findings.case import Case
    from assay.analysis.findings.plans.plan_time import Timed
    from assay.analysis.findings.programs.counted_programs import CountedProgram
    from assay.model.finding import AdviceKind, Finding
    from assay.model.plan import PlanNode

METHOD = "function-per-row"
# A function with fewer calls per execution is not called for each row.
CALLS_MIN = 10.0
EFFECT_MIN = 0.05
NAMED_SHARE = 0.02
NAMED_MAX = 3
# With fewer rows, no function is expensive.
ROWS_MIN = 10_000
# An aggregate or a sort handles a row of plain columns in a fraction of this time.
ROW_S_MIN = 2e-6
# Operators that compute expressions of a select list where the plan has no operator for them.
COMPUTING_OPERATORS = ("aggregate", "sort", "top-n")
# Text of a JSON document that is read for a key, with what it is read from.
_JSON_KEY = re.compile(
    r"""\(?[\w."`]+(?:\)?\s*::\s*jsonb?\)?)?\s*->>?\s*'[^']*'
    | \bjson_(?:extract|value|unquote|query|extract_string)\s*\([^()]*\)""",
    re.IGNORECASE | re.VERBOSE,
)
_CALL = re.compile(r"(?<![\w.])(\w+)\s*\(")
SCANS = ("scan", "index scan", "bitmap scan")
# Join methods whose condition may call a function for each pair of rows.
JOINS = ("nested loop", "hash join", "merge join")
# The least share of rows that a random choice keeps.
KEPT_MIN = 1e-6
# Kind of advice: the engine may then compute the function once, and search an index for its value.
STABLE: AdviceKind = "stable-function"
# Keywords and aggregates that can stand before a parenthesis and are no function per row.
NO_FUNCTION = frozenset(
    (
        *("all", "and", "any", "as", "avg", "between", "by", "case", "count", "decimal", "else"),
        *("exists", "filter", "from", "group", "having", "in", "join", "max", "min", "not", "on"),
        *("optional", "or", "over", "select", "sum", "sum_no_overflow", "then", "using", "values"),
        *("varchar", "when", "where", "with"),
    )
)


def find(case: Case) -> list[Finding]:
    """Return a finding for each expensive function, timed by the engine or by plans."""
    findings = [
        _finding(case, program)
        for program in counted_programs(
            case, case.functions, partial(_callers, case), partial(_planned_calls, case)
        )
        if max(program.calls, *program.calls_of.values(), 0.0) >= CALLS_MIN
        and not _is_of_trigger(case, program.name)
    ]
    findings += _plan_findings(case)
    return [finding for finding in findings if finding.effect_share >= EFFECT_MIN]


def _callers(case: Case, name: str) -> list[str]:
    """Return the operations whose statement names a function."""
    return [
        operation
        for operation, text in case.statements.items()
        if operation in case.shares and name.lower() in text.lower()
    ]


def _planned_calls(case: Case, name: str) -> dict[str, float]:
    """Return the calls per execution of each operation by the conditions of its plans.

    A condition calls the function for each row that the operator keeps or removes.
    """
    call = _call_of(name)
    calls: dict[str, float] = {}
    for operation in case.shares:
        for plan in case.plans.get(operation, ()):
            for node in plan.root.walk():
                number = len(call.findall(node.condition or ""))
                rows = (node.rows or 0.0) + (node.removed_rows or 0.0)
                calls[operation] = calls.get(operation, 0.0) + number * rows
    return calls


def _call_of(name: str) -> re.Pattern[str]:
    """Return the pattern of a call of a function in a condition."""
    return re.compile(rf"\b{re.escape(name.rpartition('.')[2])}\(", re.IGNORECASE)


def _calls_text(case: Case, program: CountedProgram) -> str:
    """Return the calls of a function per execution, of each operation where they are known."""
    calls_of = program.calls_of or {"": program.calls}
    if len(calls_of) == 1:
        (calls,) = calls_of.values()
        return f"{count_text(calls)} times per {execution_text(case, program.operations)}"
    shares = case.shares
    largest = sorted(calls_of, key=lambda operation: -shares.get(operation, 0.0))[:NAMED_MAX]
    parts = [f"{count_text(calls_of[name])} times per execution of {name}" for name in largest]
    return " and ".join(parts)


def _fractions(case: Case, program: CountedProgram) -> dict[str, float]:
    """Return the share of each operation's time for the calls of a function."""
    if program.calls_of:
        return {
            name: min(1.0, calls * program.call_s / case.seconds[name])
            for name, calls in program.calls_of.items()
            if case.seconds.get(name)
        }
    of_run = sum(case.shares.get(name, 0.0) for name in program.operations)
    known = [name for name in program.operations if of_run and name in case.shares]
    return {name: min(1.0, program.share / of_run) for name in known}


def _is_of_trigger(case: Case, name: str) -> bool:
    """Return True if no statement calls a function, and plans show triggers that may call it."""
    if any(name.lower() in text.lower() for text in case.statements.values()):
        return False
    return any(plan.triggers for plans in case.plans.values() for plan in plans)


def _plan_findings(case: Case) -> list[Finding]:
    """Return a finding for each operation whose plan computes functions for many rows.

    The finding names only functions in the statement. That they took the operator's time is
    inferred.
    """
    by_operation: dict[str, list[tuple[Timed, tuple[str, ...]]]] = {}
    for timed in timed_nodes(case):
        node = timed.node
        text = case.statements.get(timed.operation, "") if node.operator == "projection" else ""
        text = text or (_computed(node) if node.operator == "scan" else "")
        # Where the engine times functions, plans add only what is not a function for it.
        calls = (() if case.functions else calls_in(text)) or _json_keys(timed)
        if calls and _rows(node) >= ROWS_MIN and (timed.fraction or 0.0) >= EFFECT_MIN:
            by_operation.setdefault(timed.operation, []).append((timed, calls))
    return [_operation_finding(case, name, nodes) for name, nodes in by_operation.items()]


def _rows(node: PlanNode) -> float:
    """Return the rows for which an operator computes: what it reads, or gets from its input."""
    if node.operator in COMPUTING_OPERATORS and len(node.children) == 1:
        return node.children[0].rows or 0.0
    return (node.rows or 0.0) + (node.removed_rows or 0.0)


def _json_keys(timed: Timed) -> tuple[str, ...]:
    """Return the keys that a statement reads of JSON documents, if an operator may parse them.

    Plans do not show where expressions of a select list are computed: in the aggregate or sort that
    needs them, or in the scan below it. Such an operator takes long for each of its rows. A scan
    that passes rows on to another operator counts only below an aggregate or sort.
    """
    node = timed.node
    is_below = bool(timed.above) and timed.above[-1].operator in COMPUTING_OPERATORS
    if node.operator not in COMPUTING_OPERATORS and not (node.operator == "scan" and is_below):
        return ()
    if (node.seconds or 0.0) < ROW_S_MIN * _rows(node):
        return ()
    return json_keys(timed.plan.text)


def json_keys(text: str | None) -> tuple[str, ...]:
    """Return the parts of a statement that read a key of a JSON document."""
    bare = without_remarks(text)
    return tuple(dict.fromkeys(match[0].strip("(").strip() for match in _JSON_KEY.finditer(bare)))


def _computed(scan: PlanNode) -> str:
    """Return the comparisons of a scan's condition that are evaluated for most of its rows.

    Comparisons are evaluated in the order of the plan. One of a column with a value leaves few rows
    for those behind it.
    """
    leading = itertools.takewhile(
        lambda part: not equal_columns(part, scan.object or ""), conjuncts(scan.condition)
    )
    return " and ".join(leading)


def calls_in(text: str) -> tuple[str, ...]:
    """Return the function calls and the conversions of columns in a statement's text.

    Aggregates are computed once per group and do not count.
    """
    bare = without_remarks(text)
    calls = [
        " ".join(bare[match.start() : end_of_call(bare, match.end())].split())
        for match in _CALL.finditer(bare)
        if match[1].lower() not in NO_FUNCTION
    ]
    return tuple(dict.fromkeys(calls))


def _operation_finding(
    case: Case, operation: str, nodes: list[tuple[Timed, tuple[str, ...]]]
) -> Finding:
    fractions = {operation: min(1.0, sum(timed.fraction or 0.0 for timed, _ in nodes))}
    first, calls = max(nodes, key=lambda pair: pair[0].fraction or 0.0)
    rows = _rows(first.node)
    named = ", ".join(calls[:NAMED_MAX])
    claim = (
        f"{operation} computes {named} for {count_text(rows)} rows; the operators with this "
        f"function took {percent_text(case.of_run(fractions))} of the time"
    )
    evidence = [
        Evidence(
            f"{timed.node.native} of {operation} took {percent_text(timed.fraction)} of its time",
            f"plan:{operation}",
        )
        for timed, _ in nodes
    ]
    to_try = (
        "compare the column itself, store the computed value in a column, or filter rows "
        "before the function is called"
    )
    advice = Advice("stored-values", operation, {}, case.of_run(fractions))
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    return finding.without_interval().of(COMPUTING, saved=(0.0, finding.effect_share))


def _compares_result(timed: Timed, name: str) -> bool:
    """Return True if a scan compares the result of a function that reads no column of a row."""
    condition, table = timed.node.condition or "", timed.node.object or ""
    if timed.node.operator not in SCANS:
        return False
    call = value_call(condition, r"\w", table)
    return call is not None and condition[call].partition("(")[0].endswith(name)


def _without_call(
    case: Case, program: CountedProgram, fractions: Mapping[str, float]
) -> Advice | None:
    """Return the advice to run operations without a function; None if that is not possible.

    A call in a condition chooses rows. The advice then has the share of rows that it keeps, so that
    a random choice of as many rows can stand for it.
    """
    name = program.name
    operations = [
        operation
        for operation in fractions
        if shows_call(case.statements.get(operation, ""), case.grammar, name)
    ]
    values = {}
    if not operations:
        kept = {op: share for op in fractions if (share := _kept_share(case, program, op))}
        operations = list(kept)
        values = {"kept": ", ".join(f"{share:.6f}" for share in kept.values())}
    if not operations:
        return None
    values = {"operations": ", ".join(operations), **values}
    return Advice("ablation", name, values, case.of_run(fractions))


def _kept_share(case: Case, program: CountedProgram, operation: str) -> float | None:
    """Return the share of rows that the condition with a function keeps; None if not known.

    The plans must show as many calls as the engine counted, in one condition.
    """
    calls = program.calls_of.get(operation)
    nodes = [
        node
        for plan in case.plans.get(operation, ())
        for node in plan.root.walk()
        if _call_of(program.name).search(node.condition or "")
    ]
    if not calls or len(nodes) != 1 or nodes[0].operator not in (*SCANS, *JOINS):
        return None
    return max(KEPT_MIN, min(1.0, (nodes[0].rows or 0.0) / calls))


def _finding(case: Case, program: CountedProgram) -> Finding:
    """Return a finding about a function, with its share of the operations that name it."""
    name, share, calls = program.name, program.share, _calls_text(case, program)
    fractions = at_least(_fractions(case, program), NAMED_SHARE)
    effect = case.of_run(fractions)
    claim = f"Function {name} is called {calls} and took {percent_text(effect)} of the time"
    evidence = [
        Evidence(f"{name} is called {calls}", "counter:functions"),
        Evidence(
            f"{name} took {percent_text(share)} of the time according to the engine's own timing",
            f"clock:{name}",
        ),
    ]
    to_try = (
        f"write {name} as an expression of the statement, or call it for fewer rows: each call"
        f" takes {seconds_text(program.call_s)}"
    )
    advice = _without_call(case, program, fractions)
    if any(_compares_result(timed, name) for timed in timed_nodes(case)):
        if case.can(STABLE):
            advice = Advice(STABLE, name, {}, effect)
        to_try = (
            f"declare {name} as stable (in MySQL: deterministic) if it returns the same value "
            f"throughout a statement: it is called for each row with the same arguments; {to_try}"
        )
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    return finding.without_interval().of(COMPUTING, saved=(0.0, effect))
