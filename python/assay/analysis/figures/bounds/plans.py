"""Chart that compares the optimiser's chosen plan with forced plans and with costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
from assay.analysis.plans.regret import CHOSEN, NEIGHBOUR, ORDER, SWITCHES, regret_of
from assay.analysis.quantities import COUNT, SECONDS, TIMES, Spread, listed, text
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
# The table of plans. Its last column says whether a plan returned the same answer as the chosen
# plan.
TABLE = "plans"
SAME_ANSWER, OTHER_ANSWER = "the same", "another"
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
# A rank correlation from this value on counts as good.
GOOD_RHO, POOR_RHO = 0.8, 0.4


def figure(asked: Asked) -> Figure:
    """Return a chart that compares the optimiser's chosen plan with forced plans."""
    parts = {run.part: run.run for run in asked.runs}
    once = parts.get(str(asked.options.get("once", "once")))
    if once is None:
        raise UsageError("no run executed every plan, so plans cannot be compared")
    rounds = parts.get(str(asked.options.get("rounds", "rounds")))
    planned = [run for run in parts.values() if run not in (once, rounds)]
    regret = regret_of(once, rounds, planned)
    if regret is None:
        raise UsageError(
            "the optimiser's plan did not finish, so other plans cannot be compared with it"
        )
    by_cost = regret.chosen.cost is not None
    measures = tuple(_measures(regret, by_cost=by_cost))
    subjects = tuple(dict.fromkeys(name for measure in measures for name in measure.values))
    keys = tuple(measure.key for measure in measures if measure.at is not None)
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(_says(regret, once)),
        subjects=tuple(name for name in (*SUBJECTS.values(), CUT_OFF) if name in subjects),
        measures=measures,
        tables=(
            Table(TABLE, "plans, the fastest first", TIMES_OF, tuple(_times(regret))),
            Table("ways", "how each came about, and what it joins", WAYS, tuple(_ways(regret))),
        ),
        charts=(Chart("plans", "seconds", "scatter", keys, logarithmic=True, axis=AXES[by_cost]),),
        notes=tuple(_notes(regret)),
        missing=tuple(_missing(regret)),
    )


def _measures(regret: Regret, *, by_cost: bool) -> list[Measure]:
    made = []
    for plan in regret.plans:
        at = plan.cost if by_cost else plan.rows
        seconds = plan.seconds if plan.seconds is not None else plan.cut_off_s
        if seconds is None:
            continue
        low, high = (
            (min(plan.rounds_s), max(plan.rounds_s)) if plan.rounds_s else (seconds, seconds)
        )
        who = SUBJECTS[plan.kind] if plan.rounds_s else CUT_OFF
        spread = Spread(seconds, low, high, len(plan.rounds_s) or 1)
        made.append(
            Measure(plan.name, f"{plan.name} {plan.action}", SECONDS, {who: spread}, at or None)
        )
    order = [*SUBJECTS.values(), CUT_OFF]
    return sorted(made, key=lambda measure: order.index(next(iter(measure.values))))


def _says(regret: Regret, run: Run) -> list[str]:
    engine = run.facts["engine"]["title"]
    operation = regret.chosen.name.partition("@")[0]
    says = [_regret(regret, engine, operation), _place(regret, engine)]
    ranks = [
        sentence
        for rank, what in (
            (regret.by_cost, "What the optimiser expects a plan to cost"),
            (regret.by_estimated_rows, "How many rows its joins are expected to give"),
            (regret.by_rows, "How many rows its joins really give"),
        )
        if (sentence := _rank(rank, what))
    ]
    return [*says, *ranks]


def _regret(regret: Regret, engine: str, operation: str) -> str:
    chosen_s, factor = regret.chosen.seconds, regret.regret
    times = f"{factor.times:.3g}"
    if factor.interval is not None:
        times += f" [{factor.interval[0]:.3g}, {factor.interval[1]:.3g}]"
    chosen = f"the plan that {engine} chose for {operation} takes {text(chosen_s, SECONDS)}"
    if regret.best is regret.chosen or (factor.interval and not factor.interval[0] > 1):
        return f"No plan was found that is faster beyond noise: {chosen}. Loss {times}."
    return (
        f"Loss {times}: {chosen}, and {text(regret.best.seconds, SECONDS)} with the best found,"
        f" {regret.best.action}."
    )


def _place(regret: Regret, engine: str) -> str:
    done = [plan for plan in regret.plans if plan.rounds_s]
    cut = [plan for plan in regret.plans if plan.cut_off_s is not None]
    slower = sum((plan.seconds or 0.0) > (regret.chosen.seconds or 0.0) for plan in done) + len(cut)
    sentence = f"Of {len(done) + len(cut)} distinct plans {slower} are slower than the chosen one"
    if cut:
        limit = text(cut[0].cut_off_s, SECONDS)
        return f"{sentence}; {len(cut)} took more than {limit} and were cancelled in {engine}."
    slowest = done[-1].seconds or 0.0
    times = text(slowest / (regret.chosen.seconds or 1.0), TIMES)
    return f"{sentence}; the slowest takes {times} as long."


def _rank(rank: Rank | None, what: str) -> str | None:
    if rank is None:
        return None
    low, high = rank.interval
    how = "well" if rank.rho >= GOOD_RHO else "poorly" if rank.rho < POOR_RHO else "in part"
    return (
        f"{what} ranks plans {how}: Spearman's rho against time is {rank.rho:.2f}"
        f" [{low:.2f}, {high:.2f}] over {rank.count} plans."
    )


def _times(regret: Regret) -> list[tuple[Cell, ...]]:
    chosen_s = regret.chosen.seconds or 1.0
    return [
        (
            plan.name,
            plan.seconds,
            min(plan.rounds_s, default=None),
            max(plan.rounds_s, default=None),
            None if plan.seconds is None else plan.seconds / chosen_s,
            plan.cost,
            _answer(plan),
        )
        for plan in regret.plans
    ]


def _ways(regret: Regret) -> list[tuple[Cell, ...]]:
    return [
        (plan.name, plan.rows, plan.estimated_rows, plan.action, plan.joined)
        for plan in regret.plans
    ]


def _answer(plan: ForcedPlan) -> str:
    if plan.cut_off_s is not None:
        return f"> {text(plan.cut_off_s, SECONDS)}"
    if plan.failed is not None:
        return "failed"
    return SAME_ANSWER if plan.differs is None else OTHER_ANSWER


def _notes(regret: Regret) -> list[str]:
    rounds = len(regret.chosen.rounds_s)
    notes = [
        f"{rounds} rounds within one run; each is compared with the plan that was fastest in the"
        " other rounds, because the fastest of many looks faster than it is."
        if rounds > 1
        else "Each plan once: no interval, and the fastest of many looks faster than it is.",
        "Plans are of distinct shape: operators, tables, indexes and their order.",
        "The search knows no statistics and sees few of all plans: the true loss may be larger.",
    ]
    if regret.chosen.cost is None:
        notes.append(
            "This engine reports no cost, and what it expects joins to give is not estimated alike"
            " where something is forced: nothing ranks its estimates."
        )
    return notes


def _missing(regret: Regret) -> list[str]:
    wrong = [plan for plan in regret.plans if plan.differs is not None]
    wrong_answers = [
        f"{plan.name} ({plan.action}) has another answer: {plan.differs}" for plan in wrong
    ]
    failed = [f"{plan.name} ({plan.failed})" for plan in regret.plans if plan.failed is not None]
    return [*wrong_answers, *([f"no time of {listed(failed)}"] if failed else [])]
