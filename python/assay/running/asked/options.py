"""What a run may be told, and what is understood of it.

The command line and study files are understood by this file alone: a key of a study is a long
option of `assay run` with `_` for `-`. Invariant: whoever adds an option adds a field here.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from assay.analysis.load.steady_state import BATCHES_MIN
from assay.engines.bridge.drivers import is_maven_name
from assay.engines.discovery import find_engines
from assay.engines.durability import LEVELS
from assay.model.errors import UsageError
from assay.model.language import LANGUAGES, SPARQL, SQL, Language
from assay.model.secrets import without_secrets
from assay.model.units import parse_duration_s
from assay.running.asked.conditions import (
    beginning,
    resolved_pin,
    state_default,
    with_buffer,
    with_durability,
    with_techniques_off,
)
from assay.running.asked.order import parse_load_order, parse_sorted
from assay.running.asked.request import PARAMETERS, RunRequest, parse_probes, read_prepare
from assay.running.asked.specified import TESTS
from assay.running.changes.device import parse_device
from assay.running.changes.limits.limit import parse_limits
from assay.running.changes.read_ahead import parse_read_ahead
from assay.running.fleet.asked import check_network, parse_engine_host, parse_fleet, tls_directory
from assay.running.host.slowing import parse_slow
from assay.workloads.discovery import find_workload
from assay.workloads.rules import count_at

if TYPE_CHECKING:
    from collections.abc import Collection

    from assay.workloads.facts import WorkloadFacts

# What a workload is run on where nothing is said, by the language that it prefers.
ENGINE_DEFAULTS: dict[Language, str] = {SQL: "duckdb", SPARQL: "oxigraph"}
# Options that only one of the two kinds of load has a meaning for.
OF_A_MIX = ("time", "warmup", "retries", "think_time", "pipeline", "kill", "copies")
OF_A_SEQUENCE = ("mixes", "warmup_mixes", "until_steady", "mixes_max")
OF_DRAWING = ("rate", "think_time", "kill", "copies")
# Until steady a run goes on to so many times as many mixes as without, and to some of each client.
MIXES_MAX_TIMES, MIXES_MAX_EACH = 10, 100
OF_A_TEST = ("streams", "refresh", "refresh_batches")


def value_text(value: object) -> object:
    """A plain value as the engine's own configuration has it: `true`, `4`, `0.5`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


def listed(value: object) -> object:
    """A list, or the one text that it would have."""
    return (value,) if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(value_text)]
Texts = Annotated[tuple[str, ...], BeforeValidator(listed)]


