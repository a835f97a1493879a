"""What an engine is to the rest of the house: facts in `engine.toml`, behaviour in `engine.py`.

An engine is one of two kinds. An `Embedded` one lives in the driver's host process. A `Server` has
processes of its own: the owner of the run starts them through the guardian, and whoever asks it
attaches by its address; a server that runs already is attached to in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict

from assay.engines.durability import DurabilityFacts, Level
from assay.model.errors import AssayError
from assay.model.language import SPARQL, SQL, Language

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from assay.model.catalogue import Alternative, ChangedSetting, Index
    from assay.model.plan import Plan, Reads
    from assay.model.script import Script


class EngineError(AssayError):
    """An engine could not be obtained, configured or started: exit code 1."""


class ProductFacts(BaseModel):
    """One version that can be obtained: `[[products]]` in `engine.toml`.

    Attributes:
        version: The version in full.
        provider: Which of `assay.engines.providers` brings it.
        package: What the provider is asked for, in the provider's own notation.
        sha256: Of the file or files that are brought, by name; pinned.
        about: What sets it apart, for people.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: str
    provider: str
    package: str
    sha256: dict[str, str] = {}
    about: str = ""


class EngineFacts(BaseModel):
    """`engine.toml`. Unknown keys are errors.

    Attributes:
        kind: `embedded` engines live in the driver's host process, `server` ones in their own.
        session: Which session of the driver speaks to it.
        languages: In which languages it can be asked, each with its session; empty: SQL.
        plans: Languages whose plans it tells, where it tells any.
        dialects: Search order for `operations/<operation>.<dialect>.sql`, before the plain file.
        obtained_from: Where it comes from, for people.
        products: Versions that can be obtained; the first is the default.
        schemes: Beginnings of the `--dsn` of a running server, such as `postgresql`.
        page_cache: Whether it reads its data files through the system's page cache.
        rows_by_key: Whose rows lie in the order of their key however they are loaded, in words for
            people; empty: nobody's, rows lie as they come.
        answers: Whether it returns rows that can be right or wrong.
        transactions: Whether statements between `begin` and `commit` are done whole or not at all.
        programs: Whether its session plays programs of the driver that read rows; all play others.
        pipelines: Whether its session can send statements before earlier answers have come.
        settings: Defaults that ours differ from the product's in, each with its reason in README.
        durability: Levels of durability that it has, by name; empty: it has none to choose from.
        operations_of: The engine whose `operations.toml` says what its functions do, because both
            are one program; None: its own one does.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    title: str
    about: str
    kind: Literal["embedded", "server", "none"]
    session: str
    languages: dict[Language, str] = {}
    plans: tuple[Language, ...] = (SQL,)
    dialects: tuple[str, ...] = ()
    obtained_from: str
    version_pinned: str | None = None
    products: tuple[ProductFacts, ...] = ()
    schemes: tuple[str, ...] = ()
    page_cache: bool = True
    rows_by_key: str = ""
    answers: bool = True
    transactions: bool = True
    programs: bool = False
    pipelines: bool = False
    settings: dict[str, str] = {}
    durability: dict[Level, DurabilityFacts] = {}
    operations_of: str | None = None

    @property
    def spoken(self) -> dict[Language, str]:
        """Sessions by the languages that it can be asked in."""
        return self.languages or {SQL: self.session}

    def dialects_of(self, language: Language) -> tuple[str, ...]:
        """Search order for files of a workload in a language."""
        return (*self.dialects, SPARQL) if language == SPARQL else self.dialects


class Tell(Protocol):
    """Hears how far a long piece of work is."""

    def __call__(self, phase: str, done: float, expected: float | None, unit: str) -> None:
        """`done` of `expected` (None: not known) units of a phase."""
        ...


def tell_nobody(phase: str, done: float, expected: float | None, unit: str) -> None:
    """For work whose progress nobody watches."""


@dataclass(frozen=True)
class Wanted:
    """Which product is wanted.

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
    """A product that is there.

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
    """Where one instance lives. `data` holds what must survive a restart; all of it is ours.

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


