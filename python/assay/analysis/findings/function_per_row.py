"""Functions that statements call again and again, such as once a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.case import at_least
from assay.analysis.findings.counted_programs import counted_programs
from assay.analysis.time.operation_tree import COMPUTING
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text, seconds_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "function-per-row"
# A function that is called less often an execution is not called for each row.
CALLS_MIN = 10.0
EFFECT_MIN = 0.05
NAMED_SHARE = 0.02


def find(case: Case) -> list[Finding]:
    """Return one finding a function, by the engine's own clock."""
    found = [
        _finding(case, program.name, program.calls, program.share)
        for program in counted_programs(case, case.functions)
        if program.calls >= CALLS_MIN
    ]
    return [finding for finding in found if finding.effect_share >= EFFECT_MIN]


def _finding(case: Case, name: str, calls: float, share: float) -> Finding:
    """The finding of a function that took a share of the time, in the operations that name it."""
    named = [op for op, text in case.statements.items() if name.lower() in text.lower()]
    its = named or list(case.shares)
    of_run = sum(case.shares.get(op, 0.0) for op in its)
    fractions = at_least(
        {op: min(1.0, share / of_run) for op in its if of_run and op in case.shares}, NAMED_SHARE
    )
    effect = case.of_run(fractions)
    claim = (
        f"Function {name} is called {count_text(calls)} times an execution; it took"
        f" {percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(f"{name}: {count_text(calls)} calls an execution", "counter:functions"),
        Evidence(
            f"{name} took {percent_text(share)} of the time by the engine's clock", f"clock:{name}"
        ),
    ]
    each = seconds_text(share * sum(case.seconds.values()) / calls) if calls else ""
    to_try = (
        f"write {name} as an expression of the statement, or call it for fewer rows: each call"
        f" takes {each}"
    )
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    return finding.without_interval().of(COMPUTING, saved=(0.0, effect))