class RunOptions(BaseModel):
    """Long options of `assay run`, as a person writes them. What is left out has its default."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_by_name=True, validate_by_alias=True
    )

    workload: str | None = Field(None, description="A workload, or a folder of .sql files.")
    engine: str | None = Field(None, description="NAME[@VERSION]; duckdb, or what dsn names.")
    dsn: str | None = Field(None, description="A server that runs already.")
    driver: Texts = Field(
        (), description="With a JDBC address: the driver's jar, or its name in Maven; or several."
    )
    fleet: Text | None = Field(
        None,
        description="Hosts that drive together: a number of agents on this host, or"
        " [N@]tcp://HOST:PORT where agents of others meet.",
    )
    fleet_tls: str | None = Field(
        None, description="With fleet at tls://...: a folder with ca.pem, cert.pem and key.pem."
    )
    fleet_plain: bool = Field(default=False, description="Allow fleet over a network without TLS.")
    engine_host: str | None = Field(
        None,
        description="NAME[:PID,...]: with fleet at an address, the agent that drives nothing, and"
        " has the probes on the engine's host.",
    )
    keep_data: bool = Field(
        default=False, description="With dsn: leave the tables for the next run."
    )
    bin_dir: str | None = Field(None, description="Take the server's programs from this folder.")
    scale: float | None = Field(None, description="Scale of the data; the workload's default.")
    operation: Texts = Field((), description="Operations that are played; without it all are.")
    remove: Texts = Field(
        (), description="Parts that queries are asked without: computation, sort, join:TABLE, ..."
    )
    settings: dict[str, Text] = Field(
        default_factory=dict, alias="set", description="Settings of the engine."
    )
    durability: str | None = Field(
        None,
        description="Level of durability: full, relaxed or none; full where the engine has levels.",
        json_schema_extra={"enum": [*LEVELS, None]},
    )
    without: Texts = Field((), description="Techniques of planner and executor, switched off.")
    sorted_by: Texts = Field(
        (), alias="sorted", description="TABLE=COLUMN,...: rows are sorted before they are loaded."
    )
    load_order: str | None = Field(
        None, description="TABLE,...: tables are loaded one after another; 'rest' are all others."
    )
    prepare: Texts = Field(
        (), description="Files of SQL that changes the loaded data before anything is timed."
    )
    test: str | None = Field(
        None,
        description="A test as the specification has it: power, throughput, full or steady.",
        json_schema_extra={"enum": [*TESTS, None]},
    )
    streams: int | None = Field(None, ge=1, description="Query streams of the throughput test.")
    refresh: bool = Field(default=True, description="Play the refresh functions of a test.")
    refresh_batches: int = Field(
        1, ge=0, description="Transactions of each refresh function; 0: one an order."
    )
    clients: int | None = Field(None, ge=1, description="Sessions that draw from the mix.")
    rate: float | None = Field(None, description="Operations a second that become due.")
    think_time: bool = Field(
        default=False, description="Clients wait around operations as people at terminals do."
    )
    foreign_keys: bool = Field(
        default=False, description="Load the data with the workload's foreign keys."
    )
    pipeline: bool = Field(
        default=False,
        description="Send statements that need no earlier answer before it has come.",
    )
    language: str | None = Field(
        None,
        description="sql or sparql; the first of the workload's that the engine is asked in.",
        json_schema_extra={"enum": [*LANGUAGES, None]},
    )
    mixes: int | None = Field(
        None, ge=1, description="How many mixes are measured, of clients that play in order."
    )
    warmup_mixes: int | None = Field(
        None, ge=0, description="How many mixes are played before those."
    )
    until_steady: bool = Field(
        default=False,
        description="Mixes go on until their throughput and what the engine reads are steady.",
    )
    mixes_max: int | None = Field(
        None, ge=1, description="With until_steady: to how many of them at most."
    )
    time: str = Field("30s", description="How long a mix is measured.")
    warmup: str = Field("5s", description="How long it is played before that.")
    retries: int | None = Field(
        None, ge=0, description="Attempts beyond the first after temporary errors."
    )
    kill: str | None = Field(
        None,
        description="The engine is killed so long after the measured part began, and recovered.",
    )
    min_time: str = Field("20s", description="Passes are repeated for at least this long.")
    parameters: str | None = Field(
        None,
        description="'default' or 'drawn' from the seed; drawn in a test.",
        json_schema_extra={"enum": [*PARAMETERS, None]},
    )
    seed: int = Field(1, ge=0, description="Seed of everything that is drawn.")
    timeout: str = Field("0s", description="An operation that takes longer is cancelled; 0s: none.")
    state: str | None = Field(
        None, description="What is in memory at the start: cold, os-warm, loaded, hot or hot:N."
    )
    allow_host_changes: bool = Field(
        default=False,
        description="Allow what the whole host notices: read_ahead and device, and with state cold"
        " dropping all its caches.",
    )
    buffer: str | None = Field(None, description="Size of the engine's own cache of data.")
    read_ahead: Text | None = Field(
        None, description="Read-ahead of the device that holds the data: 0, 8KiB, 8192KiB."
    )
    device: str | None = Field(
        None, description="own or own:SIZE: the data are on a loop device of this run alone."
    )
    copies: int = Field(
        0,
        ge=0,
        description="How often what reached the device is copied under load, to recover from.",
    )
    limit: dict[str, Text] = Field(
        default_factory=dict,
        description="What the engine may use at most, by name: cpu (cores), cpus, read-iops,"
        " write-iops, read-rate, write-rate, memory.",
    )
    slow: dict[str, Text] = Field(
        default_factory=dict,
        description="How many times as long a resource is to take for the engine: cpu, disk.",
    )
    pin: str | None = Field(
        None, description="CPUs of engine and client, such as engine=0,client=rest."
    )
    probes: str = Field("all", description="Which probes observe: all, none, or their names.")
    probe_interval: str = Field("100ms", description="Time between two samples of a probe.")
    profile: bool = Field(default=False, description="Take CPU samples of the engine.")
    profile_hz: int = Field(499, ge=1, le=10_000, description="Samples a second of CPU time.")
    block_trace: bool = Field(
        default=False, description="Write down every request that block devices are given."
    )
    plans: bool = Field(default=True, description="Ask each operation once more for its plan.")


def option_names() -> list[str]:
    """Keys of a run, as a study has them."""
    return [field.alias or name for name, field in RunOptions.model_fields.items()]


def request_of(options: RunOptions, given: Collection[str], folder: Path = Path()) -> RunRequest:
    """The run that is asked for.

    Args:
        options: All options.
        given: Names of those that were asked for of this very run: they are refused where they
            would do nothing. The others are defaults, for whatever they fit.
        folder: What files and folders are relative to.

    Raises:
        UsageError: If an option has no meaning, or names what is not there.
    """
    if options.workload is None:
        raise UsageError("no workload is named: assay workloads lists those that there are")
    workload = _placed(options.workload, folder)
    facts = find_workload(workload).facts
    preferred = _language(options) or facts.languages[0]
    name, version = _engine(options.engine, options.dsn, preferred)
    mixed = facts.arrival == "closed" or options.clients is not None
    _check_load(options, given, facts.name, mixed=mixed)
    _check_sequence(options, given, facts)
    test = options.test
    own_device, device_bytes = parse_device(options.device)
    begun = beginning(
        given,
        options.state or state_default(name, test=test is not None, dsn=options.dsn),
        mixed=mixed,
    )
    level, of_level = with_durability(name, options.settings, options.durability, options.dsn)
    return RunRequest(
        workload=workload,
        engine=name,
        engine_version=version,
        bin_dir=None if options.bin_dir is None else str((folder / options.bin_dir).absolute()),
        dsn=options.dsn,
        drivers=[_driver(named, folder) for named in options.driver],
        **_fleet(options, folder, mixed=mixed),
        operations=list(dict.fromkeys(options.operation)),
        remove=list(dict.fromkeys(options.remove)),
        keep_data=options.keep_data,
        settings=with_techniques_off(
            name, with_buffer(name, options.settings, options.buffer, options.dsn), options.without
        ),
        durability=level,
        durability_settings=of_level,
        without=list(dict.fromkeys(options.without)),
        prepare=read_prepare(options.prepare, folder),
        sorted_by=parse_sorted(options.sorted_by),
        load_order=parse_load_order(options.load_order),
        pin=resolved_pin(options.pin),
        state=begun.state,
        state_passes=begun.passes,
        allow_host_changes=options.allow_host_changes,
        read_ahead_bytes=parse_read_ahead(options.read_ahead),
        own_device=own_device,
        device_bytes=device_bytes,
        copies=options.copies,
        limits=parse_limits(options.limit),
        slow=parse_slow(options.slow),
        seed=options.seed,
        warmup_s=_duration("--warmup", options.warmup) if begun.is_hot else 0.0,
        min_time_s=_duration("--min-time", options.min_time) if begun.repeats else 0.0,
        **_load(options, given, facts, mixed=mixed),
        **_observed(options),
    )


def _fleet(options: RunOptions, folder: Path, *, mixed: bool) -> dict[str, Any]:
    """Who drives, where it is more than one host."""
    if options.fleet is None:
        for name in ("fleet_tls", "fleet_plain", "engine_host"):
            if getattr(options, name):
                raise UsageError(f"--{name.replace('_', '-')} is of a fleet: say --fleet, too")
        return {}
    if not mixed or options.test is not None:
        raise UsageError(
            "--fleet: an order is played by one client; add --clients N to play it as a mix, or"
            " leave --fleet out"
        )
    tls = options.fleet_tls
    asked = parse_fleet(options.fleet)
    if asked.meeting is not None:
        check_network(asked.meeting, tls, "--fleet-", plain=options.fleet_plain)
    elif tls is not None or options.fleet_plain:
        raise UsageError(
            "--fleet: agents of our own are on loopback; name no --fleet-tls or -plain"
        )
    elif options.engine_host is not None:
        raise UsageError(
            "--engine-host: agents of our own are on this host; name the place where the agent on"
            " the engine's host has joined, as --fleet tcp://HOST:PORT"
        )
    parse_engine_host(options.engine_host)
    if tls is not None:
        tls = str(tls_directory(str(folder / Path(tls).expanduser()), "--fleet-"))
    return {
        "fleet": options.fleet,
        "fleet_tls": tls,
        "fleet_plain": options.fleet_plain,
        "engine_host": options.engine_host,
    }


def _load(
    options: RunOptions, given: Collection[str], facts: WorkloadFacts, *, mixed: bool
) -> dict[str, Any]:
    """What is played, of how much data."""
    test, rate = options.test, options.rate
    told = options.scale
    scale = facts.scale_default if told is None else _above_zero("--scale", told)
    parameters = options.parameters or PARAMETERS[test is not None]
    return {
        "scale": scale,
        "parameters": _one_of("--parameters", parameters, PARAMETERS),
        "test": None if test is None else _one_of("--test", test, TESTS),
        "streams": options.streams,
        "refresh": options.refresh,
        "refresh_batches": options.refresh_batches,
        "clients": options.clients or _clients(options, facts, scale, mixed=mixed),
        "rate_per_s": _above_zero("--rate", rate) if mixed and rate is not None else None,
        "think_time": mixed and options.think_time,
        "foreign_keys": options.foreign_keys,
        "pipeline": mixed and options.pipeline,
        "language": _language(options),
        **_mixes(options, facts, given),
        "time_s": _above_zero("--time", _duration("--time", options.time)),
        "kill_s": _kill(options),
        "retries_max": _retries(options, facts, mixed=mixed),
        "operation_deadline_s": _duration("--timeout", options.timeout),
    }


def _mixes(
    options: RunOptions, facts: WorkloadFacts, given: Collection[str]
) -> dict[str, int | None]:
    """How many mixes are played: as many as the manifest says, unless a time is asked for."""
    told = facts.sequence
    if told is None or options.test is not None:
        return {}
    mixes = options.mixes or (None if "time" in given else told.mixes)
    warmup = options.warmup_mixes
    if warmup is None and "warmup" not in given:
        warmup = told.warmup
    return {
        "mixes": mixes,
        "warmup_mixes": warmup,
        "mixes_max": _mixes_max(options, mixes or told.mixes) if options.until_steady else None,
    }


def _mixes_max(options: RunOptions, mixes: int) -> int:
    """How many mixes a run plays at most that goes on until they are steady."""
    clients = options.clients or 1
    most = options.mixes_max or max(MIXES_MAX_TIMES * mixes, MIXES_MAX_EACH * clients)
    needed = BATCHES_MIN * clients
    if most < max(mixes, needed):
        least = f"--mixes {mixes} is more" if most < mixes else ""
        few = f"with {clients} client{'s' * (clients > 1)} it takes {needed} to say anything"
        raise UsageError(f"--mixes-max {most}: {least or few}; say a larger number")
    return most


def _clients(options: RunOptions, facts: WorkloadFacts, scale: float, *, mixed: bool) -> int | None:
    """How many where no number is asked for: one, or with waits all terminals."""
    if options.think_time and facts.terminals is not None:
        return count_at(facts.terminals, scale)
    return 1 if mixed else None


def _kill(options: RunOptions) -> float | None:
    if options.kill is None:
        return None
    return _above_zero("--kill", _duration("--kill", options.kill))


def _retries(options: RunOptions, facts: WorkloadFacts, *, mixed: bool) -> int:
    """As often as is asked for; else, of a mix, as its manifest says."""
    if options.retries is not None:
        return options.retries
    return facts.retries if mixed else 0


def _observed(options: RunOptions) -> dict[str, Any]:
    """Who looks on."""
    return {
        "probes": parse_probes(options.probes),
        "probe_interval_s": _interval(options.probe_interval),
        "profile_hz": options.profile_hz if options.profile else None,
        "block_trace": options.block_trace,
        "plans": options.plans,
    }


def _placed(workload: str, folder: Path) -> str:
    """A workload's folder, from where the command runs; a name stays as it is."""
    from assay.workloads.discovery import find_workloads

    if folder == Path():
        return workload
    beside = (folder / workload).is_dir() and workload not in find_workloads()
    if "/" not in workload and not beside:
        return workload
    return str((folder / Path(workload).expanduser()).absolute())