class ArrowStream(Protocol):
    """Anything that hands out rows by the Arrow C stream interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The stream, in a capsule."""
        ...


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
        """What is noted of a namespace; None: there is none; empty: nothing is noted of it."""
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

    `[cluster]` of `counters.toml` says which are what; `docs/record-format.md` has the words.
    """

    def nodes(self, instance: Instance) -> tuple[Node, ...]:
        """The nodes that there are now, coordinator first. Raises `EngineError`."""
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
    """What it takes to start a bridge.

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
class BulkLoads(Protocol):
    """Engines that hold tables."""

    def run_script(self, instance: Instance, sql: str) -> None:
        """Runs statements of a workload's schema. Raises `EngineError` with the statement."""
        ...

    def load(self, instance: Instance, table: str, rows: ArrowStream, streams: int) -> None:
        """Appends all rows to a table by the product's fastest way, on `streams` connections."""
        ...

    def count(self, instance: Instance, table: str) -> int:
        """Rows of a table."""
        ...

    def finish_load(self, instance: Instance) -> None:
        """Whatever makes the loaded data durable and known to the optimiser."""
        ...


@runtime_checkable
class LoadsTriples(Protocol):
    """Engines that hold RDF, in one graph of ours that is the default of what is asked."""

    def load_triples(self, instance: Instance, rows: ArrowStream, streams: int, tell: Tell) -> None:
        """Adds all statements of a stream by the product's fastest way.

        The stream has one column of texts: a row is a line of N-Triples with the end of its line,
        so that the values of a batch stand in memory as a file has them. Raises `EngineError`.
        """
        ...

    def count_triples(self, instance: Instance) -> int:
        """How many different statements there are."""
        ...

    def finish_triples(self, instance: Instance) -> None:
        """Whatever makes them durable and known to the optimiser."""
        ...


@runtime_checkable
class TellsIfItLoads(Protocol):
    """Servers that run already and may be asked as they are, because nothing can be loaded."""

    def loads(self, instance: Instance) -> bool:
        """Whether data can be loaded; else those that are there are asked."""
        ...


@runtime_checkable
class Speaks(Protocol):
    """Servers that are started and asked otherwise for one of their languages."""

    def speak(self, language: Language) -> None:
        """Servers that are started from now on are asked in it, and their addresses say so."""
        ...


@runtime_checkable
class LoadsTablesTogether(Protocol):
    """Engines whose `load` and `count` may be called by several threads, each with its table."""

    def tables_at_once(self, streams: int) -> int:
        """How many tables are best loaded together where `streams` are to be had."""
        ...


@runtime_checkable
class LoadSettings(Protocol):
    """Engines whose server loads faster with other settings than it is measured with."""

    def load_settings(self) -> Mapping[str, str]:
        """Settings of a server that only loads; what it loaded is as durable as any other."""
        ...


@runtime_checkable
class HasKeys(Protocol):
    """Engines that want keys and indexes, made after the data."""

    def make_keys(self, instance: Instance, sql: str, streams: int, tell: Tell) -> None:
        """Runs the statements of a keys or indexes file, on up to `streams` connections."""
        ...


@runtime_checkable
class Prepares(Protocol):
    """Engines whose loaded data can be changed by SQL before anything is timed."""

    def prepare(self, instance: Instance, sql: str) -> None:
        """Runs statements one by one. Raises `EngineError` with the statement at fault."""
        ...

    def settle(self, instance: Instance) -> None:
        """Writes out what was changed, so that it is not written while queries are timed.

        Nothing else is done: statistics and dead rows stay as the statements left them.
        """
        ...


