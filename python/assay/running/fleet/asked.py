"""Parses `--fleet` and the address of `assay agent`, and checks the security of connections.

Every address is reached with TLS, or by explicit permission.
"""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.engines.contract import SharesSessions
from assay.model.errors import UsageError
from assay.running.fleet.shares import split

if TYPE_CHECKING:
    from distributed.security import Security

    from assay.engines.contract import Engine
    from assay.running.asked.request import RunRequest
    from assay.workloads.contract import Workload

PLAIN, ENCRYPTED = "tcp", "tls"
# Maximum number of local agents: more would only share the same CPUs.
LOCAL_MAX = 64
TLS_FILES = ("ca.pem", "cert.pem", "key.pem")

_FLEET = re.compile(r"(?:(?P<count>\d+)@)?(?P<address>(?P<scheme>tcp|tls)://.+)")
_ENGINE_HOST = re.compile(r"(?P<name>[^\s:,]+)(?::(?P<pids>[1-9]\d*(?:,[1-9]\d*)*))?")
_PLACE = re.compile(r"(?:\[(?P<six>[0-9a-fA-F:]+)\]|(?P<host>[^\[\]:/@\s]+)):(?P<port>\d{1,5})")


@dataclass(frozen=True)
class Meeting:
    """The meeting place of agents and runs: the address of a Dask scheduler.

    Attributes:
        scheme: `tcp` or `tls`.
        host: Name or address of the host.
        port: Port of the meeting place.
    """

    scheme: str
    host: str
    port: int

    @property
    def address(self) -> str:
        """Return the address as Dask writes it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Return True if only this host can reach the address."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


@dataclass(frozen=True)
class Fleet:
    """The requested hosts of a fleet.

    Attributes:
        hosts: Number of hosts; None means all that have joined.
        meeting: Address of the meeting place; None means agents that the run starts on this host.
    """

    hosts: int | None
    meeting: Meeting | None


@dataclass(frozen=True)
class EngineHost:
    """The agent that observes the engine on its host.

    Attributes:
        name: Name of the agent on that host.
        pids: The engine's processes on that host; empty means the process that listens on the
            server's port.
    """

    name: str
    pids: tuple[int, ...] = ()


def parse_fleet(text: str) -> Fleet:
    """Return the fleet requested by `--fleet`: `3`, `tcp://HOST:PORT` or `3@tcp://HOST:PORT`.

    Raises:
        UsageError: If the text does not have one of these forms.
    """
    if text.isdecimal():
        hosts = int(text)
        if not 1 <= hosts <= LOCAL_MAX:
            raise UsageError(f"--fleet {text}: between 1 and {LOCAL_MAX} local agents")
        return Fleet(hosts, None)
    match = _FLEET.fullmatch(text)
    if match is None:
        raise UsageError(
            f"--fleet {text}: write it as a number of agents on this host, or as tcp://HOST:PORT"
            " where agents of other hosts meet, or 3@tcp://HOST:PORT for three of them"
        )
    count = match["count"]
    if count is not None and int(count) < 1:
        raise UsageError(f"--fleet {text}: it takes one host at least")
    return Fleet(None if count is None else int(count), parse_meeting(match["address"], "--fleet"))


def parse_meeting(text: str, who: str) -> Meeting:
    """Return the meeting place at an address such as `tcp://127.0.0.1:8786`.

    Raises:
        UsageError: If the text is not a valid address.
    """
    scheme, _, place = text.partition("://")
    match = _PLACE.fullmatch(place)
    if scheme not in (PLAIN, ENCRYPTED) or match is None or not 0 < int(match["port"]) < 1 << 16:
        raise UsageError(f"{who} {text}: write it as tcp://HOST:PORT or tls://HOST:PORT")
    return Meeting(scheme, match["six"] or match["host"], int(match["port"]))


def parse_engine_host(text: str | None) -> EngineHost | None:
    """Parse `--engine-host`: `db-1`, or `db-1:4711,4712`; None for None.

    Raises:
        UsageError: If the text does not have one of these forms.
    """
    if text is None:
        return None
    match = _ENGINE_HOST.fullmatch(text)
    if match is None:
        raise UsageError(
            f"--engine-host {text}: write it as the name of an agent, or as NAME:PID,... with the"
            " engine's processes on its host"
        )
    pids = match["pids"] or ""
    return EngineHost(match["name"], tuple(int(pid) for pid in pids.split(",") if pid))


def check_network(meeting: Meeting, tls: str | None, prefix: str, *, plain: bool) -> None:
    """Refuse connections that others could read or use, unless they are allowed.

    Args:
        meeting: Address of the meeting place.
        tls: Directory with certificates; None if not given.
        prefix: Prefix of the options: `--fleet-` or `--`.
        plain: Whether unencrypted connections are allowed.

    Raises:
        UsageError: If the address contradicts the options.
    """
    if meeting.scheme == ENCRYPTED and tls is None:
        raise UsageError(f"{meeting.address} takes certificates: name them with {prefix}tls DIR")
    if meeting.scheme == PLAIN and tls is not None:
        raise UsageError(f"{prefix}tls: {meeting.address} is without TLS; write it as tls://")
    if meeting.scheme == PLAIN and not plain:
        reached = "any account of this host" if meeting.is_loopback else "other hosts"
        raise UsageError(
            f"{meeting.address} can be reached by {reached}, and who reaches an agent can run any"
            f" code as its user. Use tls:// with {prefix}tls DIR, or say {prefix}plain where host"
            " and network are yours alone"
        )


def check_fleet(request: RunRequest, workload: Workload, behaviour: Engine) -> None:
    """Refuse a fleet for runs that only a single driver supports.

    Raises:
        UsageError: If the run does not support a fleet. The error message says what to change.
    """
    if request.fleet is None:
        return
    if not isinstance(behaviour, SharesSessions):
        raise UsageError(
            f"--fleet: {request.engine} is driven by one host only, as it lives in the driver, or"
            " is reached by a bridge on this host; choose a server such as postgresql or mysql"
        )
    if workload.facts.sequence is not None:
        raise UsageError(
            f"--fleet: each client of {workload.facts.name} runs all operations in a fixed order,"
            " which one host has to count; leave --fleet out"
        )
    for option, is_asked in (
        ("--kill", request.kill_s is not None),
        ("--copies", request.copies > 0),
        ("--slow", bool(request.slow)),
    ):
        if is_asked:
            raise UsageError(f"--fleet and {option}: leave one of the two out")
    asked = parse_fleet(request.fleet)
    if asked.meeting is not None and "client" in request.pin:
        raise UsageError("--pin client: CPUs are those of this host, and a fleet has its own")
    split(request.clients or 1, asked.hosts or 1)
    _check_engine_host(request)


def _check_engine_host(request: RunRequest) -> None:
    if request.engine_host is None:
        return
    if request.dsn is None:
        raise UsageError(
            "--engine-host: a private engine is on this host, where probes are; name a server that"
            " runs elsewhere with --dsn, or leave --engine-host out"
        )
    if request.block_trace:
        raise UsageError(
            "--engine-host and --block-trace: requests are traced on this host only; leave one of"
            " the two out"
        )


def tls_directory(text: str, prefix: str) -> Path:
    """Return a directory with the certificates that `security` needs.

    Raises:
        UsageError: If a file cannot be read.
    """
    directory = Path(text).expanduser().absolute()
    for name in TLS_FILES:
        if not os.access(directory / name, os.R_OK):
            raise UsageError(
                f"{prefix}tls {text}: {name} is not there or cannot be read; it takes"
                f" {', '.join(TLS_FILES)} (see docs/guides/fleet.md)"
            )
    return directory


def security(tls: Path | None) -> Security:
    """Return the security of Dask's connections; both ends need certificates."""
    from distributed.security import Security

    if tls is None:
        return Security(require_encryption=False)
    ca, cert, key = (str(tls / name) for name in TLS_FILES)
    role_files: dict[str, Any] = {}
    for role in ("scheduler", "worker", "client"):
        role_files |= {f"tls_{role}_cert": cert, f"tls_{role}_key": key}
    return Security(require_encryption=True, tls_ca_file=ca, **role_files)
