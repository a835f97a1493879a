"""Finds large values that the engine stores out of line, and fetches in pieces."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.operation_shares import at_least, execution_text, sole_operation
from assay.analysis.findings.plans.captured_plan import captured_seconds
from assay.analysis.findings.plans.plan_time import Timed, fraction_of, timed_nodes
from assay.analysis.findings.programs.function_per_row import json_keys
from assay.model.finding import Advice, Evidence
from assay.model.units import count_text, percent_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "large-values"
# Counter of fetched pieces of large values.
PIECES = "large_value_pieces"
PER_EXECUTION_MIN = 100.0
# An operator that takes longer per row does more than pass the row on.
ROW_S_MIN = 2e-6
# Fetching and unpacking a piece of some kilobytes takes less, and reading a value out of it.
PIECE_S_MAX = 50e-6
# If the pieces can take less than this part of the operators' time, these do other work, too.
SURE_SHARE = 0.9
OTHER_WORK = "measure the same operation without the large values: its operators do other work, too"
EFFECT_MIN = 0.05
NAMED_MAX = 3
SEPARATE = (
    "store the queried columns in a separate table from the large ones, or do not select the large "
    "ones"
)
GENERATED = (
    "stores the values that it reads of the documents in columns of their own, such as generated "
    "columns, and reads these columns instead"
)
# Mark of advice that helps only if no large value is read any more.
LARGE_ONLY = {"large": "not read"}


def find(case: Case) -> list[Finding]:
    """Return a finding of the time of operators that unpack large values."""
    pieces = case.total(PIECES)
    executions = sum(op.passes for op in case.operations)
    if not pieces or not executions or pieces / executions < PER_EXECUTION_MIN:
        return []
    nodes = [timed for timed in timed_nodes(case) if (_row_seconds(timed) or 0.0) >= ROW_S_MIN]
    if not nodes:
        return _returned(case, pieces)
    unpacking, most = fraction_of(nodes), _most(case, pieces)
    fractions = {name: min(part, most) for name, part in unpacking.items()}
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    first = max(nodes, key=lambda timed: timed.fraction or 0.0)
    tables = sorted({node.object for node in first.node.walk() if node.object is not None})
    claim = (
        f"Large values: {_fetched(case, pieces, _rows_by_operation(nodes))}; "
        f"{first.node.native} of {first.operation} took "
        f"{seconds_text(_row_seconds(first))} for each row of {', '.join(tables)}, "
        f"{percent_text(effect)} of the time in total"
    )
    evidence = [
        Evidence(f"{count_text(pieces)} chunks of large values fetched", f"counter:{PIECES}"),
        *(
            Evidence(
                f"{timed.node.native} of {timed.operation}: {seconds_text(_row_seconds(timed))} "
                "per row",
                f"plan:{timed.operation}",
            )
            for timed in nodes
        ),
    ]
    advice = Advice("stored-values", first.operation, LARGE_ONLY, effect)
    to_try = SEPARATE
    if keys := json_keys(first.plan.text):
        evidence.append(_keys_evidence(first.operation, keys))
        to_try = case.try_words(METHOD, fractions, GENERATED)
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    is_sure = effect >= SURE_SHARE * case.of_run(unpacking)
    finding = replace(finding.without_interval(), settle=None if is_sure else OTHER_WORK)
    return [finding.of("computing", saved=(0.0, effect))]


def _returned(case: Case, pieces: float) -> list[Finding]:
    """Return a finding of large values that statements return.

    A plan that is captured returns no rows, so its operators fetch none of these values. Their time
    is the time that the operation computes longer than its plan.
    """
    longer = {name: _outside_plan(case, name) for name in case.seconds}
    fractions = at_least(
        {name: min(part, _most(case, pieces)) for name, part in longer.items()}, EFFECT_MIN
    )
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    name = case.largest_first(fractions)[0]
    claim = (
        f"Large values: {_fetched(case, pieces, {})}; "
        f"{name} computed for {percent_text(fractions[name])} of its time beside the operators of "
        f"its plan, which do not fetch them, {percent_text(effect)} of the time in total"
    )
    evidence = [
        Evidence(f"{count_text(pieces)} chunks of large values fetched", f"counter:{PIECES}"),
        Evidence(
            f"{name}: the plan took {seconds_text(captured_seconds(case, name))} without"
            f" returning rows, the timed executions {seconds_text(case.seconds[name])}",
            f"plan:{name}",
        ),
    ]
    to_try = "select only the columns that the client needs: large values are fetched and sent"
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    most = min(1.0, effect + case.of_run(case.part("client")))
    return [replace(finding, settle=OTHER_WORK).of("computing", saved=(0.0, most))]


def _rows_by_operation(nodes: Sequence[Timed]) -> dict[str, float]:
    """Return the most rows that one operator of each operation unpacks, for those that do."""
    rows: dict[str, float] = {}
    for timed in nodes:
        rows[timed.operation] = max(rows.get(timed.operation, 0.0), _rows(timed))
    return rows


def _fetched(case: Case, pieces: float, rows: Mapping[str, float]) -> str:
    """Return the fetched chunks per execution, of the operation that fetches nearly all of them.

    An operation fetches values of the rows that its operators unpack, or of those that it returns.
    """
    passes = {op.name: op.passes for op in case.operations}
    weights = {op.name: max(rows.get(op.name, 0.0), op.rows or 0.0) for op in case.operations}
    name = sole_operation(case, weights)
    if name is None:
        mean = count_text(pieces / sum(passes.values()))
        return f"{mean} chunks of them were fetched per {execution_text(case, passes)}"
    chunks = pieces / passes[name]
    of = f"of {name} " if len(passes) > 1 else ""
    text = f"each execution {of}fetched {count_text(chunks)} chunks of them"
    return f"{text}, {count_text(chunks / weights[name])} per row" if rows.get(name) else text


def _keys_evidence(operation: str, keys: Sequence[str]) -> Evidence:
    named = ", ".join(keys[:NAMED_MAX])
    left = f" and {len(keys) - NAMED_MAX} more" if len(keys) > NAMED_MAX else ""
    return Evidence(
        f"{operation} reads {named}{left}: each reads the whole document", f"statement:{operation}"
    )


def _outside_plan(case: Case, operation: str) -> float:
    """Return the share of an operation's time that it computed beside its plan; 0 if not known."""
    planned_s, seconds = captured_seconds(case, operation), case.seconds.get(operation)
    if planned_s is None or not seconds or operation not in case.trees:
        return 0.0
    return max(0.0, case.worked(operation) - planned_s / seconds)


def _most(case: Case, pieces: float) -> float:
    """Return the largest share of the operations' time that unpacking the pieces can take."""
    whole_s = sum((op.seconds or 0.0) * op.passes for op in case.operations)
    return min(1.0, pieces * PIECE_S_MAX / whole_s) if whole_s else 1.0


def _row_seconds(timed: Timed) -> float | None:
    """Return an operator's seconds per row read; None if it was not timed."""
    if timed.node.seconds is None:
        return None
    taken = _rows(timed)
    return timed.node.seconds / taken if taken else None


def _rows(timed: Timed) -> float:
    """Return the rows that an operator gets from its inputs, or reads itself without any."""
    read = (timed.node.rows or 0.0) + (timed.node.removed_rows or 0.0)
    return sum(child.rows or 0.0 for child in timed.node.children) or read
