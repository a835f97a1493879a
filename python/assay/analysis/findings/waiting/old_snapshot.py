"""Finds old row versions that pile up because an old transaction snapshot may need them.

If the engine counts dead rows, the finding `dead-rows` states the effect and names the transaction.
If it counts undo records, the effect is the slowdown of the load.
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from assay.model.finding import Evidence
from assay.model.other_work import SNAPSHOT
from assay.model.units import count_text, percent_text, seconds_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.other_work import Worker

METHOD = "old-snapshot"
# A snapshot in at least this share of samples kept old versions during most of the run.
SEEN_MIN = 0.5
# Engines without old snapshots usually keep fewer undo records. A slowdown of the load and an old
# snapshot are required, too.
KEPT_MIN = 1_000
KEPT = "undo_records"
# Records pile up if their number grows at least by this factor.
PILED_MIN = 2.0
CLOSED = "closed"
# Number of parts of the run; the first and the last part are compared.
PARTS = 3
# Throughput of two parts of a steady load differs by a smaller factor.
SLOWER_MIN = 1.2
EFFECT_MIN = 0.05
STATEMENT_MAX = 100
IDLE = ("idle", "sleep", "prepared")


def holder(case: Case) -> Worker | None:
    """Return the foreign transaction with the oldest snapshot; None without one."""
    seen = [
        worker
        for worker in case.workers or ()
        if worker.work == SNAPSHOT and not worker.own and worker.share >= SEEN_MIN
    ]
    return max(
        seen, key=lambda worker: (worker.behind or 0.0, worker.transaction_s or 0.0), default=None
    )


def holder_words(keeper: Worker) -> str:
    """Return text on the session that holds an old snapshot, with its state and age."""
    facts = [
        keeper.application,
        keeper.state,
        None
        if keeper.transaction_s is None
        else f"its transaction open for {seconds_text(keeper.transaction_s)}",
        None
        if not keeper.statement
        else f"{'last ' if _is_idle(keeper) else ''}statement: {_short(keeper.statement)}",
    ]
    inner = ", ".join(fact for fact in facts if fact)
    return f"session {keeper.session}" + (f" ({inner})" if inner else "") + " has an old snapshot"


def holder_evidence(keeper: Worker) -> Evidence:
    """Return the evidence from samples that a session held an old snapshot."""
    behind = ""
    if keeper.behind is not None:
        behind = f", {count_text(keeper.behind)} transactions behind"
    says = f"{holder_words(keeper)}{behind}, seen in {percent_text(keeper.share)} of the samples"
    return Evidence(says, f"session:{keeper.session}")


def end_words(keeper: Worker) -> str:
    """Return the advice on how to end the transaction that holds an old snapshot."""
    name = f" of {keeper.application}" if keeper.application else ""
    sentence = f"commit, roll back or end the transaction of session {keeper.session}{name}"
    if _is_idle(keeper):
        sentence += ", and do not leave transactions open while the client does other work"
    return sentence


def find(case: Case) -> list[Finding]:
    """Return a finding of a load that slowed down while undo records piled up."""
    keeper, kept, paces = holder(case), _kept(case), _paces(case)
    if keeper is None or kept is None or paces is None:
        return []
    before, after, mean = paces
    fractions = {name: min(1 - mean / before, case.computing(name)) for name in case.trees}
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    slower = f"from {count_text(before)} operations a second to {count_text(after)}"
    claim = (
        f"The engine keeps {count_text(kept[1])} changes for an old snapshot: "
        f"{holder_words(keeper)}. While they accumulated, throughput fell {slower}"
    )
    evidence = [
        holder_evidence(keeper),
        Evidence(
            f"changes kept for old snapshots grew from {count_text(kept[0])} to "
            f"{count_text(kept[1])}",
            f"counter:{KEPT}",
        ),
        Evidence(f"throughput fell {slower}, from the first third to the last", "timeline"),
    ]
    finding = case.finding(METHOD, claim, fractions, to_try=end_words(keeper), evidence=evidence)
    best = {name: min(1 - after / before, case.computing(name)) for name in case.trees}
    return [finding.without_interval().of("computing", saved=(effect, case.of_run(best)))]


def _kept(case: Case) -> tuple[float, float] | None:
    """Return the first and the highest number of undo records; None if they did not pile up."""
    values = case.readings(KEPT)
    if not values or max(values) < max(KEPT_MIN, PILED_MIN * values[0]):
        return None
    return values[0], max(values)


def _paces(case: Case) -> tuple[float, float, float] | None:
    """Return a slowing load's throughput per second: first third, last third, and mean.

    The result is None if the load did not become slower.
    """
    if case.load is None or case.load.load.shape != CLOSED:
        return None
    paces = case.load.pace.throughput_per_s
    third = len(paces) // PARTS
    if not third:
        return None
    before, after, mean = (fmean(part) for part in (paces[:third], paces[-third:], paces))
    return (before, after, mean) if before >= SLOWER_MIN * after and before > 0 else None


def _is_idle(keeper: Worker) -> bool:
    state = (keeper.state or "").lower()
    return any(word in state for word in IDLE)


def _short(statement: str) -> str:
    text = " ".join(statement.split())
    return text if len(text) <= STATEMENT_MAX else f"{text[: STATEMENT_MAX - 1]}…"
