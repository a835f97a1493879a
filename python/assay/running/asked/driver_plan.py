"""Makes the driver's load plan from a request: operations, phases, clients and rates."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay.model.units import NS_PER_S
from assay.record.layout import PHASE_AFTER, PHASE_BEFORE, PHASE_MEASURED, PHASE_WARMUP
from assay.running.asked.parsing import STATE_HOT
from assay.workloads.facts import AS_CHECK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.running.asked.request import RunRequest
    from assay.workloads.captured.writing import Recorded

# Maximum number of distinct results of an operation that are kept as rows.
RESULTS_KEPT = 8
# Key of a phase whose executions have individual due times.
DUES = "dues"
# Seconds until the next reading of the counters is complete: one interval, and a slow reading.
READ_WITHIN_S = 2.5
# Maximum number of sessions per driver thread, for protocols in which sessions can share one. An
# operation costs the driver some microseconds, so such a thread is far from busy.
SESSIONS_PER_WORKER = 32


@dataclass(frozen=True)
class Mix:
    """Rules for executing a workload's mix of operations, apart from its weights.

    Attributes:
        before: Operations that are executed once before the first phase, if the state is hot.
        deck: Whether operations are drawn from a deck in which weights are numbers of cards.
        in_order: Whether each client executes the operations in order, instead of drawing them.
        checks: Operations with fixed values that are executed once to check their answers.
        waits: Keying time and mean think time in seconds, by operation; empty means no waits.
        recorded: Recorded executions that begin at their recorded times; empty means none.
    """

    before: Sequence[str] = ()
    deck: bool = False
    in_order: bool = False
    checks: Sequence[str] = ()
    waits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    recorded: Sequence[Recorded] = ()


def driver_plan(
    request: RunRequest,
    order: Sequence[str],
    weights: Mapping[str, int],
    after: Sequence[str] = (),
    mix: Mix = Mix(),
) -> dict[str, Any]:
    """Return the driver's load plan for a request.

    Without clients the plan is the power order: untimed, checked passes as the state requires, then
    timed ones. With clients the plan is a mix of the operations, drawn by their weights. If the
    state is hot, operations of `mix.before` and `mix.checks` are executed once before, because they
    warm the caches. Operations of `after` are executed once at the end. If the state is not hot,
    checks follow at the end, but only if every operation of the load has a check. Another operation
    might have changed the data.
    """
    if request.forced:
        return plan_of(request, list(request.forced), _forced(request))
    operations = list(dict.fromkeys((*order, *mix.before, *after, *mix.checks)))

    def once(phase: str, names: Sequence[str]) -> list[dict[str, Any]]:
        power = {"arrival": {"shape": "power"}, "passes_min": 1, "memory": True}
        numbers = [operations.index(name) for name in names]
        return [{"name": phase, "operations": numbers, **power}] if numbers else []

    phases = (
        _passes(request, [operations.index(name) for name in order])
        if request.clients is None
        else _mix(request, _drawn(order, weights, operations, mix), operations, mix)
    )
    hot = request.state == STATE_HOT
    before = (*mix.before, *mix.checks) if hot else ()
    checked_after = not hot and {f"{name}{AS_CHECK}" for name in order} <= set(mix.checks)
    if checked_after:
        after = (*after, *mix.checks)
    # A killed engine cannot answer, so these operations are executed after its recovery.
    killed = request.kill_s is not None
    ended = once(PHASE_AFTER, () if killed else after)
    if checked_after:
        ended = [_later(phase, len(operations)) for phase in ended]
    phases = [*once(PHASE_BEFORE, before), *phases, *ended]
    options = {"sessions_per_worker": SESSIONS_PER_WORKER} | (
        {"loses_engine": True} if killed else {}
    )
    return plan_of(request, operations, phases) | options


def _later(phase: Mapping[str, Any], operations: int) -> dict[str, Any]:
    """Return a phase that starts only after the engine's counters were read again.

    Counters are read once a second, so the phase is not part of the measured part's figures.
    """
    waits = [{"keying_ns": 0, "think_mean_ns": 0} for _ in range(operations)]
    waits[phase["operations"][0]]["keying_ns"] = round(READ_WITHIN_S * NS_PER_S)
    closed = {"shape": "closed", "clients": 1}
    return {**phase, "arrival": closed, "in_order": True, "waits": waits, "duration_ns": 0}


def plan_of(
    request: RunRequest, operations: Sequence[str], phases: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return a load plan in which each session has its own thread."""
    return {
        "operations": list(operations),
        "phases": list(phases),
        "seed": request.seed,
        "results_kept": RESULTS_KEPT,
        "operation_deadline_ns": round(request.operation_deadline_s * NS_PER_S),
        "retries_max": request.retries_max,
        "sessions_per_worker": 1,
    }


