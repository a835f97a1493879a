"""Resolves the request of a run: workload, engine, product, script and plan.

Everything that can be refused is refused here, before anything is written, loaded or started.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from assay import _core
from assay.engines.checking import OpensFiles, TellsPooler
from assay.engines.contract import (
    Bridged,
    ChecksSettings,
    Embedded,
    Engine,
    EngineError,
    HasSessionSettings,
    Place,
    Product,
    Server,
    Speaks,
    Wanted,
)
from assay.engines.discovery import EngineFolder, find_engine, find_engines
from assay.engines.durability import level_of
from assay.engines.loading import Prepares
from assay.model.errors import UsageError, suggestion
from assay.probes.contract import Refusing
from assay.probes.discovery import find_probes
from assay.running.asked.driver_plan import Mix, driver_plan, plan_of, without_dues
from assay.running.asked.order import LoadOrder, asked_order, check_order
from assay.running.asked.parsing import STATE_HOT, STATE_LOADED
from assay.running.asked.played import played_statements, rolled_back
from assay.running.asked.preflight import check_tables, preflight
from assay.running.asked.specified import (
    PieceTexts,
    PlannedTest,
    SpecifiedTest,
    specified,
    streams_max,
)
from assay.running.asked.writing import (
    check_others,
    check_unknown,
    check_writes,
    guarded,
    reads_only,
    writing_facts,
)
from assay.running.changes.asking import check_conditions
from assay.running.fleet.asked import check_fleet
from assay.running.host.places import engines_dir
from assay.running.host.slowing import check_slow
from assay.running.server.bridging import loads, reached_before
from assay.running.server.faults import check_faults
from assay.running.telling import Teller, telling
from assay.workloads.discovery import find_workload
from assay.workloads.generate import refresh_sets_max, table_rows
from assay.workloads.scripts import brief

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.model.language import Language
    from assay.model.script import Script
    from assay.running.asked.request import RunRequest
    from assay.workloads.contract import Parameters, Workload

# How a statement begins that begins a transaction, after comments.
BEGINS = re.compile(r"(?i)(?:\s|--[^\n]*\n)*(?:begin|start\s+transaction)\b")
# What programs are told: whether each session is one terminal.
TERMINALS = "terminals"


@dataclass(frozen=True)
class Asked:
    """A run that can be carried out.

    Attributes:
        request: As it was asked for.
        workload, engine: What was found under the names.
        behaviour: The engine's own code.
        version: Of the product, in full.
        origin: Where the product came from; empty for a library or a running server.
        product: None for a server that runs already.
        preflight: Facts of the statements that were prepared before the run; None: none were.
        pooled: Whether a pooler between gives each transaction any of its connections.
    """

    request: RunRequest
    workload: Workload
    engine: EngineFolder
    behaviour: Engine
    version: str
    product: Product | None
    preflight: dict[str, Any] | None = None
    pooled: bool = False

    @property
    def origin(self) -> Mapping[str, Any]:
        """Where the product came from."""
        return self.product.origin if self.product is not None else {}

    @cached_property
    def language(self) -> Language:
        """In which the engine is asked."""
        return language_asked(self.request, self.workload, self.engine)

    @property
    def dialects(self) -> tuple[str, ...]:
        """Search order for files of the workload."""
        return self.engine.facts.dialects_of(self.language)

    @property
    def dsn(self) -> str:
        """Where a running server is reached, by sessions with the settings that were asked for."""
        return dsn_with_settings(self.request, self.behaviour)

    @cached_property
    def file(self) -> Path | None:
        """Somebody's database file that is asked; None: a server, or an engine of our own is."""
        dsn, behaviour = self.request.dsn, self.behaviour
        return (
            behaviour.file(dsn) if dsn is not None and isinstance(behaviour, OpensFiles) else None
        )

    @cached_property
    def test(self) -> SpecifiedTest | None:
        """The specification's test that the run is; None: it is none."""
        return specified(self.request, self.workload)

    @property
    def refresh_sets(self) -> int:
        """Refresh sets that have to be there beside the data."""
        return self.test.refresh.sets if self.test is not None and self.test.refresh else 0

    @property
    def tables(self) -> list[str]:
        """Tables that are filled by the generator, those of refresh sets among them."""
        facts = self.workload.facts
        of_sets = facts.refresh.tables if self.refresh_sets and facts.refresh else ()
        return [*self.workload.tables(self.language), *of_sets]

    @cached_property
    def order(self) -> LoadOrder:
        """In which order rows and tables are loaded."""
        return asked_order(self.request, self.tables)

    @cached_property
    def planned_test(self) -> PlannedTest | None:
        """Return the operations of the test, phase by phase."""
        if self.test is None:
            return None
        return PlannedTest(self.test, self.workload, self.request.state_passes)

    @cached_property
    def script(self) -> Script:
        """Return the script that sessions execute."""
        return rolled_back(self.plain_script) if self.request.roll_back else self.plain_script

    @cached_property
    def plain_script(self) -> Script:
        """Return the script without the transactions that `--roll-back` adds."""
        if self.test is not None and self.planned_test is not None:
            return self._texts(self.test).script(self.planned_test.pieces)
        request = self.request
        drawn = request.parameters == "drawn"
        parameters: Parameters = "drawn" if drawn else "default"
        script = self.workload.script(self.dialects, request.scale, request.seed, parameters)
        # A mix asks the same statements again and again, as an application does that prepares them.
        is_mix = request.clients is not None or self.workload.facts.arrival == "closed"
        script_parameters = script.parameters
        if any(operation.program for operation in script.operations):
            script_parameters = script_parameters | {TERMINALS: int(request.think_time)}
        # Behind a pooler the next transaction comes to a connection that has not prepared it.
        return replace(
            script,
            prepared=is_mix and not self.pooled,
            pipelined=request.pipeline,
            parameters=script_parameters,
        )

    @cached_property
    def plan(self) -> dict[str, Any]:
        """The driver's plan."""
        facts = self.workload.facts
        if self.planned_test is not None:
            pieces, phases = self.planned_test.pieces, self.planned_test.phases
            variants = {"variants": [variant for _, variant in pieces]}
            return plan_of(self.request, [name for name, _ in pieces], phases) | variants
        mix = Mix(
            facts.before,
            facts.deck,
            facts.sequence is not None,
            self.workload.checks,
            self.workload.waits,
            self.workload.recorded_schedule() if self.request.as_recorded else (),
        )
        plan = driver_plan(self.request, facts.order, self.workload.weights, facts.after, mix)
        return plan | _statement_names(self.script)

    def facts(self) -> dict[str, Any]:
        """Return the facts that run.json has from the first moment on."""
        engine = self.engine.facts
        return {
            "request": self.request.facts(),
            "workload": self.workload.recorded(),
            "engine": {
                "name": engine.name,
                "title": engine.title,
                "kind": engine.kind,
                "session": engine.spoken[self.language],
                "language": self.language,
                "version": self.version,
                "answers": engine.answers,
                "counters": self.engine.counters(),
                "operations": self.engine.operations(),
                "advice": self.engine.advice(),
                "knobs": self.engine.knobs().model_dump(),
                "waits": self.engine.waits(),
            },
            "durability": self.durability(self.request.engine_settings),
            "writes": writing_facts(self),
            "preflight": self.preflight,
            "order": self.order.facts(self.engine.facts.rows_by_key),
            "test": None if self.test is None else self.test.facts(),
            "plan": without_dues(self.plan),
            "script": {"prepared": self.script.prepared},
            "pooled": self.pooled,
            "statements": self._statements(),
        }

    def schema(self) -> dict[str, Any]:
        """Return the tables and statements that readers of plans need, for the record."""
        from assay.workloads.rewriting.grammar import grammar_of

        types = self.workload.column_types(self.request.scale)
        return {
            "grammar": grammar_of(self.dialects),
            "tables": {table: dict(columns) for table, columns in types.items()},
        }

    def durability(self, settings: Mapping[str, str]) -> dict[str, Any]:
        """Return the durability of commits under these settings, for the record."""
        levels = self.engine.facts.durability
        level = level_of(levels, settings)
        level_facts = None if level is None else levels[level]
        return {
            "level": level,
            "about": None if level_facts is None else level_facts.about,
            "settings": {} if level_facts is None else level_facts.settings,
        }

    def _texts(self, test: SpecifiedTest) -> PieceTexts:
        return PieceTexts(test, self.workload, self.dialects, self.request.scale)

    def _statements(self) -> dict[str, Any]:
        if self.test is not None and self.planned_test is not None:
            return self._texts(self.test).recorded(self.planned_test.pieces)
        request = self.request
        seed = request.seed if request.parameters == "drawn" else None
        names = [operation.name for operation in self.script.operations]
        statements = {
            name: self.workload.statement(name, self.dialects, request.scale, seed)
            for name in names
        }
        return {name: vars(statement) for name, statement in statements.items()}


