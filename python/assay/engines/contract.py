"""The contract of an engine: facts in `engine.toml`, behaviour in `engine.py`.

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
    """Receives the progress of a long operation."""

    def __call__(self, phase: str, done: float, expected: float | None, unit: str) -> None:
        """Report that `done` of `expected` units of a phase are complete; None means unknown."""
        ...


def tell_nobody(phase: str, done: float, expected: float | None, unit: str) -> None:
    """Ignore progress that nobody watches."""


@dataclass(frozen=True)
class Wanted:
    """The requested product: engine, version and source.

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
    """An installed product.

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
    """The directories and files of one engine instance.

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
    """A running engine.

    Only the engine itself uses its `handle`.
    """

    settings: Mapping[str, str]
    handle: Any = field(repr=False)
    place: Place | None = None
    address: Address = field(default_factory=dict, repr=False)


class Engine(Protocol):
    """The contract of a recipe for one database product."""

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """Obtain the product if needed.

        The `EngineError` says how to fix a failure.
        """
        ...

    def effective_settings(self, instance: Instance) -> dict[str, str]:
        """Return settings as the product reports them, without secrets."""
        ...

    def sessions(self, instance: Instance, script: Script, seed: int, clients: int) -> list[object]:
        """Return one session per client for the driver; values are drawn from the seed."""
        ...


@runtime_checkable
class SharesSessions(Protocol):
    """The contract of engines that several hosts can drive, each with a share of the sessions."""

    def share_of_sessions(
        self, instance: Instance, script: Script, seed: int, numbers: range
    ) -> list[object]:
        """Return the sessions with these numbers out of all of `Engine.sessions`."""
        ...


@runtime_checkable
class TellsPort(Protocol):
    """The contract of servers that use TCP, so that their processes can be found on their host."""

    def port(self, instance: Instance) -> int | None:
        """Return the port of the connection; None if it does not use TCP."""
        ...


@runtime_checkable
class Embedded(Protocol):
    """The contract of engines in the driver's host process.

    Starting an instance twice is a programming error.
    """

    def start(self, place: Place, settings: Mapping[str, str]) -> Instance:
        """Start an instance.

        The `EngineError` names a wrong setting and how to fix it.
        """
        ...

    def stop(self, instance: Instance) -> None:
        """Stop the instance in the product's own way."""
        ...


class Launcher(Protocol):
    """Starts processes for a server engine; all end with the run.

    If Assay runs as root, programs run as an unprivileged user, who owns the directories given to
    `own`.
    """

    @property
    def scratch(self) -> Path:
        """Return the instance's directory for sockets and files, owned by the programs' user."""
        ...

    def own(self, path: Path) -> None:
        """Give a file or a whole directory to the user that programs run as."""
        ...

    def run(self, argv: Sequence[str], env: Mapping[str, str], timeout_s: float) -> None:
        """Run a program until it ends.

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
        """Return None while the server and its helpers run; otherwise how one of them ended."""
        ...


@runtime_checkable
class Server(Protocol):
    """The contract of engines with processes of their own, including running servers."""

    def start(
        self, product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
    ) -> Address:
        """Start a server on `place`, wait until it answers, and return its address.

        `place` is empty, or in the state after an orderly stop. The `EngineError` says how to fix a
        failure.
        """
        ...

    def address(self, dsn: str) -> Address:
        """Return the address of a running server.

        Raises `EngineError` for an invalid DSN.
        """
        ...

    def attach(self, address: Address) -> Instance:
        """Connect for administration.

        Raises:
            EngineError: If the connection fails. The error message distinguishes refusal, wrong
                password and wrong name, each with a remedy.
        """
        ...

    def detach(self, instance: Instance) -> None:
        """Close the connection of `attach`; the server continues."""
        ...

    def version(self, instance: Instance) -> str:
        """Return the server's version, such as `18.6`."""
        ...

    def processes(self, instance: Instance) -> tuple[int, ...]:
        """Return the pids of the server's root processes; empty if it is on another host."""
        ...

    def schema_mark(self, instance: Instance, name: str) -> str | None:
        """Return the note on a schema; None if the schema does not exist, empty without a note."""
        ...

    def lock_schema(self, instance: Instance, name: str) -> bool:
        """Lock a schema name until `detach`, even without a schema; False if another run has it."""
        ...

    def make_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Create a schema for Assay's tables on the user's server, with a note."""
        ...

    def mark_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Change the note on a schema."""
        ...

    def use_schema(self, instance: Instance, name: str) -> None:
        """Make this schema the default, for this connection and for the instance's address."""
        ...

    def drop_schema(self, instance: Instance, name: str) -> None:
        """Drop a schema with everything in it."""
        ...


@dataclass(frozen=True)
class Node:
    """One node of a cluster.

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
    """The contract of servers that consist of several nodes.

    The counters of a cluster have source `nodes`, with one object per node.

    `[cluster]` of `counters.toml` maps counters to the names in `docs/reference/record-format.md`.
    """

    def nodes(self, instance: Instance) -> tuple[Node, ...]:
        """Return the current nodes, coordinator first. Raises `EngineError`."""
        ...


@runtime_checkable
class Restarts(Protocol):
    """The contract of servers that Assay can restart after a crash while a run continues."""

    def restart(
        self,
        product: Product,
        place: Place,
        settings: Mapping[str, str],
        launcher: Launcher,
        address: Address,
    ) -> None:
        """Restart a server that died, and wait until it answers at the same address.

        Sessions wait for the restart, so that later operations do not fail. The `EngineError` says
        how to fix a failure.
        """
        ...


@dataclass(frozen=True)
class Bridging:
    """The facts that are needed to start a bridge.

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
    """The contract of servers that Assay reaches through a bridge, including running servers.

    The `start` of a private server also starts its bridge.
    """

    def bridged(self, address: Address, bridging: Bridging) -> Address:
        """Start the bridge process; return the address with its socket. Raises `EngineError`."""
        ...


@runtime_checkable
class Speaks(Protocol):
    """The contract of servers that start and answer differently for one of their languages."""

    def speak(self, language: Language) -> None:
        """Choose the query language of servers started from now on, and of their addresses."""
        ...


@dataclass(frozen=True)
class Cached:
    """The part of a table or an index that the engine's own cache holds.

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
    """The contract of engines that report the content of their own cache."""

    def cached(self, instance: Instance) -> list[Cached]:
        """Return tables and indexes with cached pages, the largest first."""
        ...


class CounterReader(Protocol):
    """Reads an engine's counters on a separate connection."""

    def read(self) -> list[tuple[str, str, str, float]]:
        """Return rows of (source, object, counter, value), where values are totals, never rates.

        Raises `OSError`.
        """
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


@runtime_checkable
class HasCounters(Protocol):
    """The contract of engines that have counters."""

    def counters(self, instance: Instance) -> CounterReader:
        """Return a counter reader with its own connection."""
        ...


@runtime_checkable
class HasSessionSettings(Protocol):
    """The contract of servers whose clients can have their own settings."""

    def with_settings(self, dsn: str, settings: Mapping[str, str]) -> str:
        """Return a DSN with additional settings for its sessions."""
        ...


@runtime_checkable
class ChecksSettings(Protocol):
    """The contract of engines that can refuse a setting before data are loaded."""

    def check_settings(self, product: Product, settings: Mapping[str, str]) -> None:
        """Raise `EngineError` that names a wrong setting and how to fix it."""
        ...
