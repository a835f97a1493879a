"""The contract of an engine: facts in `engine.toml`, behaviour in `engine.py`.

There are two kinds of engines. An `Embedded` one runs in the driver's process. A `Server` has its
own processes, which the run starts through the guardian. Clients connect by its address, as they do
to a server that runs already.
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
    """An engine could not be obtained, configured or started: exit code 1."""


class Tell(Protocol):
    """Hears how far a long piece of work is."""

    def __call__(self, phase: str, done: float, expected: float | None, unit: str) -> None:
        """`done` of `expected` (None: not known) units of a phase."""
        ...


def tell_nobody(phase: str, done: float, expected: float | None, unit: str) -> None:
    """Ignore progress, for work that is not watched."""


@dataclass(frozen=True)
class Wanted:
    """The product that is wanted: engine, version and source.

    Attributes:
        version: Version after the `@`: `18` or `18.6`. None means the engine's default.
        bin_dir: Programs that are there already, instead of any that are obtained.
        cache: Directory of obtained engines.
    """

    cache: Path
    version: str | None = None
    bin_dir: Path | None = None


@dataclass(frozen=True)
class Product:
    """A product that is installed.

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
    """The directories of one instance. `data` has the files that must survive a restart.

    `file` is the user's database file, which is used instead of `data`. With `reads_only` it is
    opened only for reading.
    """

    data: Path
    scratch: Path
    file: Path | None = None
    reads_only: bool = False


# How a server is reached: values that go to the driver's host over its control socket, never to a
# command line, a log or the record (they may hold a password).
Address = dict[str, Any]


@dataclass
class Instance:
    """A running engine. Only the engine itself uses `handle`."""

    settings: Mapping[str, str]
    handle: Any = field(repr=False)
    place: Place | None = None
    address: Address = field(default_factory=dict, repr=False)


class Engine(Protocol):
    """A recipe for one database product."""

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """Obtain the product if needed. `EngineError` says how to fix a failure."""
        ...

    def effective_settings(self, instance: Instance) -> dict[str, str]:
        """Settings as the product reports them, without secrets."""
        ...

    def sessions(self, instance: Instance, script: Script, seed: int, clients: int) -> list[object]:
        """One session a client, as the driver takes them; values are drawn from the seed."""
        ...


@runtime_checkable
class SharesSessions(Protocol):
    """Engines that several hosts can drive, each with a share of the sessions."""

    def share_of_sessions(
        self, instance: Instance, script: Script, seed: int, numbers: range
    ) -> list[object]:
        """Return the sessions with these numbers out of all of `Engine.sessions`."""
        ...


@runtime_checkable
class TellsPort(Protocol):
    """Servers that are reached by TCP, so that their processes can be found on their own host."""

    def port(self, instance: Instance) -> int | None:
        """Return the port of the connection; None if it does not use TCP."""
        ...


@runtime_checkable
class Embedded(Protocol):
    """Engines in the driver's host. Starting one instance twice is a programmer's error."""

    def start(self, place: Place, settings: Mapping[str, str]) -> Instance:
        """Starts an instance. `EngineError` names a wrong setting and how to fix it."""
        ...

    def stop(self, instance: Instance) -> None:
        """Stops it in the product's own way."""
        ...


class Launcher(Protocol):
    """Starts processes for a server engine; every one of them ends with the run.

    For root, programs run as an unprivileged user, who owns the directories given to `own`.
    """

    @property
    def scratch(self) -> Path:
        """A directory of the instance for sockets and files, owned by the user of the programs."""
        ...

    def own(self, path: Path) -> None:
        """Gives a file or a whole directory to the user that programs run as."""
        ...

    def run(self, argv: Sequence[str], env: Mapping[str, str], timeout_s: float) -> None:
        """Runs a program to its end. Raises `EngineError` with its last output if it fails."""
        ...

    def serve(
        self, argv: Sequence[str], env: Mapping[str, str], stop_signal: str, stop_grace_s: float
    ) -> int:
        """Starts the server, one an instance; returns its process id."""
        ...

    def serve_node(
        self,
        name: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        stop_signal: str,
        stop_grace_s: float,
    ) -> int:
        """Starts one process of a server that is several; returns its process id.

        All of them are the server: followed, metered, limited and stopped together, the last one
        first. Its log has the node's name.
        """
        ...

    def attend(self, argv: Sequence[str], env: Mapping[str, str], account: str) -> int:
        """Starts a process beside the server, such as a bridge to it; returns its process id.

        Its CPU time has a separate account, which is neither the server's nor the driver's. Its log
        has the account's name.
        """
        ...

    def last_words(self) -> str | None:
        """Return None while the server and its helpers run; otherwise how one of them ended."""
        ...