def _statement_names(script: Script) -> dict[str, list[list[str]]]:
    """Return the plan's statement names of operations that have several, if any has."""
    if not any(len(operation.statements) > 1 for operation in script.operations):
        return {}
    return {
        "statements": [
            [
                statement.name or brief(number, statement.text)
                for number, statement in enumerate(operation.statements, 1)
            ]
            for operation in script.operations
        ]
    }


def understood(request: RunRequest, teller: Teller) -> Asked:
    """The run that a request asks for; its product is there when this returns.

    Raises:
        UsageError: If the request names something that is not there.
        EngineError: If the engine cannot be obtained or refuses a setting.
    """
    asked = considered(request)
    asked = replace(asked, **obtained(asked, teller)._asdict())
    check_settings(asked)
    return asked


def considered(request: RunRequest) -> Asked:
    """Resolve a request without its product: nothing is obtained or reached.

    Raises:
        UsageError: If the request names something that is not there.
    """
    workload = find_workload(request.workload).only(request.operations).without(request.remove)
    engine = find_engine(request.engine)
    language = language_asked(request, workload, engine)
    if request.foreign_keys:
        workload = workload.with_foreign_keys()
        # Not every dialect can add them, and a server is not started to find out.
        workload.keys(engine.facts.dialects_of(language), request.scale)
    if request.forced:
        texts = {name: forced["sql"] for name, forced in request.forced.items()}
        workload = workload.playing(texts)
    behaviour = engine.engine()
    if isinstance(behaviour, Speaks):
        behaviour.speak(language)
    _check_request(request, workload, behaviour, language)
    _check_programs(request, engine)
    _check_drivers(request, behaviour)
    _check_state(request, workload, engine)
    check_order(request, workload, engine.facts.kind)
    check_faults(request, workload)
    check_fleet(request, workload, behaviour)
    check_conditions(request, engine.facts.kind)
    check_slow(request, engine.facts.kind)
    _check_probes(request)
    _check_prepare(request, workload, behaviour)
    _check_test(request, workload)
    _check_transactions(request, workload, engine)
    _check_clients(request, workload, engine)
    asked = Asked(request, workload, engine, behaviour, "", None)
    check_writes(asked)
    check_tables(asked)
    asked.facts()
    return asked


