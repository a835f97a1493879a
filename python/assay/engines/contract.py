"""Interfaces of an engine: facts in `engine.toml`, behaviour in `engine.py`.

There are two kinds of engines: embedded ones and servers. An `Embedded` engine runs in the driver's
process. A `Server` engine has its own processes, which the run starts through the guardian. Clients
connect to the server's address, just as to a running server.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from assay.model.errors import AssayError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from assay.model.language import Language
    from assay.model.script import Script


class EngineError(AssayError):
    """Error: an engine could not be obtained, configured or started; exit code 1."""


class Tell(Protocol):
    """Interface of a function that receives the progress of a long operation."""

    def __call__(self, phase: str, done: float, expected: float | None, unit: str) -> None:
        """Report that `done` of `expected` units of a phase are complete; None means unknown."""
        ...


def tell_nobody(phase: str, done: float, expected: float | None, unit: str) -> None:
    """Ignore progress reports."""


@dataclass(frozen=True)
class Wanted:
    """The requested product of an engine: its version and source.

    Attributes:
        version: Version after the `@`: `18` or `18.6`; None means the engine's default.
        bin_dir: Directory of existing programs, used instead of downloaded ones.
        cache: Directory of downloaded engines.
    """

    cache: Path
    version: str | None = None
    bin_dir: Path | None = None


@dataclass(frozen=True)
class Product:
    """An installed product of an engine, with its version and directory.

    Attributes:
        version: The full version, as the product reports it.
        home: Directory of the product; None if it is a library of Assay.
        origin: Source of the product for the record: provider, package, checksums.
    """

    version: str
    home: Path | None = None
    origin: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    """The directories and files of one running engine.

    `data` holds the files that must survive a restart.

    `file` is the user's database file, which is used instead of `data`. With `reads_only`, the file
    is opened only for reading.
    """

    data: Path
    scratch: Path
    file: Path | None = None
    reads_only: bool = False


# Address of a server: values that the driver's host receives over its control socket. They may hold
# a password and are never in a command line, a log or the record.
Address = dict[str, Any]


@dataclass
class Instance:
    """A running engine: its settings and its own handle.

    Only the engine itself uses its `handle`.
    """

    settings: Mapping[str, str]
    handle: Any = field(repr=False)
    place: Place | None = None
    address: Address = field(default_factory=dict, repr=False)


class Engine(Protocol):
    """Interface of an engine: how one database product is obtained and queried."""

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """Obtain the engine's product, if it is not installed yet.

        The `EngineError` says how to fix a failure.
        """
        ...

    def effective_settings(self, instance: Instance) -> dict[str, str]:
        """Return the engine's settings in force, without secrets."""
        ...

    def sessions(self, instance: Instance, script: Script, seed: int, clients: int) -> list[object]:
        """Return one session per client for the driver."""
        ...


@runtime_checkable
class SharesSessions(Protocol):
    """Interface of engines whose sessions can be spread over several client hosts."""

    def share_of_sessions(
        self, instance: Instance, script: Script, seed: int, numbers: range
    ) -> list[object]:
        """Return the sessions with the given numbers out of all clients' sessions."""
        ...


@runtime_checkable
class ChoosesServers(Protocol):
    """Interface of engines whose sessions can choose among several running servers."""

    def has_other_servers(self, instance: Instance) -> bool:
        """Return True if sessions can go on with another server when one server ends."""
        ...


@runtime_checkable
class TellsPort(Protocol):
    """Interface of servers that use TCP, so that their processes can be found by port."""

    def port(self, instance: Instance) -> int | None:
        """Return the port of the connection; None if it does not use TCP."""
        ...


@runtime_checkable
class Embedded(Protocol):
    """Interface of engines that run inside the load generator's process, such as DuckDB.

    Starting an instance twice is a programming error.
    """

    def start(self, place: Place, settings: Mapping[str, str]) -> Instance:
        """Start an embedded engine, and return it as a running instance.

        The `EngineError` names a wrong setting and how to fix it.
        """
        ...

    def stop(self, instance: Instance) -> None:
        """Stop an embedded engine."""
        ...


