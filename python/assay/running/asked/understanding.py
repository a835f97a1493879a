"""Converts the options of a run to the request that is executed.

Both the command line and study files use only this module for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.analysis.load.steady_state import BATCHES_MIN
from assay.engines.bridge.drivers import is_maven_name
from assay.engines.discovery import find_engines
from assay.model.errors import UsageError
from assay.model.language import LANGUAGES, SPARQL, SQL, Language
from assay.model.secrets import without_secrets
from assay.running.asked.conditions import (
    beginning,
    resolved_pin,
    state_default,
    with_buffer,
    with_durability,
    with_techniques_off,
)
from assay.running.asked.declaring import long_name
from assay.running.asked.order import parse_load_order, parse_sorted
from assay.running.asked.parsing import (
    PARAMETERS,
    above_zero,
    duration_s,
    parse_probes,
    probe_interval_s,
    rate_per_s,
    read_prepare,
)
from assay.running.asked.plain_options import PlainOptions
from assay.running.asked.refusing import refuse_unknown, refuse_useless
from assay.running.asked.request import GivenAgain, RunRequest
from assay.running.changes.device import parse_device
from assay.running.changes.limits.limit import parse_limits
from assay.running.changes.read_ahead import parse_read_ahead
from assay.running.fleet.asked import check_network, parse_engine_host, parse_fleet, tls_directory
from assay.running.host.slowing import parse_slow
from assay.workloads.discovery import find_workload
from assay.workloads.rules import count_at

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from assay.running.asked.options import RunOptions
    from assay.workloads.facts import WorkloadFacts

# Default engine of a workload, by its preferred language.
ENGINE_DEFAULTS: dict[Language, str] = {SQL: "duckdb", SPARQL: "oxigraph"}
# Maximum number of mixes of a run until steady: this multiple of the usual number, and at least
# this many per client.
MIXES_MAX_TIMES, MIXES_MAX_EACH = 10, 100
# Recorded executions without any duration are measured for this long.
RECORDED_MIN_S = 0.001


def request_of(options: RunOptions, given: Collection[str], folder: Path = Path()) -> RunRequest:
    """Return the parsed request of a run from its options.

    Args:
        options: Values of all options.
        given: Names of the options given for this run, which are refused if they have no effect.
            The other options are defaults, which are ignored if they have no effect.
        folder: Folder to which paths of files and folders are relative.

    Raises:
        UsageError: If an option has no meaning, or names something that does not exist.
    """
    if options.workload is None:
        raise UsageError("no workload is named: `assay workloads` lists all workloads")
    workload = _placed(options.workload, folder)
    facts = find_workload(workload).facts
    mixed = facts.arrival == "closed" or options.clients is not None
    refuse_useless(options, given, facts, mixed=mixed)
    language = next((name for name in LANGUAGES if name == options.language), None)
    engine, version = engine_of(options.engine, options.dsn, language or facts.languages[0])
    scale = facts.scale_default if options.scale is None else options.scale
    understood = {
        **{name: getattr(options, name) for name in PlainOptions.model_fields},
        "workload": workload,
        "engine": engine,
        "engine_version": version,
        "language": language,
        "scale": above_zero("--scale", scale),
        "fleet_tls": _fleet_tls(options, folder, mixed=mixed),
        **_server(options, engine, folder),
        **_data(options, folder),
        **_load(options, given, facts, mixed=mixed),
        **_times(options, given, engine, facts, mixed=mixed),
        **_looks(options),
    }
    # The engine's own error about levels and techniques is more precise for a wrong name.
    refuse_unknown(options)
    return RunRequest(**understood)


def _server(options: RunOptions, engine: str, folder: Path) -> dict[str, Any]:
    """Return the part of a request on the engine's server, settings and resource limits."""
    level, of_level = with_durability(engine, options.settings, options.durability, options.dsn)
    settings = with_buffer(engine, options.settings, options.buffer, options.dsn)
    return {
        "bin_dir": None if options.bin_dir is None else str((folder / options.bin_dir).absolute()),
        "drivers": [_driver(named, folder) for named in options.driver],
        "settings": with_techniques_off(engine, settings, options.without),
        "durability": level,
        "durability_settings": of_level,
        "without": list(dict.fromkeys(options.without)),
        "pin": resolved_pin(options.pin),
        "limits": parse_limits(options.limit),
        "slow": parse_slow(options.slow),
    }


def _data(options: RunOptions, folder: Path) -> dict[str, Any]:
    """Return the part of a request on how data are loaded and changed, and on which device."""
    own_device, device_bytes = parse_device(options.device)
    return {
        "sorted_by": parse_sorted(options.sorted_by),
        "load_order": parse_load_order(options.load_order),
        "prepare": read_prepare(options.prepare, folder),
        "own_device": own_device,
        "device_bytes": device_bytes,
        "read_ahead_bytes": parse_read_ahead(options.read_ahead),
    }