def language_asked(request: RunRequest, workload: Workload, engine: EngineFolder) -> Language:
    """The language that is asked for, or the first of the workload's that the engine speaks.

    Raises:
        UsageError: If there is none, or not the one that is asked for.
    """
    written, spoken = workload.facts.languages, engine.facts.spoken
    asked = request.language
    if asked is not None and asked not in written:
        raise UsageError(
            f"--language {asked}: {workload.facts.name} is written in {' and '.join(written)}"
        )
    language = workload.language([asked] if asked in spoken else [] if asked else list(spoken))
    if language is None:
        able = [
            folder.facts.name
            for folder in find_engines().values()
            if set(folder.facts.spoken) & {asked or written[0]} and folder.facts.answers
        ]
        raise UsageError(
            f"{workload.facts.name} asks in {asked or ' or '.join(written)}, and"
            f" {request.engine} is asked in {' and '.join(spoken)}: choose one of"
            f" {', '.join(able)} with --engine"
        )
    return language


class Obtained(NamedTuple):
    """What is known of an engine that is there, as `Asked` has it."""

    product: Product | None
    version: str
    preflight: dict[str, Any] | None = None
    pooled: bool = False


def obtained(asked: Asked, teller: Teller) -> Obtained:
    """The product, None of a running server, its version, and what it says of the statements.

    Raises:
        UsageError: If a running server cannot execute a statement.
        EngineError: If it cannot be obtained or reached.
    """
    if asked.request.dsn is not None and asked.file is None:
        return _looked_at(asked)
    product = _product(asked.request, asked.behaviour, teller)
    facts = None if asked.file is None else _tried_on_file(asked, asked.file)
    return Obtained(product, product.version, facts)


