"""Reads the options of `assay observe` into a request."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from assay.engines.contract import Server
from assay.engines.discovery import find_engine, find_engines
from assay.engines.watching import WatchesStatements
from assay.model.errors import UsageError
from assay.record.layout import KIND_OBSERVED
from assay.running.asked.agent_options import EngineHostName, FleetPlain, FleetTls
from assay.running.asked.declaring import Group, Option, long_name
from assay.running.asked.parsing import above_zero, duration_s, probe_interval_s
from assay.running.asked.request import RunRequest
from assay.running.asked.understanding import engine_of
from assay.running.fleet.asked import (
    check_network,
    parse_engine_host,
    parse_fleet,
    tls_directory,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Engine
    from assay.engines.discovery import EngineFolder

TIME_DEFAULT = "60s"


class ObserveOptions(BaseModel):
    """All options of `assay observe`, as a user writes them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dsn: Annotated[
        str | None,
        Option(
            Group.SERVER,
            "Address of the running server, such as postgresql://user@host/database.",
            "ADDRESS",
        ),
    ] = None
    engine: Annotated[
        str | None,
        Option(
            Group.SERVER,
            "Engine of the running server [default: the engine that --dsn names].",
            "NAME",
        ),
    ] = None
    fleet: Annotated[
        str | None,
        Option(
            Group.SERVER,
            "Address that the agent on the server's host connects to: tls://HOST:PORT (needs"
            " --fleet-tls) or tcp://HOST:PORT (needs --fleet-plain); see `assay agent`.",
            "tls://HOST:PORT",
        ),
    ] = None
    fleet_plain: FleetPlain = False
    fleet_tls: FleetTls = None
    engine_host: EngineHostName = None
    time: Annotated[
        str | None,
        Option(Group.OBSERVATION, "How long to observe [default: 60s].", "TIME"),
    ] = None
    until_stopped: Annotated[
        bool,
        Option(Group.OBSERVATION, "Observe until Ctrl-C, instead of --time."),
    ] = False
    probe_interval: Annotated[
        str,
        Option(Group.OBSERVATION, "Time between two samples of the server.", "TIME"),
    ] = "100ms"
    plans: Annotated[
        bool,
        Option(
            Group.OBSERVATION,
            "After the observation, capture the plans of the statements that took most of the"
            " time, without executing them.",
        ),
    ] = True


@dataclass(frozen=True)
class Observation:
    """An observation that is ready to execute.

    Attributes:
        request: Observation in the form of a run's request, for the record.
        engine: The folder of the server's engine.
        behaviour: The engine's own code.
        dsn: DSN of the server.
        time_s: Length of the observation in seconds; None means until it is stopped.
    """

    request: RunRequest
    engine: EngineFolder
    behaviour: Engine
    dsn: str
    time_s: float | None

    def facts(self, version: str) -> dict[str, Any]:
        """The facts that run.json of an observation has from its creation on."""
        engine = self.engine.facts
        return {
            "kind": KIND_OBSERVED,
            "request": self.request.facts(),
            "workload": {
                "name": KIND_OBSERVED,
                "title": "Statements of others",
                "legal": None,
                "scale_name": "",
                "operation_titles": {},
            },
            "engine": {
                "name": engine.name,
                "title": engine.title,
                "kind": engine.kind,
                "session": None,
                "language": None,
                "version": version,
                "answers": engine.answers,
                "counters": self.engine.counters(),
                "operations": self.engine.operations(),
                "advice": self.engine.advice(),
                "knobs": self.engine.knobs().model_dump(),
                "waits": self.engine.waits(),
            },
            "plan": {"phases": [], "operations": []},
            "statements": {},
        }


def observe_options(values: Mapping[str, Any]) -> ObserveOptions:
    """Return the options of `assay observe` from a dictionary of values.

    Raises `UsageError` for an unknown option.
    """
    try:
        return ObserveOptions(**values)
    except ValidationError as error:
        first = error.errors()[0]
        name = long_name(str(first["loc"][0]))
        raise UsageError(f"{name}: {first['msg'].lower()}; see assay observe --help") from None


def observation_of(options: ObserveOptions) -> Observation:
    """Return the requested observation, without contacting the server.

    Raises:
        UsageError: If an option has no meaning, or the engine cannot be observed.
    """
    if options.dsn is None:
        raise UsageError(
            "no server is named: add --dsn postgresql://user@host/database, or use `assay "
            "run`, which starts a server"
        )
    if options.until_stopped and options.time is not None:
        raise UsageError("--time and --until-stopped contradict each other: remove one of the two")
    name, _ = engine_of(options.engine, options.dsn)
    engine = find_engine(name)
    behaviour = engine.engine()
    if not (isinstance(behaviour, WatchesStatements) and isinstance(behaviour, Server)):
        raise UsageError(
            f"{engine.facts.title} cannot be observed, because it does not report the "
            f"statements of other clients. {_able()} can be observed. To measure statements of "
            "your own, use assay run"
        )
    time_s = None
    if not options.until_stopped:
        time_s = above_zero("--time", duration_s("--time", options.time or TIME_DEFAULT))
    tls = _checked_agent(options)
    request = RunRequest(
        workload=KIND_OBSERVED,
        engine=name,
        scale=1.0,
        dsn=options.dsn,
        time_s=time_s or 0.0,
        probe_interval_s=probe_interval_s(options.probe_interval),
        plans=options.plans,
        plans_executed=False,
        fleet=options.fleet,
        fleet_tls=tls,
        engine_host=options.engine_host,
    )
    return Observation(request, engine, behaviour, options.dsn, time_s)


def _checked_agent(options: ObserveOptions) -> str | None:
    """Return the folder of TLS certificates for the agent on the server's host.

    Raises:
        UsageError: If the options of the agent contradict each other.
    """
    if options.fleet is None:
        if options.engine_host or options.fleet_plain or options.fleet_tls:
            raise UsageError(
                "--engine-host needs --fleet with the address that the agent has joined, as "
                "tcp://HOST:PORT or tls://HOST:PORT"
            )
        return None
    if options.engine_host is None:
        raise UsageError(
            "--fleet: an observation generates no load: name the agent on the server's host "
            "with --engine-host, or remove --fleet"
        )
    asked = parse_fleet(options.fleet)
    if asked.meeting is None or asked.hosts is not None:
        raise UsageError(
            f"--fleet {options.fleet}: write the address that the agent on the server's host "
            "has joined, as tcp://HOST:PORT or tls://HOST:PORT"
        )
    check_network(asked.meeting, options.fleet_tls, "--fleet-", plain=options.fleet_plain)
    parse_engine_host(options.engine_host)
    if options.fleet_tls is None:
        return None
    return str(tls_directory(str(Path(options.fleet_tls).expanduser()), "--fleet-"))


def _able() -> str:
    able = [
        folder.facts.title
        for folder in find_engines().values()
        if folder.facts.kind == "server" and isinstance(folder.engine(), WatchesStatements)
    ]
    return f"{', '.join(able[:-1])} and {able[-1]}" if len(able) > 1 else "".join(able)