def _driver(named: str, folder: Path) -> str:
    """A driver's file, from where the command runs; what Maven calls it stays as it is."""
    return named if is_maven_name(named) else str((folder / named).absolute())


def _check_load(options: RunOptions, given: Collection[str], workload: str, *, mixed: bool) -> None:
    """Refuses options that would do nothing; defaults are for whatever they fit."""
    if options.test is not None:
        _check_beside_test(options, given)
    else:
        for name in OF_A_TEST:
            if name in given:
                raise UsageError(f"{_as_given(options, name)} is of a test: say --test, too")
    if mixed:
        if "min_time" in given:
            raise UsageError(
                f"--min-time is of an order that is repeated; {workload} is played as a mix here:"
                " say --time"
            )
        return
    for name in ("rate", *OF_A_MIX):
        if name in given:
            raise UsageError(
                f"--{name.replace('_', '-')} is of a mix; {workload} is played in its order here:"
                " add --clients N to play it as a mix, or say --min-time"
            )


def _check_sequence(options: RunOptions, given: Collection[str], facts: WorkloadFacts) -> None:
    """Refuses numbers of mixes where nobody plays in order, and what goes with drawing there."""
    if facts.sequence is None:
        for name in OF_A_SEQUENCE:
            if name in given:
                raise UsageError(
                    f"{_as_given(options, name)} is of clients that play an order by themselves,"
                    f" and {facts.name} has no [sequence]: say --time or --warmup"
                )
        return
    for name in OF_DRAWING:
        if name in given:
            raise UsageError(
                f"{_as_given(options, name)}: clients of {facts.name} play its order by themselves,"
                " each query when the one before was answered: leave it out"
            )
    if options.mixes_max is not None and not options.until_steady:
        raise UsageError(
            "--mixes-max is of a run that goes on until it is steady: say --until-steady, too"
        )
    if options.until_steady and "time" in given:
        raise UsageError(
            "--until-steady and --time: such a run ends by its mixes; say --mixes and --mixes-max"
        )
    for name, instead in (("time", "mixes"), ("warmup", "warmup_mixes")):
        if name in given and instead in given:
            raise UsageError(
                f"--{name} and --{instead.replace('_', '-')}: a part of a run ends by one of them;"
                " leave the other out"
            )