def check_settings(asked: Asked) -> None:
    """Raises `EngineError` if the engine, whose product is there, refuses a setting."""
    if asked.product is not None and isinstance(asked.behaviour, ChecksSettings):
        settings = asked.request.engine_settings
        try:
            asked.behaviour.check_settings(asked.product, settings)
        except EngineError as error:
            near = asked.engine.knobs().near(name for name in settings if name in str(error))
            raise EngineError(f"{error}{near}") from error


def dsn_with_settings(request: RunRequest, behaviour: Engine) -> str:
    """The DSN of a request, with its settings as those of sessions."""
    assert request.dsn is not None  # noqa: S101 - only asked of running servers
    if request.settings and isinstance(behaviour, HasSessionSettings):
        return behaviour.with_settings(request.dsn, request.settings)
    return request.dsn


def _check_request(
    request: RunRequest, workload: Workload, behaviour: Engine, language: Language
) -> None:
    """Refuses what could only fail later, after data was loaded."""
    _check_tables(workload, workload.tables(language), request.scale, 0)
    server = isinstance(behaviour, Server)
    opens_files = isinstance(behaviour, OpensFiles)
    if request.dsn is not None and not (server or opens_files):
        raise UsageError(f"--dsn: {request.engine} is no server; leave --engine out")
    if request.dsn is not None and opens_files:
        _check_file(request.dsn, workload, request.engine)
    if (
        request.dsn is not None
        and request.settings
        and not isinstance(behaviour, HasSessionSettings | OpensFiles)
    ):
        raise UsageError(
            f"--set goes with a server of our own: sessions of {request.engine} have no settings,"
            " and a running server has its owner's"
        )
    if "engine" in request.pin and (request.dsn is not None or not server):
        who = "a running server is not ours to move" if server else "it shares the driver's process"
        raise UsageError(f"--pin engine: {who}; pin the client only")
    allowed = os.sched_getaffinity(0)
    if strange := sorted({cpu for cpus in request.pin.values() for cpu in cpus} - allowed):
        raise UsageError(
            f"--pin: CPU {', '.join(map(str, strange))} is not there or not ours; there are"
            f" {', '.join(map(str, sorted(allowed)))}"
        )


def _check_file(dsn: str, workload: Workload, engine: str) -> None:
    """Refuse an address that is no file of the engine, and data that would be loaded into one."""
    schemes = find_engine(engine).facts.schemes
    if not any(dsn.startswith(f"{scheme}:") for scheme in schemes):
        raise UsageError(
            f"--dsn: {engine} is no server; write {schemes[0]}:FILE, or leave --engine out"
        )
    if workload.makes_data:
        raise UsageError(
            f"--dsn {dsn}: {workload.facts.name} makes tables, which are not made in a file of"
            " yours: leave --dsn out, or name a folder of .sql files that asks its tables"
        )


def _check_drivers(request: RunRequest, behaviour: Engine) -> None:
    if request.drivers and not isinstance(behaviour, Bridged):
        raise UsageError(
            f"--driver: {request.engine} is not reached by a JDBC driver; leave it out, or say"
            " --engine jdbc"
        )


def _check_state(request: RunRequest, workload: Workload, engine: EngineFolder) -> None:
    """Refuses states that could not be set."""
    if request.state == STATE_HOT:
        return
    if request.dsn is not None:
        why = (
            "what a running server has in memory beside our tables is its owner's, and not known"
            if request.state == STATE_LOADED
            else "a running server and its files are its owner's, who alone may restart it"
        )
        raise UsageError(f"--state {request.state}: {why}. Leave one of --state and --dsn out")
    if engine.facts.kind == "none":
        raise UsageError(f"--state {request.state}: {request.engine} keeps no data; leave it out")
    if request.state == STATE_LOADED:
        _check_loaded(request, workload)


