"""What is asked for, and the driver's plan that follows from it. Pure: touches nothing."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.model.errors import UsageError
from assay.model.secrets import HIDDEN, is_secret, sql_without_secrets, without_secrets
from assay.model.units import NS_PER_S
from assay.record.layout import PHASE_AFTER, PHASE_BEFORE, PHASE_MEASURED, PHASE_WARMUP
from assay.workloads.facts import AS_CHECK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.model.language import Language

# Distinct results of an operation that are kept as rows.
RESULTS_KEPT = 8
# Counters are read once a second, and a reading may take as long: after this one was made.
READ_WITHIN_S = 2.5
# Sessions that one thread of the driver owns where their protocol lets them share one: an operation
# costs the driver some microseconds, so a thread with this many is far from busy.
SESSIONS_PER_WORKER = 32
PARAMETERS_DEFAULT = "default"
PARAMETERS = (PARAMETERS_DEFAULT, "drawn")
PINNED = ("engine", "client")
PROBES_ALL, PROBES_NONE = "all", "none"
STATE_HOT, STATE_COLD, STATE_OS_WARM, STATE_LOADED = "hot", "cold", "os-warm", "loaded"
STATES = (STATE_HOT, STATE_COLD, STATE_OS_WARM, STATE_LOADED)


@dataclass(frozen=True)
class RunRequest:
    """One run as asked for.

    Attributes:
        workload: Name or folder of the workload.
        engine: Name of the engine.
        engine_version: Which of its versions; None: the engine's default.
        bin_dir: Programs of the engine that are there already; None: they are obtained.
        dsn: A server that runs already; None: one of our own.
        drivers: JDBC drivers that a running server is reached by: files, or names of Maven.
        fleet: Hosts that drive: how many on this host, or where agents of others are met; None:
            one driver on this host.
        fleet_tls: Directory with the certificates that they are reached with; None: without TLS.
        fleet_plain: Whether they may be reached over a network without TLS.
        engine_host: The agent that observes the engine on its host, `NAME[:PID,...]`; None: nobody
            does but we, on this one.
        keep_data: Leave the tables that were made on a running server where they are.
        operations: Those of the workload's order that are played; empty: all.
        remove: Parts that each of them is asked without, see `workloads.rewriting`.
        scale: Scale of the data, in the workload's own measure.
        sorted_by: Columns that the rows of a table are sorted by before they are loaded.
        load_order: Tables in the order in which they are loaded, one after another; `rest` stands
            for those not named, which come last without it. Empty: as suits the engine.
        settings: Settings of the engine that differ from its defaults; on a running server those of
            the sessions.
        without: Techniques of planner and executor that are switched off; their settings are among
            those above.
        durability: The engine's level of durability; None: it has none, or settings are of none.
        durability_settings: Settings of that level that are not among `settings`.
        prepare: SQL that changes the loaded data before anything is timed, by the file's name.
        parameters: `default` (the validation values) or `drawn` from the seed.
        seed: Seed of drawn parameters and of mixes.
        test: One of a specification's tests, see `study.specified`; None: no such test.
        streams: Query streams of its throughput test; None: as many as are asked for at least.
        refresh: Play the workload's refresh functions in it.
        refresh_batches: Transactions of each refresh function; 0: one an order.
        clients: Sessions of a mix; None: the workload's operations one after another.
        rate_per_s: Operations a second that become due; None: as soon as a session is free.
        think_time: Sessions wait around operations as people at terminals do.
        foreign_keys: The data have the foreign keys that the workload names.
        pipeline: Statements that need no earlier answer are sent before it has come.
        language: In which the engine is asked; None: the first of the workload's that it speaks.
        mixes: How many times clients play the order together, where they play it by themselves;
            None: as long as `time_s` says.
        warmup_mixes: How many times before; None: as long as `warmup_s` says.
        mixes_max: They go on after `mixes` until throughput and reads are steady, or to so many;
            None: they do not.
        time_s: How long a mix is measured.
        warmup_s: How long it is played before.
        kill_s: The engine is killed so long after the measured part began, and recovered; None: it
            is not killed.
        retries_max: Attempts beyond the first after an error that the engine calls temporary.
        min_time_s: Passes of the power order are repeated until this much time was measured.
        operation_deadline_s: An operation that takes longer is cancelled; 0: no limit.
        probes: Names of the probes that run; None: all that observe without being asked.
        probe_interval_s: Time between two samples of a probe.
        profile_hz: CPU samples a second of the engine's CPU time; None: none are taken.
        block_trace: Write down every request that block devices are given.
        plans: Ask every operation once with its plan, after the measured part.
        pin: CPUs of `engine` and `client`, where they are given.
        state: What is in memory when the timed part begins: one of `STATES`.
        plans_executed: Execute them then; else their plans have estimates only.
        forced: Texts of one operation that are played in the place of the order, by name such as
            `q09@3`: each its `sql`, `kind` and `words`. The first is as the engine would have it.
        rounds: How often each of these is timed; 0: the first alone, for as long as an order is.
        state_passes: Untimed passes of the power order before the timed ones.
        allow_host_changes: Whether what is asked for may be done by what the whole host notices.
        read_ahead_bytes: Of the device that holds the data; None: as it is.
        own_device: Whether the data are on a device of ours.
        device_bytes: How large it is; None: as the data need.
        copies: How often what reached that device is copied while a mix is measured.
        limits: What the engine may use at most, by `study.changes.limits.limit.NAMES`: cores, CPUs,
            operations a second, bytes a second, bytes.
        slow: How many times as long a resource of `study.slowing.NAMES` is to take for the engine.
    """

    workload: str
    engine: str
    scale: float
    engine_version: str | None = None
    bin_dir: str | None = None
    dsn: str | None = None
    drivers: list[str] = field(default_factory=list)
    fleet: str | None = None
    fleet_tls: str | None = None
    fleet_plain: bool = False
    engine_host: str | None = None
    keep_data: bool = False
    operations: list[str] = field(default_factory=list)
    remove: list[str] = field(default_factory=list)
    sorted_by: dict[str, list[str]] = field(default_factory=dict)
    load_order: list[str] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    without: list[str] = field(default_factory=list)
    durability: str | None = None
    durability_settings: dict[str, str] = field(default_factory=dict)
    prepare: dict[str, str] = field(default_factory=dict)
    parameters: str = PARAMETERS_DEFAULT
    seed: int = 1
    test: str | None = None
    streams: int | None = None
    refresh: bool = True
    refresh_batches: int = 1
    clients: int | None = None
    rate_per_s: float | None = None
    think_time: bool = False
    foreign_keys: bool = False
    pipeline: bool = False
    language: Language | None = None
    mixes: int | None = None
    warmup_mixes: int | None = None
    mixes_max: int | None = None
    time_s: float = 30.0
    warmup_s: float = 5.0
    kill_s: float | None = None
    retries_max: int = 0
    min_time_s: float = 20.0
    operation_deadline_s: float = 0.0
    probes: tuple[str, ...] | None = None
    probe_interval_s: float = 0.1
    profile_hz: int | None = None
    block_trace: bool = False
    plans: bool = True
    plans_executed: bool = True
    forced: dict[str, dict[str, str]] = field(default_factory=dict)
    rounds: int = 0
    pin: dict[str, list[int]] = field(default_factory=dict)
    state: str = STATE_HOT
    state_passes: int = 1
    allow_host_changes: bool = False
    read_ahead_bytes: int | None = None
    own_device: bool = False
    device_bytes: int | None = None
    copies: int = 0
    limits: dict[str, float] = field(default_factory=dict)
    slow: dict[str, float] = field(default_factory=dict)

    @property
    def engine_settings(self) -> dict[str, str]:
        """What an engine of ours is started with beside its defaults."""
        return self.durability_settings | self.settings

    def runs_probe(self, name: str) -> bool:
        """Whether a probe that observes without being asked was not left out."""
        return self.probes is None or name in self.probes

    def facts(self) -> dict[str, Any]:
        """The request as it stands in the record, without secrets."""
        settings = {
            name: HIDDEN if is_secret(name) else without_secrets(value)
            for name, value in self.settings.items()
        }
        dsn = None if self.dsn is None else without_secrets(self.dsn)
        prepare = {name: sql_without_secrets(text) for name, text in self.prepare.items()}
        return asdict(self) | {"settings": settings, "dsn": dsn, "prepare": prepare}


def recorded_request(facts: Mapping[str, Any], dsn: str | None = None) -> RunRequest:
    """The request that a record's facts are of, to be asked for again.

    Args:
        facts: `request` of run.json; what older records lack is as it was then: the default.
        dsn: Of the running server, where one was asked: its password is in no record.

    Raises:
        UsageError: If the record does not tell all that was asked for.
    """
    known = {one.name for one in fields(RunRequest)}
    if strange := sorted(set(facts) - known):
        raise UsageError(f"the run was asked for {strange[0]!r}, which this Assay does not know")
    request = RunRequest(**facts)
    if dsn is not None and request.dsn is None:
        raise UsageError("--dsn: the run was on a server of our own; leave it out")
    request = replace(request, dsn=dsn or request.dsn)
    if request.dsn is not None and HIDDEN in request.dsn:
        raise UsageError("a record holds no password: give the server's address once more, --dsn")
    texts = {**request.settings, **request.prepare}
    if hidden := [name for name, text in texts.items() if HIDDEN in text]:
        raise UsageError(
            f"a record holds no secret, and {hidden[0]!r} had one: ask for a run without it"
        )
    return request


@dataclass(frozen=True)
class Mix:
    """How a workload's mix is played, beside its weights.

    Attributes:
        before: Operations that are played once before the first phase.
        deck: Whether weights are cards of a deck.
        in_order: Whether clients play the order by themselves instead.
        checks: Operations that are played once before, with fixed values.
        waits: Seconds of keying and mean seconds of thinking, by operation; empty: there are none.
    """

    before: Sequence[str] = ()
    deck: bool = False
    in_order: bool = False
    checks: Sequence[str] = ()
    waits: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def driver_plan(
    request: RunRequest,
    order: Sequence[str],
    weights: Mapping[str, int],
    after: Sequence[str] = (),
    mix: Mix = Mix(),
) -> dict[str, Any]:
    """The driver's plan; its keys are explained there.

    Without clients it is the power order: as many untimed, checked passes as the state asks for,
    then timed ones. With clients it is a mix of the operations, drawn by their weights. Operations
    of `mix.before` and `mix.checks` are played once before that where the state is hot, for they
    warm what they read; those of `after` once when it is over. Then checks are, too, that did not
    come before, if no other operation was played: another may have changed what they read.
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
    # A killed engine answers nothing: what is asked after the load is asked when it is recovered.
    killed = request.kill_s is not None
    ended = once(PHASE_AFTER, () if killed else after)
    if checked_after:
        ended = [_later(phase, len(operations)) for phase in ended]
    phases = [*once(PHASE_BEFORE, before), *phases, *ended]
    told = {"sessions_per_worker": SESSIONS_PER_WORKER} | ({"loses_engine": True} if killed else {})
    return plan_of(request, operations, phases) | told