def _load(
    options: RunOptions, given: Collection[str], facts: WorkloadFacts, *, mixed: bool
) -> dict[str, Any]:
    """Return the part of a request on the load: operations, clients and rate."""
    rate = options.rate
    return {
        "operations": list(dict.fromkeys(options.operation)),
        "remove": list(dict.fromkeys(options.remove)),
        "parameters": options.parameters or PARAMETERS[options.test is not None],
        "clients": options.clients or _clients(options, facts, mixed=mixed),
        **_recorded(options, given, facts, mixed=mixed),
        "rate_per_s": rate_per_s(rate) if mixed and rate is not None else None,
        "think_time": mixed and options.think_time,
        "pipeline": mixed and options.pipeline,
        "retries_max": _retries(options, facts, mixed=mixed),
        **_mixes(options, facts, given),
    }


def _times(
    options: RunOptions,
    given: Collection[str],
    engine: str,
    facts: WorkloadFacts,
    *,
    mixed: bool,
) -> dict[str, Any]:
    """Return the part of a request on the cache state, and the length of each phase."""
    default = state_default(engine, test=options.test is not None, dsn=options.dsn)
    begun = beginning(given, options.state or default, mixed=mixed)
    return {
        "state": begun.state,
        "state_passes": begun.passes,
        "warmup_s": duration_s("--warmup", options.warmup)
        if begun.is_hot and not options.as_recorded
        else 0.0,
        "min_time_s": duration_s("--min-time", options.min_time) if begun.repeats else 0.0,
        "time_s": _time_s(options, given, facts),
        "kill_s": _kill(options),
        "operation_deadline_s": duration_s("--timeout", options.timeout),
    }


def _fleet_tls(options: RunOptions, folder: Path, *, mixed: bool) -> str | None:
    """Return the folder of TLS certificates if several hosts drive the load.

    Raises:
        UsageError: If the options of the fleet contradict each other or others.
    """
    if options.fleet is None:
        return None
    if not mixed or options.test is not None:
        raise UsageError(
            "--fleet: without --clients, one client repeats all operations in order, which a "
            "fleet cannot share: add --clients N to run a mix, or remove --fleet"
        )
    tls = options.fleet_tls
    asked = parse_fleet(options.fleet)
    if asked.meeting is not None:
        check_network(asked.meeting, tls, "--fleet-", plain=options.fleet_plain)
    elif tls is not None or options.fleet_plain:
        raise UsageError(
            "--fleet: local agents use the loopback interface: remove --fleet-tls and --fleet-plain"
        )
    elif options.engine_host is not None:
        raise UsageError(
            "--engine-host: --fleet names agents on this host only: write the address that the "
            "agent on the engine's host has joined, as --fleet tcp://HOST:PORT or tls://HOST:PORT"
        )
    parse_engine_host(options.engine_host)
    if tls is None:
        return None
    return str(tls_directory(str(folder / Path(tls).expanduser()), "--fleet-"))


def _mixes(
    options: RunOptions, facts: WorkloadFacts, given: Collection[str]
) -> dict[str, int | None]:
    """Return the number of query mixes: from the manifest, unless a time is requested."""
    sequence = facts.sequence
    if sequence is None or options.test is not None:
        return {"mixes": None, "warmup_mixes": None, "mixes_max": None}
    mixes = options.mixes or (None if "time" in given else sequence.mixes)
    warmup = options.warmup_mixes
    if warmup is None and "warmup" not in given:
        warmup = sequence.warmup
    return {
        "mixes": mixes,
        "warmup_mixes": warmup,
        "mixes_max": _mixes_max(options, mixes or sequence.mixes) if options.until_steady else None,
    }


def _mixes_max(options: RunOptions, mixes: int) -> int:
    """Return the maximum number of query mixes for a run that ends once they are steady."""
    clients = options.clients or 1
    most = options.mixes_max or max(MIXES_MAX_TIMES * mixes, MIXES_MAX_EACH * clients)
    needed = BATCHES_MIN * clients
    if most < max(mixes, needed):
        least = f"--mixes {mixes} is more" if most < mixes else ""
        few = f"with {clients} client{'s' * (clients > 1)} it takes {needed} to say anything"
        raise UsageError(f"--mixes-max {most}: {least or few}; write a larger number")
    return most


def _clients(options: RunOptions, facts: WorkloadFacts, *, mixed: bool) -> int | None:
    """Return the default number of clients: one, or all terminals with think time."""
    if options.think_time and facts.terminals is not None:
        return count_at(facts.terminals, options.scale or facts.scale_default)
    if not mixed:
        return None
    return facts.captured.clients if facts.captured else 1


