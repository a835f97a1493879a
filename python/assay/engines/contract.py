"""The contract of an engine: facts in `engine.toml`, behaviour in `engine.py`.

An engine is one of two kinds. An `Embedded` one lives in the driver's host process. A `Server` has
processes of its own: the owner of the run starts them through the guardian, and whoever asks it
attaches by its address; a server that runs already is attached to in the same way.
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
        version: As after the `@`: `18` or `18.6`; None: the engine's default.
        bin_dir: Programs that are there already, instead of any that are obtained.
        cache: Where obtained engines are kept.
    """

    cache: Path
    version: str | None = None
    bin_dir: Path | None = None


@dataclass(frozen=True)
class Product:
    """A product that is installed.

    Attributes:
        version: The version in full, as the product tells it.
        home: Its directory; None where it is a library of ours.
        origin: Where it came from: provider, package, checksums. For the record.
    """

    version: str
    home: Path | None = None
    origin: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    """The directories of one instance. `data` holds what must survive a restart; all are ours.

    `file` is a database file that is somebody else's, in the place of what is in `data`; it is
    opened for reading alone where `reads_only` says so.
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
    """One engine to be asked. `handle` is the engine's own affair."""

    settings: Mapping[str, str]
    handle: Any = field(repr=False)
    place: Place | None = None
    address: Address = field(default_factory=dict, repr=False)


class Engine(Protocol):
    """A recipe for one database product."""

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """Makes sure the product is there. Raises `EngineError` with the mend."""
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
        """The sessions of these numbers, as `Engine.sessions` has them among all."""
        ...


@runtime_checkable
class TellsPort(Protocol):
    """Servers that are reached by TCP, so that their processes can be found on their own host."""

    def port(self, instance: Instance) -> int | None:
        """The port that it was reached at; None: it was reached otherwise."""
        ...


@runtime_checkable
class Embedded(Protocol):
    """Engines in the driver's host. Starting one instance twice is a programmer's error."""

    def start(self, place: Place, settings: Mapping[str, str]) -> Instance:
        """Starts an instance. Raises `EngineError` with the setting at fault and the mend."""
        ...

    def stop(self, instance: Instance) -> None:
        """Stops it in the product's own way."""
        ...


class Launcher(Protocol):
    """Starts processes for a server engine; every one of them ends with the run.

    Where we are root, programs run as an unprivileged user, who owns what `own` was called for.
    """

    @property
    def scratch(self) -> Path:
        """A directory of the instance for sockets and files, owned by the user of the programs."""
        ...

    def own(self, path: Path) -> None:
        """Gives a file or a whole directory to the user that programs run as."""
        ...

    def run(self, argv: Sequence[str], env: Mapping[str, str], timeout_s: float) -> None:
        """Runs a program to its end. Raises `EngineError` with its last words if it fails."""
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

        Its CPU time is on an account of its own: neither the server's nor the driver's. Its log
        has the account's name.
        """
        ...

    def last_words(self) -> str | None:
        """None while the server and all beside it live; else how one ended, with its log's end."""
        ...


@runtime_checkable
class Server(Protocol):
    """Engines with processes of their own, and servers that run already."""

    def start(
        self, product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
    ) -> Address:
        """Starts a server on `place`, waits until it answers, and returns its address.

        `place` is empty, or as an orderly stop left it. Raises `EngineError` with the mend.
        """
        ...

    def address(self, dsn: str) -> Address:
        """The address of a running server. Raises `EngineError` if it cannot be read."""
        ...

    def attach(self, address: Address) -> Instance:
        """Connects for administration.

        Raises:
            EngineError: Tells refusal, wrong password and wrong name apart, each with its mend.
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
        """Return the note on a namespace; None if there is no namespace, empty without a note."""
        ...

    def lock_schema(self, instance: Instance, name: str) -> bool:
        """Takes a namespace, there or not yet, until `detach`; False: another run has it."""
        ...

    def make_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Makes a namespace for our tables on a server that is not ours, with a note."""
        ...

    def mark_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Changes the note."""
        ...

    def use_schema(self, instance: Instance, name: str) -> None:
        """Tables without a namespace are those of this one, here and by the instance's address."""
        ...

    def drop_schema(self, instance: Instance, name: str) -> None:
        """Drops a namespace with all that is in it."""
        ...


@dataclass(frozen=True)
class Node:
    """One node of a cluster.

    Attributes:
        name: Unique in the cluster; the object of its counters.
        role: What it does: plans and gathers, works, or both.
        host: Where it is, as the cluster tells.
        pids: Its root processes where it is on this host; empty: it is elsewhere.
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
    """Servers of ours that are started again when they died, while a run goes on."""

    def restart(
        self,
        product: Product,
        place: Place,
        settings: Mapping[str, str],
        launcher: Launcher,
        address: Address,
    ) -> None:
        """Starts a server that died again and waits until it answers at the same address.

        Sessions wait for it, so that the operations that follow do not fail, too. Raises
        `EngineError` with the mend.
        """
        ...


@dataclass(frozen=True)
class Bridging:
    """The parts that are needed to start a bridge.

    Attributes:
        launcher: Starts it.
        cache: Where obtained products are kept.
        drivers: JDBC drivers that were named, files or names of Maven; empty: the engine's own.
    """

    launcher: Launcher
    cache: Path
    drivers: tuple[str, ...] = ()


@runtime_checkable
class Bridged(Protocol):
    """Servers that are reached through a process of ours beside them, also those that run already.

    The `start` of a private server starts it by itself.
    """

    def bridged(self, address: Address, bridging: Bridging) -> Address:
        """Starts the process; the address with where it listens. Raises `EngineError`."""
        ...


@runtime_checkable
class Speaks(Protocol):
    """Servers that are started and asked otherwise for one of their languages."""

    def speak(self, language: Language) -> None:
        """Servers that are started from now on are asked in it, and their addresses say so."""
        ...


@dataclass(frozen=True)
class Cached:
    """The part of a table or an index that the engine's own cache holds.

    Attributes:
        name: The engine's name of it; empty: of all together.
        cached_bytes: So much is in the cache.
        bytes: Its size; None where that is not told.
    """

    name: str
    cached_bytes: int
    bytes: int | None = None


@runtime_checkable
class TellsCached(Protocol):
    """The contract of engines that report what their own cache holds."""

    def cached(self, instance: Instance) -> list[Cached]:
        """Tables and indexes of which something is cached, the most first."""
        ...


class CounterReader(Protocol):
    """Reads an engine's own counters on a connection of its own."""

    def read(self) -> list[tuple[str, str, str, float]]:
        """Rows of (source, object, counter, value), raw: never rates. Raises `OSError`."""
        ...

    def close(self) -> None:
        """Ends the connection."""
        ...


@runtime_checkable
class HasCounters(Protocol):
    """Engines that count what they do."""

    def counters(self, instance: Instance) -> CounterReader:
        """A reader on a connection of its own."""
        ...


@runtime_checkable
class HasSessionSettings(Protocol):
    """Servers whose clients may have settings of their own."""

    def with_settings(self, dsn: str, settings: Mapping[str, str]) -> str:
        """A DSN whose sessions have these settings beside those that it says already."""
        ...


@runtime_checkable
class ChecksSettings(Protocol):
    """Engines that can refuse a setting before anything was loaded."""

    def check_settings(self, product: Product, settings: Mapping[str, str]) -> None:
        """Raises `EngineError` with the setting at fault and the mend."""
        ...