@runtime_checkable
class Server(Protocol):
    """Engines with processes of their own, and servers that run already."""

    def start(
        self, product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
    ) -> Address:
        """Starts a server on `place`, waits until it answers, and returns its address.

        `place` is empty, or in the state after an orderly stop. `EngineError` says how to fix a
        failure.
        """
        ...

    def address(self, dsn: str) -> Address:
        """The address of a running server. Raises `EngineError` if it cannot be read."""
        ...

    def attach(self, address: Address) -> Instance:
        """Connects for administration.

        Raises:
            EngineError: If the connection fails. The message distinguishes refusal, wrong password
                and wrong name, each with a remedy.
        """
        ...

    def detach(self, instance: Instance) -> None:
        """Ends the connection of `attach`; the server goes on."""
        ...

    def version(self, instance: Instance) -> str:
        """The server's version, such as `18.6`."""
        ...

    def processes(self, instance: Instance) -> tuple[int, ...]:
        """Root processes of the server on this host; empty if it is not on this host."""
        ...

    def schema_mark(self, instance: Instance, name: str) -> str | None:
        """Return the note on a schema; None if the schema does not exist, empty without a note."""
        ...

    def lock_schema(self, instance: Instance, name: str) -> bool:
        """Takes a namespace, there or not yet, until `detach`; False: another run has it."""
        ...

    def make_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Creates a schema for Assay's tables on the user's server, with a note."""
        ...

    def mark_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Changes the note."""
        ...

    def use_schema(self, instance: Instance, name: str) -> None:
        """Make this schema the default, for this connection and for the instance's address."""
        ...

    def drop_schema(self, instance: Instance, name: str) -> None:
        """Drops a namespace with all that is in it."""
        ...


@dataclass(frozen=True)
class Node:
    """One node of a cluster.

    Attributes:
        name: Unique in the cluster; the object of its counters.
        role: Role of the node: coordinator, worker, or both.
        host: Host of the node, as the cluster reports it.
        pids: Its root processes if it is on this host; empty if it is on another host.
    """

    name: str
    role: Literal["coordinator", "worker", "both"]
    host: str
    pids: tuple[int, ...] = ()


@runtime_checkable
class Clustered(Protocol):
    """Servers of several nodes. Their counters are of source `nodes`, an object a node.

    `[cluster]` of `counters.toml` says which are what; `docs/reference/record-format.md` has the
    words.
    """

    def nodes(self, instance: Instance) -> tuple[Node, ...]:
        """Return the current nodes, coordinator first. Raises `EngineError`."""
        ...


@runtime_checkable
class Restarts(Protocol):
    """Servers that Assay can restart after a crash while a run continues."""

    def restart(
        self,
        product: Product,
        place: Place,
        settings: Mapping[str, str],
        launcher: Launcher,
        address: Address,
    ) -> None:
        """Restarts a server that died, and waits until it answers at the same address.

        Sessions wait for it, so that later operations do not fail. `EngineError` says how to fix a
        failure.
        """
        ...


@dataclass(frozen=True)
class Bridging:
    """The parts that are needed to start a bridge.

    Attributes:
        launcher: Starts it.
        cache: Directory of obtained products.
        drivers: Requested JDBC drivers, as files or Maven names. Empty means the engine's default
            driver.
    """

    launcher: Launcher
    cache: Path
    drivers: tuple[str, ...] = ()


@runtime_checkable
class Bridged(Protocol):
    """Servers that Assay reaches through a bridge process, including servers that run already.

    The `start` of a private server starts it by itself.
    """

    def bridged(self, address: Address, bridging: Bridging) -> Address:
        """Start the bridge process; return the address with its socket. Raises `EngineError`."""
        ...


@runtime_checkable
class Speaks(Protocol):
    """Servers that are started and queried differently for one of their languages."""

    def speak(self, language: Language) -> None:
        """Choose the query language of servers that start from now on, and of their addresses."""
        ...


@dataclass(frozen=True)
class Cached:
    """The part of a table or an index that the engine's own cache holds.

    Attributes:
        name: The engine's name of the object. Empty means all objects together.
        cached_bytes: So much is in the cache.
        bytes: Size of the object; None if not reported.
    """

    name: str
    cached_bytes: int
    bytes: int | None = None


@runtime_checkable
class TellsCached(Protocol):
    """Engines that report the content of their own cache."""

    def cached(self, instance: Instance) -> list[Cached]:
        """Return tables and indexes with cached pages, the largest first."""
        ...


class CounterReader(Protocol):
    """Reads an engine's counters on a separate connection."""

    def read(self) -> list[tuple[str, str, str, float]]:
        """Rows of (source, object, counter, value), raw: never rates. Raises `OSError`."""
        ...

    def close(self) -> None:
        """Ends the connection."""
        ...


@runtime_checkable
class HasCounters(Protocol):
    """Engines that have counters."""

    def counters(self, instance: Instance) -> CounterReader:
        """Return a counter reader with its own connection."""
        ...


@runtime_checkable
class HasSessionSettings(Protocol):
    """Servers whose clients may have settings of their own."""

    def with_settings(self, dsn: str, settings: Mapping[str, str]) -> str:
        """Return a DSN with additional settings for its sessions."""
        ...


@runtime_checkable
class ChecksSettings(Protocol):
    """Engines that can refuse a setting before anything was loaded."""

    def check_settings(self, product: Product, settings: Mapping[str, str]) -> None:
        """Raises `EngineError` that names a wrong setting and how to fix it."""
        ...