def _recorded(
    options: RunOptions, given: Collection[str], facts: WorkloadFacts, *, mixed: bool
) -> dict[str, Any]:
    """Return whether a captured schedule is replayed, and at which speed.

    Raises:
        UsageError: If nothing was recorded, or if other options also define the load.
    """
    if not options.as_recorded:
        if options.speed != 1.0 and "speed" in given:
            raise UsageError("--speed applies to recorded times: add --as-recorded, or use --rate")
        return {}
    for name in ("rate", "think_time", "warmup"):
        if name in given:
            raise UsageError(
                f"--as-recorded and {long_name(name)}: the recorded times determine when each "
                "execution begins: remove one of the two"
            )
    if not mixed or facts.captured is None or facts.captured.schedule is None:
        raise UsageError(
            f"--as-recorded: the workload {facts.name} has no recorded times: remove "
            "--as-recorded, or create a workload with `assay capture --log FILE`"
        )
    return {"as_recorded": True, "speed": options.speed}


def _time_s(options: RunOptions, given: Collection[str], facts: WorkloadFacts) -> float:
    """Return the seconds of the measured part under a load."""
    whole = options.as_recorded and facts.captured is not None and "time" not in given
    if whole and facts.captured is not None:
        return max(facts.captured.seconds / options.speed, RECORDED_MIN_S)
    return above_zero("--time", duration_s("--time", options.time))


def _kill(options: RunOptions) -> float | None:
    if options.kill is None:
        return None
    return above_zero("--kill", duration_s("--kill", options.kill))


def _retries(options: RunOptions, facts: WorkloadFacts, *, mixed: bool) -> int:
    """Return the requested number of retries, by default that of the workload's manifest."""
    if options.retries is not None:
        return options.retries
    return facts.retries if mixed else 0


def _looks(options: RunOptions) -> dict[str, Any]:
    """Return the requested probes and their sampling intervals."""
    return {
        "probes": parse_probes(options.probes),
        "probe_interval_s": probe_interval_s(options.probe_interval),
        "profile_hz": options.profile_hz if options.profile else None,
    }


def _placed(workload: str, folder: Path) -> str:
    """Return a workload's folder as an absolute path; a workload's name is unchanged."""
    from assay.workloads.discovery import find_workloads

    if folder == Path():
        return workload
    beside = (folder / workload).is_dir() and workload not in find_workloads()
    if "/" not in workload and not beside:
        return workload
    return str((folder / Path(workload).expanduser()).absolute())


def given_again(
    dsn: str | None = None, bin_dir: str | None = None, drivers: Sequence[str] = ()
) -> GivenAgain:
    """Return options of a recorded run that were given again, as values of a request.

    Args:
        dsn: Value of `--dsn`.
        bin_dir: Value of `--bin-dir`; a relative one starts in the current directory.
        drivers: Values of `--driver`, likewise.
    """
    folder = Path()
    programs = None if bin_dir is None else str((folder / bin_dir).absolute())
    return GivenAgain(dsn, programs, [_driver(named, folder) for named in drivers])


def _driver(named: str, folder: Path) -> str:
    """Return a JDBC driver's file as an absolute path; a Maven name is unchanged."""
    return named if is_maven_name(named) else str((folder / named).absolute())


def engine_of(
    given: str | None, dsn: str | None, language: Language = SQL
) -> tuple[str, str | None]:
    """Return name and version of the engine: as given, or by the scheme of the DSN.

    Raises:
        UsageError: If no engine accepts the address, or a version is requested for a running
            server.
    """
    if given is not None:
        name, separator, version = given.partition("@")
        if separator and not version:
            raise UsageError(
                f"--engine {given}: the version after @ is missing: add it, or remove @ for the "
                "default version"
            )
        if dsn is not None and version:
            raise UsageError(
                f"--engine {given}: --dsn names a running server, so its version"
                f" cannot be chosen: remove @"
            )
        if dsn is not None:
            _check_scheme(name, dsn)
        return name, version or None
    if dsn is None:
        return ENGINE_DEFAULTS[language], None
    speaking = _speaking(dsn)
    if not speaking:
        raise UsageError(
            f"no engine supports the scheme of --dsn {without_secrets(dsn)}: write it as "
            "postgresql://user@host/database, or name the engine with --engine"
        )
    # Of `jdbc:` and `jdbc:` with a product, the longer scheme is more specific.
    return max(speaking)[1], None


def _speaking(dsn: str) -> list[tuple[int, str]]:
    """Return engines that accept the scheme of a DSN, each with the length of the scheme."""
    return [
        (len(scheme), name)
        for name, folder in find_engines().items()
        for scheme in folder.facts.schemes
        if dsn.startswith(f"{scheme}:")
    ]


def _check_scheme(engine: str, dsn: str) -> None:
    """Refuse a DSN whose scheme belongs to another engine than the requested one."""
    engines = find_engines()
    if engine not in engines or not engines[engine].facts.schemes:
        return
    names = [name for _, name in sorted(_speaking(dsn))]
    session = engines[engine].facts.session
    if names and engine not in names and all(engines[n].facts.session != session for n in names):
        title = engines[names[-1]].facts.title
        raise UsageError(
            f"--engine {engine}: the address {without_secrets(dsn)} belongs to {title}: remove "
            f"--engine, or write the address as {engines[engine].facts.schemes[0]}:..."
        )