def _check_loaded(request: RunRequest, workload: Workload) -> None:
    if not workload.makes_data:
        raise UsageError(f"--state loaded: {workload.facts.name} loads nothing; leave it out")
    if request.prepare:
        raise UsageError(
            "--state loaded and --prepare: what changes the data comes between loading and the"
            " first query; leave one of the two out"
        )


def _check_probes(request: RunRequest) -> None:
    probes = find_probes()
    names = [probe.name for probe in probes if not isinstance(probe, Refusing)]
    for name in request.probes or ():
        if any(name == probe.name and isinstance(probe, Refusing) for probe in probes):
            raise UsageError(f"--probes {name}: it is asked for by --{name}, and runs then")
        if name not in names:
            raise UsageError(f"--probes: unknown probe {name!r}; {suggestion(name, names)}")


def _check_programs(request: RunRequest, engine: EngineFolder) -> None:
    """Refuses what says where a server of our own comes from and goes, where there is none."""
    if request.keep_data and request.dsn is None:
        raise UsageError(
            "--keep-data goes with --dsn: what is loaded into engines of our own is kept anyway,"
            " for all runs. Leave it out"
        )
    if request.bin_dir is not None and request.dsn is not None:
        raise UsageError("--bin-dir: a running server has its programs; leave it or --dsn out")
    if request.bin_dir is not None and not engine.facts.products:
        raise UsageError(
            f"--bin-dir: {request.engine} has no programs of its own; leave it out, or name a"
            " server with --engine"
        )


def _check_prepare(request: RunRequest, workload: Workload, behaviour: Engine) -> None:
    if not request.prepare:
        return
    if not isinstance(behaviour, Prepares):
        raise UsageError(f"--prepare: {request.engine} knows no SQL; leave it out")
    if request.keep_data:
        raise UsageError(
            "--prepare changes the tables, and --keep-data leaves them to runs that want the plain"
            " ones: leave one of the two out"
        )
    if request.dsn is not None and not workload.makes_data:
        raise UsageError(
            f"--prepare changes tables that Assay made, and {workload.facts.name} reads those that"
            " the running server has: change these yourself, or leave it out"
        )


def _check_tables(workload: Workload, tables: Iterable[str], scale: float, sets: int) -> None:
    """Refuses tables whose rows cannot be made."""
    facts = workload.row_facts(scale, sets)
    for table in tables:
        table_rows(facts, table, 1)


def _check_test(request: RunRequest, workload: Workload) -> None:
    """Refuses a test that the workload cannot be put to, or that would spoil what is kept."""
    test = specified(request, workload)
    if test is None or test.refresh is None:
        return
    most = refresh_sets_max(request.scale)
    if test.refresh.sets > most:
        raise UsageError(
            f"--test {test.kind}: it uses {test.refresh.sets} refresh sets, and at scale"
            f" {request.scale:g} there can be {most}; say --streams {streams_max(test.kind, most)}"
            " at most, or --no-refresh"
        )
    facts = workload.facts
    tables = facts.refresh.tables if facts.refresh is not None else ()
    _check_tables(workload, tables, request.scale, test.refresh.sets)
    if request.keep_data:
        raise UsageError(
            "--test changes the tables by its refresh functions, and --keep-data leaves them to"
            " runs that want the plain ones: leave --keep-data out, or say --no-refresh"
        )


def _check_transactions(request: RunRequest, workload: Workload, engine: EngineFolder) -> None:
    """Refuses transactions of an engine that has none."""
    if engine.facts.transactions:
        return
    test = specified(request, workload)
    if test is not None and test.refresh is not None:
        raise UsageError(
            f"--test {test.kind}: refresh functions are transactions, and {engine.facts.title} has"
            " none: say --no-refresh"
        )
    dialects = engine.facts.dialects_of(language_asked(request, workload, engine))
    script = workload.script(dialects, request.scale, request.seed)
    for operation in script.operations:
        if any(BEGINS.match(statement.text) for statement in operation.statements):
            raise UsageError(
                f"{operation.name} of {workload.facts.title} is a transaction, and"
                f" {engine.facts.title} has none: choose another engine"
            )


