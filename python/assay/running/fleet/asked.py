"""Parses `--fleet` and the address of `assay agent`, and checks connection security.

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
from assay.model.units import whole_number
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

_FLEET = re.compile(r"(?:(?P<count>\d{1,9})@)?(?P<address>(?P<scheme>tcp|tls)://.+)")
_ENGINE_HOST = re.compile(r"(?P<name>[^\s:,]+)(?::(?P<pids>[1-9]\d{0,8}(?:,[1-9]\d{0,8})*))?")
_PLACE = re.compile(r"(?:\[(?P<six>[0-9a-fA-F:]+)\]|(?P<host>[^\[\]:/@\s]+)):(?P<port>\d{1,5})")


@dataclass(frozen=True)
class Meeting:
    """The address of the Dask scheduler where agents and runs meet.

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
        """The address of the scheduler as Dask writes it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """True if only this host can reach the address."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


@dataclass(frozen=True)
class Fleet:
    """The client hosts that `--fleet` requests.

    Attributes:
        hosts: Number of hosts; None means all that have joined.
        meeting: Address of the meeting place; None means agents that the run starts on this host.
    """

    hosts: int | None
    meeting: Meeting | None


@dataclass(frozen=True)
class EngineHost:
    """The agent that observes the engine on its own host.

    Attributes:
        name: Name of the agent on that host.
        pids: The engine's processes on that host; empty means the process that listens on the
            server's port.
    """

    name: str
    pids: tuple[int, ...] = ()


def parse_fleet(text: str) -> Fleet:
    """Return the fleet requested by `--fleet`: `3`, `tls://HOST:PORT` or `3@tcp://HOST:PORT`.

    Raises:
        UsageError: If the text does not have one of these forms.
    """
    if text.isdecimal():
        hosts = whole_number(text)
        if hosts is None or not 1 <= hosts <= LOCAL_MAX:
            raise UsageError(
                f"--fleet {text}: write a number of local agents between 1 and {LOCAL_MAX}"
            )
        return Fleet(hosts, None)
    match = _FLEET.fullmatch(text)
    if match is None:
        raise UsageError(
            f"--fleet {text}: write the number of agents on this host, or the address that agents"
            " of other hosts connect to, as tls://HOST:PORT or tcp://HOST:PORT, or"
            " 3@tls://HOST:PORT for three of these agents"
        )
    count = match["count"]
    if count is not None and int(count) < 1:
        raise UsageError(f"--fleet {text}: a fleet needs at least one host")
    return Fleet(None if count is None else int(count), parse_meeting(match["address"], "--fleet"))


def parse_meeting(text: str, who: str) -> Meeting:
    """Return the scheduler address in a text such as `tcp://127.0.0.1:8786`.

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
    """Refuse network connections that others could read, unless they are allowed.

    Args:
        meeting: Address of the meeting place.
        tls: Directory with certificates; None if not given.
        prefix: Prefix of the options: `--fleet-` or `--`.
        plain: Whether unencrypted connections are allowed.

    Raises:
        UsageError: If the address contradicts the options.
    """
    if meeting.scheme == ENCRYPTED and tls is None:
        raise UsageError(
            f"the address {meeting.address} needs TLS certificates: name them with {prefix}tls DIR"
        )
    if meeting.scheme == PLAIN and tls is not None:
        raise UsageError(
            f"{prefix}tls: the address {meeting.address} has no TLS: write it as tls://"
        )
    if meeting.scheme == PLAIN and not plain:
        reached = "any account of this host" if meeting.is_loopback else "other hosts"
        raise UsageError(
            f"{meeting.address} can be reached by {reached}, and anybody who reaches an agent "
            f"can run code as its user. Use tls:// with {prefix}tls DIR, or add {prefix}plain "
            "if host and network are yours alone"
        )


def check_fleet(request: RunRequest, workload: Workload, behaviour: Engine) -> None:
    """Refuse several client hosts for runs that only a single driver supports.

    Raises:
        UsageError: If the run does not support a fleet. The error message says what to change.
    """
    if request.fleet is None:
        return
    if not isinstance(behaviour, SharesSessions):
        raise UsageError(
            f"--fleet: {request.engine} can be driven from one host only, because it runs "
            "within the driver or behind a bridge on this host: choose a server such as "
            "postgresql or mysql"
        )
    if workload.facts.sequence is not None:
        raise UsageError(
            f"--fleet: each client of {workload.facts.name} runs all operations in a fixed "
            "order, which only a single host can count: remove --fleet"
        )
    for option, is_asked in (
        ("--kill", request.kill_s is not None),
        ("--copies", request.copies > 0),
        ("--slow", bool(request.slow)),
    ):
        if is_asked:
            raise UsageError(f"--fleet and {option} cannot be combined: remove one of the two")
    asked = parse_fleet(request.fleet)
    if asked.meeting is not None and "client" in request.pin:
        raise UsageError(
            "--pin client applies to this host, and the clients of a fleet run on other hosts: "
            "remove client="
        )
    split(request.clients or 1, asked.hosts or 1)
    _check_engine_host(request)


def _check_engine_host(request: RunRequest) -> None:
    if request.engine_host is None:
        return
    if request.dsn is None:
        raise UsageError(
            "--engine-host: a private engine runs on this host, like the probes: name a server "
            "on another host with --dsn, or remove --engine-host"
        )
    if request.block_trace:
        raise UsageError(
            "--engine-host and --block-trace: Assay traces block requests on this host only: "
            "remove one of the two"
        )


def tls_directory(text: str, prefix: str) -> Path:
    """Return the directory of TLS certificates after checking that it is complete.

    Raises:
        UsageError: If a file cannot be read.
    """
    directory = Path(text).expanduser().absolute()
    for name in TLS_FILES:
        if not os.access(directory / name, os.R_OK):
            raise UsageError(
                f"{prefix}tls {text}: {name} is missing or cannot be read; the folder needs "
                f"{', '.join(TLS_FILES)} (see docs/guides/fleet.md)"
            )
    return directory


def security(tls: Path | None) -> Security:
    """Return the security of Dask's connections, with certificates for both ends."""
    from distributed.security import Security

    if tls is None:
        return Security(require_encryption=False)
    ca, cert, key = (str(tls / name) for name in TLS_FILES)
    role_files: dict[str, Any] = {}
    for role in ("scheduler", "worker", "client"):
        role_files |= {f"tls_{role}_cert": cert, f"tls_{role}_key": key}
    return Security(require_encryption=True, tls_ca_file=ca, **role_files)
