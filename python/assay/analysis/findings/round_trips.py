"""Operations that send the same small statement again and again, and wait for each answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.case import at_least, names_text
from assay.analysis.time.operation_tree import NETWORK
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.analysis.statement_times import StatementTimes
    from assay.model.finding import Finding

METHOD = "round-trips"
# Fewer repetitions are what transactions are made of, such as the lines of an order.
REPEATED_MIN = 20.0
EFFECT_MIN = 0.05
NAMED_SHARE = 0.05


def find(case: Case) -> list[Finding]:
    """Return one finding for operations that repeat a statement, whose time is the network's."""
    repeated = {
        name: most
        for name, operation in case.statement_times.items()
        if (most := _most_repeated(operation.statements)) is not None
    }
    waits = at_least(case.part("client"), NAMED_SHARE)
    fractions = {name: share for name, share in waits.items() if name in repeated}
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    names = case.largest_first(fractions)
    first = repeated[names[0]]
    claim = (
        f"Round trips: {names_text(names)} sends statement {first.name}"
        f" {count_text(first.per_operation)} times, one after another; the network and the client"
        f" are {percent_text(effect)} of the time"
    )
    to_try = (
        f"send them together: one statement for many rows in place of {first.name}, a batch, or"
        " --pipeline"
    )
    evidence = [
        Evidence(
            f"{name}: {repeated[name].name} {count_text(repeated[name].per_operation)} times an"
            f" operation, {count_text(repeated[name].rows)} rows each",
            f"statements:{name}",
        )
        for name in names
    ]
    evidence += [
        Evidence(
            f"{name} waited for its client for {percent_text(fractions[name])} of its time",
            f"where:{name}",
        )
        for name in names
    ]
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    return [finding.of(NETWORK, saved=(0.0, effect * (1 - 1 / first.per_operation)))]


def _most_repeated(statements: tuple[StatementTimes, ...]) -> StatementTimes | None:
    """Return the statement that an operation repeats most; None: none is repeated often."""
    often = [one for one in statements if one.per_operation >= REPEATED_MIN]
    return max(often, key=lambda one: one.per_operation) if often else None