def steps(plan: Mapping[str, Any]) -> dict[str, tuple[int, int | None]]:
    """Return the number of operations before and in each phase; None in a timed phase."""
    counts: dict[str, tuple[int, int | None]] = {}
    before = 0
    for phase in plan["phases"]:
        orders = phase.get("orders") or [phase["operations"]]
        is_fixed = not any(phase.get(key) for key in ("duration_ns", "steady", "passes_max"))
        own = phase.get("passes_min", 1) * sum(len(order) for order in orders) if is_fixed else None
        counts[phase["name"]] = (before, own)
        before += own or 0
    return counts


def plan_sessions(plan: Mapping[str, Any]) -> int:
    """Return the number of sessions that a load plan needs at once."""
    return max(int(phase["arrival"].get("clients", 1)) for phase in plan["phases"])


def _passes(request: RunRequest, order: list[int]) -> list[dict[str, Any]]:
    arrival = {"shape": "power"}
    common = {"arrival": arrival, "operations": order, "passes_min": 1}
    duration_ns = round(request.min_time_s * NS_PER_S)
    untimed = {"name": PHASE_WARMUP, **common, "passes_min": request.state_passes}
    timed = {"name": PHASE_MEASURED, **common, "duration_ns": duration_ns, "memory": True}
    return [untimed, timed] if request.state_passes > 0 else [timed]


def _forced(request: RunRequest) -> list[dict[str, Any]]:
    """Return phases whose rounds execute each forced plan once, in random orders.

    Every second round has the reverse order of the one before. With several rounds, each text is
    first executed once untimed.
    """
    if request.rounds == 0:
        return _passes(request, [0])
    drawn = random.Random(request.seed)  # noqa: S311 - an order, not a secret
    numbers = list(range(len(request.forced)))
    played: list[int] = []
    for number in range(request.rounds):
        numbers = numbers[::-1] if number % 2 else drawn.sample(numbers, len(numbers))
        played += numbers
    untimed = numbers if request.rounds > 1 else [0]
    power = {"arrival": {"shape": "power"}, "passes_min": 1}
    return [
        {"name": PHASE_WARMUP, "operations": untimed, **power},
        {"name": PHASE_MEASURED, "operations": played, **power},
    ]


def _drawn(
    order: Sequence[str], weights: Mapping[str, int], operations: Sequence[str], mix: Mix
) -> dict[str, Any]:
    """Return the operations that clients draw at random, or execute in a fixed order."""
    if mix.in_order:
        return {"operations": [operations.index(name) for name in order], "in_order": True}
    names = list(dict.fromkeys(order))
    drawn = {"operations": list(range(len(names))), "weights": [weights[name] for name in names]}
    return drawn | ({"deck": True} if mix.deck else {})


def _span(mixes: int | None, seconds: float, most: int | None = None) -> dict[str, Any]:
    """Return the length of a load: a number of query mixes, a maximum, or a duration."""
    if mixes is not None:
        beyond = {} if most is None else {"passes_max": most}
        return {"passes_min": mixes, **beyond, "duration_ns": 0}
    return {"duration_ns": round(seconds * NS_PER_S)}


def _as_recorded(request: RunRequest, operations: Sequence[str], mix: Mix) -> dict[str, Any]:
    """Return a load that replays executions at their recorded times."""
    numbers = {name: number for number, name in enumerate(operations)}
    dues = [
        [round(recorded.at_ns / request.speed), numbers[recorded.operation], recorded.row]
        for recorded in mix.recorded
        if recorded.at_ns < request.time_s * request.speed * NS_PER_S
    ]
    rate = {"shape": "open", "rate_per_s": len(dues) / request.time_s, "clients": request.clients}
    return {"arrival": rate, DUES: dues}


def without_dues(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return a load plan without recorded times, which the events have already."""
    phases = [{key: said for key, said in phase.items() if key != DUES} for phase in plan["phases"]]
    return {**plan, "phases": phases}


def _mix(
    request: RunRequest, drawn: dict[str, Any], operations: Sequence[str], mix: Mix
) -> list[dict[str, Any]]:
    """Return the phases of a load: a warm-up at full speed, then the requested load."""
    closed = {"shape": "closed", "clients": request.clients}
    rate = {"shape": "open", "rate_per_s": request.rate_per_s, "clients": request.clients}
    if request.think_time:
        waits = [mix.waits.get(name, (0.0, 0.0)) for name in operations]
        drawn["waits"] = [
            {"keying_ns": round(keying_s * NS_PER_S), "think_mean_ns": round(think_s * NS_PER_S)}
            for keying_s, think_s in waits
        ]
    warmup = {
        "name": PHASE_WARMUP,
        "arrival": closed,
        **drawn,
        **_span(request.warmup_mixes, request.warmup_s),
    }
    measured = {
        "name": PHASE_MEASURED,
        "arrival": closed if request.rate_per_s is None else rate,
        **drawn,
        **_span(request.mixes, request.time_s, request.mixes_max),
    }
    if mix.recorded:
        return [measured | _as_recorded(request, operations, mix)]
    warms = request.warmup_s > 0 if request.warmup_mixes is None else request.warmup_mixes > 0
    return [warmup, measured] if warms else [measured]