@dataclass(frozen=True)
class Cached:
    """What an engine's own cache holds of a table or an index.

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
    """Engines that tell what their own cache holds, bringing nothing of the data into it."""

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


@dataclass(frozen=True)
class CachedPlan:
    """How a statement gets its plan in a session that has prepared it, as timed sessions have.

    Attributes:
        mode: Whether one plan is kept for all values or each execution gets its own; None: the
            engine does not say.
        planned_each_time: Whether each execution is planned anew; None: not known.
        captures: How often it was captured, with other values where values are drawn.
        others: Of plans with another shape than the one that is given, one line each.
    """

    mode: Literal["generic", "custom"] | None
    planned_each_time: bool | None
    captures: int
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Explained:
    """What an engine told of one statement that was asked with its plan.

    Attributes:
        native: The plan in the engine's own words; None: there is none.
        reason: Why there is none, or why it has estimates only.
        capture_s: Wall time that asking took.
        reads: What the engine counted of its reads; None: it counts none, or the plan says them.
        cached: Of a statement that was prepared as timed sessions do; None: it was sent as text.
    """

    native: str | None
    reason: str | None
    capture_s: float
    reads: Reads | None = None
    cached: CachedPlan | None = None


@dataclass(frozen=True)
class PlanAsked:
    """A statement whose answer is wanted.

    Attributes:
        text: With `$1`, `$2`, ... for its values.
        values: Of Python's types: whole numbers, decimals, texts, times, None.
        explained: Whether its plan is wanted as well.
        prepared: Whether timed sessions prepare it once and keep it.
    """

    text: str
    values: Sequence[object]
    explained: bool
    prepared: bool = False


@dataclass(frozen=True)
class PlanAnswer:
    """What a statement came to.

    Attributes:
        explained: Its plan, where that was wanted.
        rows: That it returned.
        count: Rows that it returned or changed.
        error: Why it was not executed; whoever asks on has no sense then.
    """

    explained: Explained | None
    rows: Sequence[Sequence[object]] = ()
    count: int = 0
    error: str | None = None


class PlanReader(Protocol):
    """Asks statements with their plan, on a connection of its own. Belongs to one thread."""

    def explain(
        self, statements: Sequence[tuple[str, Sequence[object]]], limit_s: float
    ) -> Iterator[Explained]:
        """Executes an operation with its plans: its statements in order, in one transaction.

        The transaction is rolled back when the iterator ends or is closed.

        Args:
            statements: Each with the values of `$1`, `$2`, ...
            limit_s: A statement that takes longer is cancelled; 0: none is executed, and plans
                have estimates only.

        Yields:
            One for each statement. What the engine refuses is a reason, never an exception.
        """
        ...

    def close(self) -> None:
        """Ends the connection."""
        ...


@runtime_checkable
class PlaysPrograms(Protocol):
    """Readers of plans that can be asked by a program, whose next statement needs answers."""

    def play(self, statements: Iterable[PlanAsked], limit_s: float) -> Iterator[PlanAnswer]:
        """Executes statements as they come, those that are to be explained with their plans.

        All is done in one transaction, which is rolled back when the iterator ends or is closed.
        What asking for a plan changes is undone before the statement is executed for its answer.

        Args:
            statements: Each is taken once the answer to the one before was told.
            limit_s: A plan that takes longer is cancelled; 0: plans have estimates only.

        Yields:
            One for each statement. What the engine refuses is an error in it, never an exception.
        """
        ...


@runtime_checkable
class AsksPrepared(Protocol):
    """Plan readers that can capture the plan of a prepared statement as timed sessions have it."""

    def explain_prepared(
        self, statements: Sequence[tuple[str, Sequence[Sequence[object]]]], limit_s: float
    ) -> Iterator[Explained]:
        """Executes an operation with its plans, its statements prepared as timed sessions do.

        Everything else is as in `PlanReader.explain`.

        Args:
            statements: Each with several rows of values as executions draw them. What is executed
                stands for later statements with the first row; the others are undone at once.
            limit_s: As in `explain`.
        """
        ...


@runtime_checkable
class TellsIndexes(Protocol):
    """Plan readers that read the catalogue's indexes of the tables that sessions see."""

    def indexes(self) -> list[Index]:
        """Every index of these tables, hidden and invalid ones among them."""
        ...


@runtime_checkable
class TellsChangedSettings(Protocol):
    """Plan readers that know which settings of the optimiser are away from their default."""

    def changed_settings(self) -> list[ChangedSetting]:
        """Those in force in the timed sessions, by name."""
        ...


@runtime_checkable
class AsksAlternatives(Protocol):
    """Plan readers that ask for the plan with one thing changed, which executes nothing."""

    def alternatives(
        self, operation: str, statements: Sequence[tuple[str, Sequence[object]]]
    ) -> list[Alternative]:
        """Plans of an operation's statements with each changed setting back at its default.

        What the engine refuses is left out.
        """
        ...


@runtime_checkable
class HasPlans(Protocol):
    """Engines that tell how they execute a statement."""

    def plan_reader(self, instance: Instance) -> PlanReader:
        """A reader on a connection of its own, which sees what the sessions see."""
        ...

    def plan(self, text: str, operation: str, statement: int, native: str) -> Plan:
        """Parse `text`, the engine's own plan. Pure.

        Raises:
            ValueError: If the words are not understood.
        """
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