def _check_beside_test(options: RunOptions, given: Collection[str]) -> None:
    """Refuses what a test leaves no room for."""
    if "clients" in given:
        raise UsageError(
            "--test and --clients: with clients it is played as a mix, and a test plays orders;"
            " leave one of the two out"
        )
    for name, told in (("operation", options.operation), ("remove", options.remove)):
        if told:
            raise UsageError(
                f"--test and --{name}: a test plays what its specification has; leave one of the"
                " two out"
            )
    for name in ("min_time", "rate", *OF_A_MIX):
        if name in given:
            raise UsageError(
                f"--test and --{name.replace('_', '-')}: a test is of as many operations as it has;"
                " leave one of the two out"
            )


def _as_given(options: RunOptions, name: str) -> str:
    """An option as it stands on the command line."""
    denied = getattr(options, name) is False
    return f"--{'no-' if denied else ''}{name.replace('_', '-')}"


def _engine(given: str | None, dsn: str | None, language: Language) -> tuple[str, str | None]:
    """Name and version of the engine: as given, or the one that speaks the scheme of the DSN."""
    if given is not None:
        name, _, version = given.partition("@")
        if dsn is not None and version:
            raise UsageError(f"--engine {given}: a running server has the version that it has")
        return name, version or None
    if dsn is None:
        return ENGINE_DEFAULTS[language], None
    speaking = [
        (len(scheme), name)
        for name, found in find_engines().items()
        for scheme in found.facts.schemes
        if dsn.startswith(f"{scheme}:")
    ]
    if not speaking:
        raise UsageError(
            f"no engine speaks the scheme of --dsn {without_secrets(dsn)}: write it as"
            " postgresql://user@host/database, or name the --engine"
        )
    # Of `jdbc:` and the same for one product, the longer one says more.
    return max(speaking)[1], None


def _above_zero(option: str, number: float) -> float:
    if not 0 < number < float("inf"):
        raise UsageError(f"{option} {number:g}: it must be above 0")
    return number


def _duration(option: str, text: str) -> float:
    try:
        return parse_duration_s(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}; write it like 30s, 1.5m or 200ms") from error


def _interval(text: str) -> float:
    interval_s = _duration("--probe-interval", text)
    if not 0.001 <= interval_s <= 60:  # noqa: PLR2004 - a range of sense, told in the message
        raise UsageError(f"--probe-interval {text}: between 1ms and 60s")
    return interval_s


def _language(options: RunOptions) -> Language | None:
    """The language that is asked for by name."""
    for known in LANGUAGES:
        if known == options.language:
            return known
    if options.language is not None:
        raise UsageError(f"--language {options.language}: one of {', '.join(LANGUAGES)}")
    return None


def _one_of(option: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise UsageError(f"{option} {value}: one of {', '.join(known)}")
    return value