def _later(phase: Mapping[str, Any], operations: int) -> dict[str, Any]:
    """A phase that begins when the engine's counters were read once more, by one session.

    They are read once a second: what it does is in no figure of the part before it.
    """
    waits = [{"keying_ns": 0, "think_mean_ns": 0} for _ in range(operations)]
    waits[phase["operations"][0]]["keying_ns"] = round(READ_WITHIN_S * NS_PER_S)
    closed = {"shape": "closed", "clients": 1}
    return {**phase, "arrival": closed, "in_order": True, "waits": waits, "duration_ns": 0}


def plan_of(
    request: RunRequest, operations: Sequence[str], phases: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """A plan whose sessions have a thread each."""
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
    """By phase: operations of the phases before it, and its own; None where time decides."""
    told: dict[str, tuple[int, int | None]] = {}
    before = 0
    for phase in plan["phases"]:
        orders = phase.get("orders") or [phase["operations"]]
        known = not any(phase.get(key) for key in ("duration_ns", "steady", "passes_max"))
        own = phase.get("passes_min", 1) * sum(len(order) for order in orders) if known else None
        told[phase["name"]] = (before, own)
        before += own or 0
    return told


def plan_sessions(plan: Mapping[str, Any]) -> int:
    """How many sessions a plan needs at once."""
    return max(int(phase["arrival"].get("clients", 1)) for phase in plan["phases"])


def _passes(request: RunRequest, order: list[int]) -> list[dict[str, Any]]:
    arrival = {"shape": "power"}
    one = {"arrival": arrival, "operations": order, "passes_min": 1}
    duration_ns = round(request.min_time_s * NS_PER_S)
    untimed = {"name": PHASE_WARMUP, **one, "passes_min": request.state_passes}
    timed = {"name": PHASE_MEASURED, **one, "duration_ns": duration_ns, "memory": True}
    return [untimed, timed] if request.state_passes > 0 else [timed]


def _forced(request: RunRequest) -> list[dict[str, Any]]:
    """Rounds in which each text has its turn once, in orders that are drawn from the seed.

    Every second round is the one before backwards. Of rounds that are repeated, each text is played
    once untimed before.
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
    """What clients draw from, or play in order."""
    if mix.in_order:
        return {"operations": [operations.index(name) for name in order], "in_order": True}
    names = list(dict.fromkeys(order))
    told = {"operations": list(range(len(names))), "weights": [weights[name] for name in names]}
    return told | ({"deck": True} if mix.deck else {})


def _span(mixes: int | None, seconds: float, most: int | None = None) -> dict[str, Any]:
    """How much of a mix is played: so many times, or until steady to so many, or so long."""
    if mixes is not None:
        beyond = {} if most is None else {"passes_max": most}
        return {"passes_min": mixes, **beyond, "duration_ns": 0}
    return {"duration_ns": round(seconds * NS_PER_S)}


def _mix(
    request: RunRequest, drawn: dict[str, Any], operations: Sequence[str], mix: Mix
) -> list[dict[str, Any]]:
    """A warm-up with as many clients, as fast as they go, and the load that was asked for."""
    closed = {"shape": "closed", "clients": request.clients}
    rate = {"shape": "open", "rate_per_s": request.rate_per_s, "clients": request.clients}
    if request.think_time:
        told = [mix.waits.get(name, (0.0, 0.0)) for name in operations]
        drawn["waits"] = [
            {"keying_ns": round(keying_s * NS_PER_S), "think_mean_ns": round(think_s * NS_PER_S)}
            for keying_s, think_s in told
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
    warms = request.warmup_s > 0 if request.warmup_mixes is None else request.warmup_mixes > 0
    return [warmup, measured] if warms else [measured]


def parse_settings(texts: Sequence[str], option: str = "--set") -> dict[str, str]:
    """Settings from `key=value` texts of an option.

    Raises:
        UsageError: If a text is not of that form or a key is given twice.
    """
    settings: dict[str, str] = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not key.strip():
            raise UsageError(f"{option} {text}: write it as {option} name=value")
        if key.strip() in settings:
            raise UsageError(f"{option} {key.strip()} is given twice")
        settings[key.strip()] = value.strip()
    return settings


def read_prepare(files: Sequence[str], folder: Path = Path()) -> dict[str, str]:
    """Texts of SQL files of a folder by the name that was given, in their order.

    Raises:
        UsageError: If one cannot be read, holds nothing, or is given twice.
    """
    texts: dict[str, str] = {}
    for file in files:
        if file in texts:
            raise UsageError(f"--prepare {file} is given twice")
        try:
            texts[file] = (folder / file).read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise UsageError(f"--prepare {file}: it is not UTF-8 ({error.reason})") from error
        except OSError as error:
            raise UsageError(f"--prepare {file} cannot be read: {error.strerror}") from error
        if not texts[file].strip():
            raise UsageError(f"--prepare {file}: there is no statement in it; leave it out")
    return texts


def parse_state(text: str) -> tuple[str, int]:
    """State and number of untimed passes, from a name of `STATES`, or `hot:3`.

    Raises:
        UsageError: If the text is none of these.
    """
    name, separator, passes = text.partition(":")
    counted = name == STATE_HOT and passes.isdecimal() and int(passes) > 0
    if name not in STATES or (separator and not counted):
        raise UsageError(
            f"--state {text}: one of cold, os-warm, loaded, hot, or hot:N with N passes"
        )
    return name, int(passes) if separator else int(name == STATE_HOT)


def parse_probes(text: str) -> tuple[str, ...] | None:
    """Names of probes from a text such as `system,disks`; None for `all`, nothing for `none`.

    Raises:
        UsageError: If the text has no name, or a name beside `all` or `none`.
    """
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    if names in ((PROBES_ALL,), (PROBES_NONE,)):
        return None if names == (PROBES_ALL,) else ()
    if not all(names) or {PROBES_ALL, PROBES_NONE} & set(names):
        raise UsageError(f"--probes {text}: write it as all, none, or names such as system,disks")
    return names
