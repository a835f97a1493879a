"""Finds operations that repeat statements of one shape and wait for each answer."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.analysis.findings.operation_shares import names_text
from assay.analysis.findings.plans.plan_time import timed_nodes
from assay.analysis.time.operation_tree import COMPUTING, NETWORK
from assay.model.finding import Advice, Evidence
from assay.model.sql import without_remarks
from assay.model.units import count_text, percent_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay.analysis.findings.case import Case
    from assay.analysis.time.statement_times import StatementTimes
    from assay.model.finding import Finding
    from assay.model.plan import Plan

METHOD = "round-trips"
# Many transactions have two statements of one shape, so two are not reported.
REPEATED_MIN = 3.0
# Ordinary transactions repeat some statements, such as one insert per line of an order. This share
# of repeated statements is more than that.
PART_MIN = 0.7
EFFECT_MIN = 0.1
# A longer statement does work of its own. A shorter one mostly costs its round trip.
STATEMENT_S_MAX = 0.001
# A plan that looks up a few rows takes less. What it takes longer is work on rows.
LOOK_UP_S = 50e-6
NAMED_OPERATIONS = 3
WAITS_UNKNOWN = (
    "measure the operation with one statement for all rows: what it waits for was not measured"
)

_VALUE = re.compile(r"\$\d+|'(?:[^']|'')*'|\b\d+(?:\.\d+)?\b")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Repeated:
    """Statements of an operation that have the same text except for their values.

    Attributes:
        text: Text of the first of these statements.
        count: Number of statements of this shape per operation.
        whole: Number of all statements per operation.
    """

    text: str
    count: float
    whole: float

    @property
    def part(self) -> float:
        """The share of round trips that one statement for all rows would save."""
        return (self.count - 1) / self.whole


def find(case: Case) -> list[Finding]:
    """Return a finding per operation that consists mostly of one repeated statement."""
    repeated = {
        name: most
        for name, plans in case.plans.items()
        if (most := most_repeated(plans, _times(case, name))) is not None
        and most.part >= PART_MIN
        and _is_short(case, name, most)
    }
    if repeated and not any(name in case.trees for name in repeated):
        return _unsplit(case, repeated)
    repeated = {name: most for name, most in repeated.items() if name in case.trees}
    worked = _worked_shares(case, repeated)
    largest = max((COMPUTING, NETWORK), key=lambda part: _share(case, part, worked))
    fractions = {
        name: _fixed(case, name, largest, worked) * most.part
        for name, most in repeated.items()
        if name in case.shares
    }
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    names = case.largest_first(fractions)
    evidence = [
        fact for name in names[:NAMED_OPERATIONS] for fact in _evidence(case, name, repeated)
    ]
    finding = _finding(case, fractions, repeated, "at least", evidence)
    return [finding.of(largest, saved=(effect, _best(case, names, repeated, worked)))]


def _unsplit(case: Case, repeated: Mapping[str, Repeated]) -> list[Finding]:
    """Return a suspected finding of operations whose time was not split by cause.

    What the plans of the statements do not take is their fixed cost, or a wait that was not
    measured.
    """
    planned_s = {
        name: seconds for name in repeated if (seconds := _planned_s(case, name)) is not None
    }
    fractions = {
        name: repeated[name].part * max(0.0, 1 - spent_s / case.seconds[name])
        for name, spent_s in planned_s.items()
        if name in case.shares
    }
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    evidence = [
        fact
        for name in case.largest_first(fractions)[:NAMED_OPERATIONS]
        for fact in (
            _statements_evidence(case, name, repeated[name]),
            Evidence(
                f"{name}: its plans take {seconds_text(planned_s[name])} of "
                f"{seconds_text(case.seconds[name])}",
                f"plan:{name}",
            ),
        )
    ]
    finding = _finding(case, fractions, repeated, "up to", evidence)
    return [replace(finding.without_interval(), settle=WAITS_UNKNOWN, saved=(0.0, effect))]


def _planned_s(case: Case, name: str) -> float | None:
    """Return the time of an operation's plans; None if one of them was not executed."""
    per_operation = {each.name: each.per_operation for each in _times(case, name)}
    spent = [
        None
        if plan.execution_s is None
        else plan.execution_s * per_operation.get(plan.name or str(plan.statement + 1), 1.0)
        for plan in case.plans[name]
    ]
    known = [seconds for seconds in spent if seconds is not None]
    return math.fsum(known) if len(known) == len(spent) else None


