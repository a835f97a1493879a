"""Finds operations whose statements each commit a transaction of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.operation_shares import names_text
from assay.analysis.findings.waiting.transactions import (
    READS,
    WRITES,
    first_word,
    statements_in,
)
from assay.analysis.findings.waiting.waits import log_parts, waited, waiting_evidence
from assay.model.finding import Advice, Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "autocommit"
# Two statements of an operation may belong to different transactions on purpose.
COMMITS_MIN = 3
EFFECT_MIN = 0.05
KERNEL_PART = "computing/kernel"
SETTLE = "how long the same statements take in one transaction"
NAMED_OPERATIONS = 3


def find(case: Case) -> list[Finding]:
    """Return a finding about operations that wait for one commit per statement."""
    commits = {
        name: count
        for name, text in case.statements.items()
        if (count := commits_of(text)) >= COMMITS_MIN
    }
    if not commits or not _commits_itself(case):
        return []
    if not any(name in case.trees for name in commits):
        return _unsplit(case, commits)
    parts, part = log_parts(case)
    case = case.with_measured(*parts)
    fractions = waits = _avoided(waited(case, *parts), commits)
    is_sure = case.of_run(waits) >= EFFECT_MIN
    if not is_sure:
        # Where the disk answers at once, a commit mostly takes kernel time to write and sync.
        kernel = _avoided(case.node(KERNEL_PART), commits)
        fractions = {
            name: waits.get(name, 0.0) + kernel.get(name, 0.0) for name in {*waits, *kernel}
        }
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    names = case.largest_first(fractions)
    first = commits[names[0]]
    claim = (
        f"Autocommit: each of the {count_text(first)} writing statements of {names_text(names)} "
        "commits a transaction of its own; one commit per operation would avoid "
        f"{percent_text(effect)} of the time, which was waiting for writes and syncs"
        + ("" if is_sure else ", and time in the kernel that statements need for other work, too")
    )
    tries = case.try_words(METHOD, fractions, "measures it")
    to_try = f"begin a transaction before the first statement and commit after the last; {tries}"
    evidence = [*waiting_evidence(case, waits, parts), *_statements_evidence(names, commits)]
    advice = Advice("one-transaction", names[0], {}, effect)
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    finding = replace(finding, settle=None if is_sure else SETTLE)
    return [finding.of(part, saved=(case.of_run(waits), _most(case, fractions, commits)))]


def _unsplit(case: Case, commits: Mapping[str, int]) -> list[Finding]:
    """Return a suspected finding of operations whose time was not split by cause.

    All commits but one cost at most the time of all statements but one.
    """
    parts = {name: 1.0 for name in commits if name in case.shares}
    fractions = _avoided(parts, commits)
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    names = case.largest_first(fractions)
    claim = (
        f"Autocommit: each of the {count_text(commits[names[0]])} writing statements of "
        f"{names_text(names)} commits a transaction of its own; one commit per operation would "
        f"avoid up to {percent_text(effect)} of the time, of which the wait for commits was not "
        "measured"
    )
    tries = case.try_words(METHOD, fractions, "measures it")
    to_try = f"begin a transaction before the first statement and commit after the last; {tries}"
    finding = case.finding(
        METHOD,
        claim,
        fractions,
        to_try=to_try,
        evidence=_statements_evidence(names, commits),
        advice=Advice("one-transaction", names[0], {}, effect),
    )
    return [replace(finding.without_interval(), settle=SETTLE, saved=(0.0, effect))]


def _statements_evidence(names: Sequence[str], commits: Mapping[str, int]) -> list[Evidence]:
    return [
        Evidence(
            f"{name} has {count_text(commits[name])} writing statements and no transaction",
            f"statement:{name}",
        )
        for name in names[:NAMED_OPERATIONS]
    ]


def _avoided(shares: Mapping[str, float], commits: Mapping[str, int]) -> dict[str, float]:
    """Return the part of operations' times that all their commits but one take."""
    return {
        name: share * (1 - 1 / commits[name]) for name, share in shares.items() if name in commits
    }


def commits_of(text: str) -> int:
    """Return the number of statements of an operation that commit by themselves.

    The number is 0 if a statement is neither a query nor a plain change of rows, because it may
    begin or end a transaction.

    Args:
        text: All statements of the operation, separated by semicolons.
    """
    words = [first_word(statement) for statement in statements_in(text)]
    if any(word not in WRITES | READS for word in words):
        return 0
    return sum(word in WRITES for word in words)


def _commits_itself(case: Case) -> bool:
    """Return True if the run's sessions commit each statement on its own."""
    request = case.request
    added = any(request.get(name) for name in ("roll_back", "pipeline", "one_transaction"))
    return not (added or case.is_observed or case.test is not None)


def _most(case: Case, fractions: Mapping[str, float], commits: Mapping[str, int]) -> float:
    """Return the time without the last statement's share: a commit also costs CPU time."""
    return case.of_run({name: 1 - 1 / commits[name] for name in fractions})