def _check_clients(request: RunRequest, workload: Workload, engine: EngineFolder) -> None:
    """Refuses what clients of this workload, or sessions of this engine, cannot do."""
    name = workload.facts.name
    programs = [
        operation.program for operation in workload.facts.operations.values() if operation.program
    ]
    reading = [program for program in programs if _reads_rows(name, program)]
    if reading and not engine.facts.programs:
        able = ", ".join(
            folder.facts.name for folder in find_engines().values() if folder.facts.programs
        )
        raise UsageError(
            f"{name} is played by programs of the driver that read rows, and the session of"
            f" {request.engine} plays none: choose one of {able} with --engine"
        )
    _check_receipt(workload)
    if request.think_time and not workload.waits:
        raise UsageError(f"--think-time: {name} does not say how long people wait; leave it out")
    if request.think_time and request.rate_per_s is not None:
        raise UsageError(
            "--think-time and --rate: people at terminals make the rate; leave one of the two out"
        )
    if request.pipeline and not engine.facts.pipelines:
        raise UsageError(
            f"--pipeline: the session of {request.engine} waits for each answer; leave it out"
        )


def _reads_rows(workload: str, program: str) -> bool:
    try:
        return _core.program_reads_rows(program)
    except ValueError as error:
        raise UsageError(f"{workload}: {error}") from None


def _check_receipt(workload: Workload) -> None:
    """Refuses names of a receipt that are not those of its program."""
    receipt = workload.facts.receipt
    if receipt is None:
        return
    program = workload.facts.operations[receipt.operation].program
    assert program is not None  # noqa: S101 - the manifest was refused without
    names = _core.program_receipt(program)
    if list(receipt.names) != names:
        listed = ", ".join(names) or "none"
        raise UsageError(
            f"{workload.facts.name}: receipt.names are those of {program}, in its order: {listed}"
        )


def _product(request: RunRequest, behaviour: Engine, teller: Teller) -> Product:
    bin_dir = None if request.bin_dir is None else Path(request.bin_dir)
    wanted = Wanted(engines_dir(), request.engine_version, bin_dir)
    return behaviour.obtain(wanted, telling(teller))


def _looked_at(asked: Asked) -> Obtained:
    """Ask a running server for its version, and have it prepare the statements that it is asked."""
    request, behaviour = asked.request, asked.behaviour
    if not isinstance(behaviour, Server):
        raise UsageError("--dsn goes with an engine that is a server")
    dsn = dsn_with_settings(request, behaviour)
    with reached_before(behaviour, dsn, request, partial(guarded, asked)) as address:
        instance = behaviour.attach(address)
        try:
            pooled = isinstance(behaviour, TellsPooler) and behaviour.is_pooled(instance)
            facts = None
            if asked.workload.makes_data:
                _check_pooled(asked, pooled=pooled)
                if not loads(behaviour, instance):
                    check_others(asked)
            else:
                facts = preflight(played_statements(asked), behaviour, instance)
                check_unknown(asked)
            return Obtained(None, behaviour.version(instance), facts, pooled)
        finally:
            behaviour.detach(instance)


def _check_pooled(asked: Asked, *, pooled: bool) -> None:
    """Refuse to make tables through a pooler: a namespace is locked and found by its connection."""
    if pooled:
        raise UsageError(
            f"{asked.workload.facts.name} makes tables of its own, which a pooler does not let"
            " sessions find again: name the server itself in --dsn, not the pooler"
        )


def _tried_on_file(asked: Asked, file: Path) -> dict[str, Any]:
    """Have an embedded engine prepare the statements that it is asked of a file."""
    behaviour = asked.behaviour
    assert isinstance(behaviour, Embedded)  # noqa: S101 - no other engine opens files
    with TemporaryDirectory() as scratch:
        place = Place(Path(scratch), Path(scratch), file, reads_only=reads_only(asked))
        instance = behaviour.start(place, asked.request.settings)
        try:
            facts = preflight(played_statements(asked), behaviour, instance)
        finally:
            behaviour.stop(instance)
    check_unknown(asked)
    return facts