def _finding(
    case: Case,
    fractions: Mapping[str, float],
    repeated: Mapping[str, Repeated],
    bound: str,
    evidence: Sequence[Evidence],
) -> Finding:
    names, effect = case.largest_first(fractions), case.of_run(fractions)
    first = repeated[names[0]]
    claim = (
        f"Round trips: per operation, {names_text(names)} sends {count_text(first.count)} of "
        f"its {count_text(first.whole)} statements one after another, which differ only in "
        f"their values; their fixed cost and round trips take {bound} {percent_text(effect)} "
        "of the time"
    )
    to_try = f"use one statement for all rows instead of {count_text(first.count)}: {first.text}"
    advice = None
    if case.can_pipeline:
        advice = Advice("pipeline", "statements")
        tries = case.try_words(METHOD, fractions, "sends statements before earlier answers arrive")
        to_try += f"; {tries}"
    return case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice)


def _worked_shares(case: Case, names: Iterable[str]) -> dict[str, float]:
    """Return the share of each operation's time in which plans do more than look a few rows up.

    One statement for all rows would do the same work.
    """
    by_plan: dict[int, tuple[str, float, float]] = {}
    for timed in timed_nodes(case):
        key, seconds = id(timed.plan), timed.node.seconds or 0.0
        _, fraction, spent_s = by_plan.get(key, ("", 0.0, 0.0))
        by_plan[key] = (timed.operation, fraction + (timed.fraction or 0.0), spent_s + seconds)
    worked = dict.fromkeys(names, 0.0)
    for name, fraction, spent_s in by_plan.values():
        if name in worked and spent_s > LOOK_UP_S:
            worked[name] += fraction * (1 - LOOK_UP_S / spent_s)
    return worked


def _fixed(case: Case, name: str, part: str, worked: Mapping[str, float]) -> float:
    """Return a node's share of an operation's time, without the work of plans."""
    share = case.trees[name].share_of(part)
    return max(0.0, share - worked[name]) if part == COMPUTING else share


def _share(case: Case, part: str, worked: Mapping[str, float]) -> float:
    return case.of_run({name: _fixed(case, name, part, worked) for name in worked})


def _best(
    case: Case,
    names: Iterable[str],
    repeated: Mapping[str, Repeated],
    worked: Mapping[str, float],
) -> float:
    return case.of_run({name: repeated[name].part * (1 - worked[name]) for name in names})


def _is_short(case: Case, name: str, most: Repeated) -> bool:
    seconds = case.seconds.get(name)
    return seconds is not None and seconds / most.whole <= STATEMENT_S_MAX


def _statements_evidence(case: Case, name: str, most: Repeated) -> Evidence:
    statement_s = (case.seconds.get(name) or 0.0) / most.whole
    return Evidence(
        f"{name}: {count_text(most.count)} similar statements, {seconds_text(statement_s)} each",
        f"statements:{name}",
    )


def _evidence(case: Case, name: str, repeated: Mapping[str, Repeated]) -> list[Evidence]:
    tree = case.trees[name]
    return [
        _statements_evidence(case, name, repeated[name]),
        Evidence(
            f"{name}: network and client take {percent_text(tree.share_of(NETWORK))}, the "
            f"kernel {percent_text(tree.share_of(f'{COMPUTING}/kernel'))} of its time",
            f"where:{name}",
        ),
    ]


def _times(case: Case, operation: str) -> Sequence[StatementTimes]:
    noted = case.statement_times.get(operation)
    return () if noted is None else noted.statements


def most_repeated(plans: Sequence[Plan], times: Sequence[StatementTimes]) -> Repeated | None:
    """Return the most repeated statement of an operation; None if none is frequent.

    Args:
        plans: Plans of the operation's statements, each with its text.
        times: Number of executions of each statement. If empty, each is executed once per
            operation.
    """
    per_operation = {statement.name: statement.per_operation for statement in times}
    counts: dict[str, float] = {}
    texts: dict[str, str] = {}
    for plan in plans:
        if plan.text is None:
            continue
        shape = _SPACE.sub(" ", _VALUE.sub("?", without_remarks(plan.text).lower())).strip()
        name = plan.name or str(plan.statement + 1)
        counts[shape] = counts.get(shape, 0.0) + per_operation.get(name, 1.0)
        texts.setdefault(shape, " ".join(without_remarks(plan.text).split()))
    if not counts:
        return None
    shape = max(counts, key=lambda key: counts[key])
    if counts[shape] < REPEATED_MIN:
        return None
    return Repeated(texts[shape], counts[shape], math.fsum(counts.values()))
