"""The plan that an engine chose beside others that it was forced to, and whether it knew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Spread, Table
from assay.analysis.figures.quantities import COUNT, SECONDS, TIMES, listed, text
from assay.analysis.plans.regret import CHOSEN, NEIGHBOUR, ORDER, SWITCHES, regret_of
from assay.model.errors import UsageError

if TYPE_CHECKING:
    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.plans.regret import ForcedPlan, Rank, Regret
    from assay.record.reader import Run

OPTIONS = {
    "once": "the part whose run has every plan once; without it 'once'",
    "rounds": "the part whose run has them in turns; without it 'rounds'",
}
SUBJECTS = {
    CHOSEN: "the chosen plan",
    SWITCHES: "techniques off",
    NEIGHBOUR: "an order near the chosen one",
    ORDER: "an order by chance",
}
CUT_OFF = "cut off"
AXES = {True: "what the optimiser expects it to cost", False: "rows that its joins give"}
TIMES_OF = (
    Column("plan"),
    Column("time", SECONDS),
    Column("lowest", SECONDS),
    Column("highest", SECONDS),
    Column("of the chosen", TIMES),
    Column("cost", COUNT, 4),
    Column("answer"),
)
WAYS = (
    Column("plan"),
    Column("joins give", COUNT),
    Column("expected", COUNT),
    Column("how"),
    Column("joins"),
)
# A rank correlation of at least so much is one that a person would call good.
GOOD_RHO, POOR_RHO = 0.8, 0.4


def figure(asked: Asked) -> Figure:
    """The figure."""
    parts = {one.part: one.run for one in asked.runs}
    once = parts.get(str(asked.options.get("once", "once")))
    if once is None:
        raise UsageError("no run has every plan once, so there is nothing to compare")
    rounds = parts.get(str(asked.options.get("rounds", "rounds")))
    planned = [run for run in parts.values() if run not in (once, rounds)]
    found = regret_of(once, rounds, planned)
    if found is None:
        raise UsageError("the chosen plan itself did not come to its end, so there is no regret")
    by_cost = found.chosen.cost is not None
    measures = tuple(_measures(found, by_cost=by_cost))
    subjects = tuple(dict.fromkeys(name for one in measures for name in one.values))
    keys = tuple(one.key for one in measures if one.at is not None)
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(_says(found, once)),
        subjects=tuple(name for name in (*SUBJECTS.values(), CUT_OFF) if name in subjects),
        measures=measures,
        tables=(
            Table("plans", "plans, the fastest first", TIMES_OF, tuple(_times(found))),
            Table("ways", "how each came about, and what it joins", WAYS, tuple(_ways(found))),
        ),
        charts=(Chart("plans", "seconds", "scatter", keys, logarithmic=True, axis=AXES[by_cost]),),
        notes=tuple(_notes(found)),
        missing=tuple(_missing(found)),
    )


def _measures(found: Regret, *, by_cost: bool) -> list[Measure]:
    made = []
    for one in found.plans:
        at = one.cost if by_cost else one.rows
        seconds = one.seconds if one.seconds is not None else one.cut_off_s
        if seconds is None:
            continue
        low, high = (min(one.rounds_s), max(one.rounds_s)) if one.rounds_s else (seconds, seconds)
        who = SUBJECTS[one.kind] if one.rounds_s else CUT_OFF
        spread = Spread(seconds, low, high, len(one.rounds_s) or 1)
        made.append(
            Measure(one.name, f"{one.name} {one.words}", SECONDS, {who: spread}, at or None)
        )
    order = [*SUBJECTS.values(), CUT_OFF]
    return sorted(made, key=lambda one: order.index(next(iter(one.values))))


def _says(found: Regret, run: Run) -> list[str]:
    engine = run.facts["engine"]["title"]
    operation = found.chosen.name.partition("@")[0]
    says = [_regret(found, engine, operation), _place(found, engine)]
    ranks = [
        words
        for rank, what in (
            (found.by_cost, "What the optimiser expects a plan to cost"),
            (found.by_estimated_rows, "How many rows its joins are expected to give"),
            (found.by_rows, "How many rows its joins really give"),
        )
        if (words := _rank(rank, what))
    ]
    return [*says, *ranks]


def _regret(found: Regret, engine: str, operation: str) -> str:
    chosen_s, factor = found.chosen.seconds, found.regret
    times = f"{factor.times:.3g}"
    if factor.interval is not None:
        times += f" [{factor.interval[0]:.3g}, {factor.interval[1]:.3g}]"
    chosen = f"the plan that {engine} chose for {operation} takes {text(chosen_s, SECONDS)}"
    if found.best is found.chosen or (factor.interval and not factor.interval[0] > 1):
        return f"No plan was found that is faster beyond noise: {chosen}. Regret {times}."
    return (
        f"Regret {times}: {chosen}, and {text(found.best.seconds, SECONDS)} with the best found,"
        f" {found.best.words}."
    )


def _place(found: Regret, engine: str) -> str:
    done = [one for one in found.plans if one.rounds_s]
    cut = [one for one in found.plans if one.cut_off_s is not None]
    slower = sum((one.seconds or 0.0) > (found.chosen.seconds or 0.0) for one in done) + len(cut)
    words = f"Of {len(done) + len(cut)} distinct plans {slower} are slower than the chosen one"
    if cut:
        limit = text(cut[0].cut_off_s, SECONDS)
        return f"{words}; {len(cut)} took more than {limit} and were cancelled in {engine}."
    slowest = done[-1].seconds or 0.0
    times = text(slowest / (found.chosen.seconds or 1.0), TIMES)
    return f"{words}; the slowest takes {times} as long."


def _rank(rank: Rank | None, what: str) -> str | None:
    if rank is None:
        return None
    low, high = rank.interval
    how = "well" if rank.rho >= GOOD_RHO else "poorly" if rank.rho < POOR_RHO else "in part"
    return (
        f"{what} ranks plans {how}: Spearman's rho against time is {rank.rho:.2f}"
        f" [{low:.2f}, {high:.2f}] over {rank.count} plans."
    )


def _times(found: Regret) -> list[tuple[Cell, ...]]:
    chosen_s = found.chosen.seconds or 1.0
    return [
        (
            one.name,
            one.seconds,
            min(one.rounds_s, default=None),
            max(one.rounds_s, default=None),
            None if one.seconds is None else one.seconds / chosen_s,
            one.cost,
            _answer(one),
        )
        for one in found.plans
    ]


def _ways(found: Regret) -> list[tuple[Cell, ...]]:
    return [(one.name, one.rows, one.estimated_rows, one.words, one.joined) for one in found.plans]


def _answer(one: ForcedPlan) -> str:
    if one.cut_off_s is not None:
        return f"> {text(one.cut_off_s, SECONDS)}"
    if one.failed is not None:
        return "failed"
    return "the same" if one.differs is None else "another"


def _notes(found: Regret) -> list[str]:
    rounds = len(found.chosen.rounds_s)
    notes = [
        f"{rounds} rounds within one run; each is compared with the plan that was fastest in the"
        " other rounds, because the fastest of many looks faster than it is."
        if rounds > 1
        else "Each plan once: no interval, and the fastest of many looks faster than it is.",
        "Plans are of distinct shape: operators, tables, indexes and their order.",
        "The search knows no statistics and sees few of all plans: the true regret may be larger.",
    ]
    if found.chosen.cost is None:
        notes.append(
            "This engine tells no cost, and what it expects joins to give is not estimated alike"
            " where something is forced: nothing ranks its estimates."
        )
    return notes


def _missing(found: Regret) -> list[str]:
    wrong = [one for one in found.plans if one.differs is not None]
    told = [f"{one.name} ({one.words}) has another answer: {one.differs}" for one in wrong]
    failed = [f"{one.name} ({one.failed})" for one in found.plans if one.failed is not None]
    return [*told, *([f"no time of {listed(failed)}"] if failed else [])]