class Launcher(Protocol):
    """Interface that starts processes of a server, which all end with the run.

    If Assay runs as root, programs run as an unprivileged user, who owns the directories given to
    `own`.
    """

    @property
    def scratch(self) -> Path:
        """Return the server's directory for sockets and temporary files."""
        ...

    def own(self, path: Path) -> None:
        """Give a file or a whole directory to the user that programs run as."""
        ...

    def run(self, argv: Sequence[str], env: Mapping[str, str], timeout_s: float) -> None:
        """Run a program of the server until it ends.

        Raises `EngineError` with the program's last output if it fails.
        """
        ...

    def serve(
        self, argv: Sequence[str], env: Mapping[str, str], stop_signal: str, stop_grace_s: float
    ) -> int:
        """Start the server, once per instance, and return its process id."""
        ...

    def serve_node(
        self,
        name: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        stop_signal: str,
        stop_grace_s: float,
    ) -> int:
        """Start one process of a server that has several, and return its process id.

        All processes of the server are followed, metered, limited and stopped together, the last
        one first. The log of the process has the node's name.
        """
        ...

    def attend(self, argv: Sequence[str], env: Mapping[str, str], account: str) -> int:
        """Start a helper process beside the server, such as a bridge, and return its process id.

        The helper's CPU time has its own account, separate from the server's and the driver's. The
        helper's log has the account's name.
        """
        ...

    def last_words(self) -> str | None:
        """Return None while the server and its helpers run, else how one of them ended."""
        ...


@runtime_checkable
class Server(Protocol):
    """Interface of engines that run as servers, including servers that run already."""

    def start(
        self, product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
    ) -> Address:
        """Start a server on a data directory, wait until it answers, and return its address.

        `place` is empty, or in the state after an orderly stop. The `EngineError` says how to fix a
        failure.
        """
        ...

    def address(self, dsn: str) -> Address:
        """Return the address of a running server from its DSN.

        Raises `EngineError` for an invalid DSN.
        """
        ...

    def attach(self, address: Address) -> Instance:
        """Connect to a server for administration.

        Raises:
            EngineError: If the connection fails. The error message distinguishes refusal, wrong
                password and wrong name, each with a remedy.
        """
        ...

    def detach(self, instance: Instance) -> None:
        """Close the administration connection; the server continues."""
        ...

    def version(self, instance: Instance) -> str:
        """Return the server's version, such as `18.6`."""
        ...

    def processes(self, instance: Instance) -> tuple[int, ...]:
        """Return the pids of the server's root processes; empty if it is on another host."""
        ...

    def schema_mark(self, instance: Instance, name: str) -> str | None:
        """Return the note that marks a schema as Assay's; None if the schema does not exist."""
        ...

    def lock_schema(self, instance: Instance, name: str) -> bool:
        """Lock a schema name until `detach`; return False if another run holds the lock."""
        ...

    def make_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Create a schema for Assay's tables on the user's server, with a note that marks it."""
        ...

    def mark_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Change the note that marks a schema as Assay's."""
        ...

    def use_schema(self, instance: Instance, name: str) -> None:
        """Make a schema the default for this connection and for later ones."""
        ...

    def drop_schema(self, instance: Instance, name: str) -> None:
        """Drop a schema with everything in it."""
        ...


@dataclass(frozen=True)
class Node:
    """One node of a cluster: its name, role and host.

    Attributes:
        name: Unique name in the cluster; the object of the node's counters.
        role: Role of the node: coordinator, worker, or both.
        host: Host of the node, as the cluster reports it.
        pids: Root processes of the node on this host; empty if it is on another host.
    """

    name: str
    role: Literal["coordinator", "worker", "both"]
    host: str
    pids: tuple[int, ...] = ()


