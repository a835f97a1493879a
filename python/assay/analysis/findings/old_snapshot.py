"""Old versions of rows that pile up because a transaction's snapshot may still want them.

Where an engine counts dead rows, `dead-rows` has the effect and names the transaction. Where it
counts changes that old readers may want, the effect is what grew with them.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

from assay.model.finding import Evidence
from assay.model.other_work import SNAPSHOT
from assay.model.units import count_text, percent_text, seconds_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.analysis.load import Pace
    from assay.model.finding import Finding
    from assay.model.other_work import Worker

METHOD = "old-snapshot"
# A snapshot that most looks saw kept what was changed during most of the run.
SEEN_MIN = 0.5
# Changes that an engine without old readers removes as they come are fewer.
KEPT_MIN = 10_000
KEPT, ASKED = "undo_records", "buffer_requests"
# The run's parts of which the first and the last are compared, and how many readings that takes.
PARTS = 3
READINGS_MIN = 3
# A cache that fills makes operations differ by less.
GROWTH_MIN = 1.5
EFFECT_MIN = 0.05
STATEMENT_MAX = 100
IDLE = ("idle", "sleep", "prepared")


def holder(case: Case) -> Worker | None:
    """Return the transaction with the oldest snapshot that is none of the run's; None: none is."""
    seen = [
        one
        for one in case.workers or ()
        if one.work == SNAPSHOT and not one.own and one.share >= SEEN_MIN
    ]
    return max(seen, key=lambda one: (one.behind or 0.0, one.transaction_s or 0.0), default=None)


def holder_words(keeper: Worker) -> str:
    """Return who holds the snapshot, in which state and since when."""
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
    """Return what looks at the session saw."""
    behind = ""
    if keeper.behind is not None:
        behind = f", {count_text(keeper.behind)} transactions behind"
    says = f"{holder_words(keeper)}{behind}; {percent_text(keeper.share)} of the looks saw it"
    return Evidence(says, f"session:{keeper.session}")


def end_words(keeper: Worker) -> str:
    """Return what to do about the session."""
    name = f" of {keeper.application}" if keeper.application else ""
    words = f"commit, roll back or end the transaction of session {keeper.session}{name}"
    if _is_idle(keeper):
        words += ", and let none stay open while its client does something else"
    return words


def find(case: Case) -> list[Finding]:
    """Return the work that grew with the changes that an old snapshot keeps."""
    keeper, kept = holder(case), _last(case, KEPT)
    growth = _growth(case)
    if keeper is None or kept is None or kept < KEPT_MIN or growth is None:
        return []
    before, after, mean = growth
    fractions = {name: (1 - before / mean) * case.computing(name) for name in case.trees}
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    claim = (
        f"{count_text(kept)} changes are kept for a reader from before them:"
        f" {holder_words(keeper)}. An operation asked for {count_text(before)} pages in the first"
        f" third of the run and {count_text(after)} in the last"
    )
    evidence = [
        holder_evidence(keeper),
        Evidence(f"{count_text(kept)} changes kept at the end of the run", f"counter:{KEPT}"),
        Evidence(
            f"pages asked for by an operation grew from {count_text(before)} to"
            f" {count_text(after)}",
            f"counter:{ASKED}",
        ),
    ]
    finding = case.finding(METHOD, claim, fractions, to_try=end_words(keeper), evidence=evidence)
    return [finding.of("computing", saved=(0.0, effect))]


def _last(case: Case, name: str) -> float | None:
    figure = case.figure(name)
    value = None if figure is None else figure.get("last")
    return None if value is None else float(value)


def _growth(case: Case) -> tuple[float, float, float] | None:
    """Pages that an operation asked for, in the first and last third of the run and on average.

    None where they did not grow, and where too little was read.
    """
    told = (case.counters or {}).get("series", ())
    series = next((one for one in told if one["name"] == ASKED), None)
    if series is None or case.load is None:
        return None
    pages = []
    for (begin_s, end_s), rate in zip(
        pairwise(series["time_s"]), series["values"][1:], strict=False
    ):
        done = _operations_per_s(case.load.pace, begin_s, end_s)
        if rate is not None and done:
            pages.append(rate / done)
    third = len(pages) // PARTS
    if len(pages) < READINGS_MIN:
        return None
    before, after, mean = (fmean(part) for part in (pages[:third], pages[-third:], pages))
    return (before, after, mean) if before > 0 and after >= GROWTH_MIN * before else None


def _operations_per_s(pace: Pace, begin_s: float, end_s: float) -> float | None:
    """Throughput between two times of the measured part; None where it was not measured."""
    first, last = (round(edge / pace.interval_s) for edge in (begin_s, end_s))
    within = pace.throughput_per_s[max(0, first) : last]
    return fmean(within) if within else None


def _is_idle(keeper: Worker) -> bool:
    state = (keeper.state or "").lower()
    return any(word in state for word in IDLE)


def _short(statement: str) -> str:
    text = " ".join(statement.split())
    return text if len(text) <= STATEMENT_MAX else f"{text[: STATEMENT_MAX - 1]}…"