@runtime_checkable
class Clustered(Protocol):
    """Interface of servers that consist of several cluster nodes.

    The counters of a cluster have source `nodes`, with one object per node.

    `[cluster]` of `counters.toml` maps counters to the names in `docs/reference/record-format.md`.
    """

    def nodes(self, instance: Instance) -> tuple[Node, ...]:
        """Return the current nodes of the cluster, the coordinator first."""
        ...


@runtime_checkable
class Restarts(Protocol):
    """Interface of servers that Assay can restart after a crash while a run continues."""

    def restart(
        self,
        product: Product,
        place: Place,
        settings: Mapping[str, str],
        launcher: Launcher,
        address: Address,
    ) -> None:
        """Restart a crashed server, and wait until it answers at the same address.

        Sessions wait for the restart, so that later operations do not fail. The `EngineError` says
        how to fix a failure.
        """
        ...


@dataclass(frozen=True)
class Bridging:
    """The facts that are needed to start a JDBC bridge.

    Attributes:
        launcher: Starts the bridge process.
        cache: Directory of downloaded products.
        drivers: Requested JDBC drivers, as files or Maven names; empty means the engine's default
            driver.
    """

    launcher: Launcher
    cache: Path
    drivers: tuple[str, ...] = ()


@runtime_checkable
class Bridged(Protocol):
    """Interface of servers that Assay reaches through a JDBC bridge.

    The `start` of a private server also starts its bridge.
    """

    def bridged(self, address: Address, bridging: Bridging) -> Address:
        """Start the JDBC bridge process, and return the address with its socket."""
        ...


@runtime_checkable
class Speaks(Protocol):
    """Interface of servers that start differently for one of their query languages."""

    def speak(self, language: Language) -> None:
        """Choose the query language of servers that are started from now on."""
        ...


@dataclass(frozen=True)
class Cached:
    """The cached pages of one table or index in the engine's own cache.

    Attributes:
        name: The engine's name of the object; empty means all objects together.
        cached_bytes: Bytes of the object in the cache.
        bytes: Size of the object; None if not reported.
    """

    name: str
    cached_bytes: int
    bytes: int | None = None


@runtime_checkable
class TellsCached(Protocol):
    """Interface of engines that report the content of their own cache."""

    def cached(self, instance: Instance) -> list[Cached]:
        """Return tables and indexes with cached pages, the largest first."""
        ...


class CounterReader(Protocol):
    """Interface that reads an engine's counters on a separate connection."""

    def read(self) -> list[tuple[str, str, str, float]]:
        """Return counters as rows of (source, object, counter, value) with totals.

        Raises `OSError`.
        """
        ...

    def close(self) -> None:
        """Close the connection that reads counters."""
        ...


@runtime_checkable
class HasCounters(Protocol):
    """Interface of engines that have counters."""

    def counters(self, instance: Instance) -> CounterReader:
        """Return a reader of the engine's counters, with its own connection to the server."""
        ...


@runtime_checkable
class HasSessionSettings(Protocol):
    """Interface of servers whose sessions can have their own settings."""

    def with_settings(self, dsn: str, settings: Mapping[str, str]) -> str:
        """Return a DSN with additional settings for its sessions."""
        ...


@runtime_checkable
class ChecksSettings(Protocol):
    """Interface of engines that can refuse a wrong setting before data are loaded."""

    def check_settings(self, product: Product, settings: Mapping[str, str]) -> None:
        """Raise `EngineError` that names a wrong setting and how to fix it."""
        ...


@runtime_checkable
class LimitsConnections(Protocol):
    """Interface of servers that, started by Assay, accept a limited number of connections."""

    def connections_limit(self, settings: Mapping[str, str]) -> tuple[str, str]:
        """Return the name of the setting with the limit, and its value with these settings."""
        ...
