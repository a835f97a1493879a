"""A run that is ready to execute: its request, workload and engine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from assay.engines.checking import OpensFiles
from assay.engines.contract import Engine, HasSessionSettings, Product
from assay.engines.discovery import EngineFolder, find_engines
from assay.engines.durability import level_of
from assay.model.errors import UsageError
from assay.record.layout import KIND_PLANNED
from assay.running.asked.driver_plan import Mix, driver_plan, plan_of, without_dues
from assay.running.asked.order import LoadOrder, asked_order
from assay.running.asked.parsing import PREPARED
from assay.running.asked.played import in_one_transaction, rolled_back
from assay.running.asked.specified import PieceTexts, PlannedTest, SpecifiedTest, specified
from assay.running.asked.writing import writing_facts
from assay.workloads.captured.schedule import recorded_schedule
from assay.workloads.recording import recorded
from assay.workloads.scripts import brief

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from assay.model.language import Language
    from assay.model.script import Script
    from assay.running.asked.request import RunRequest
    from assay.workloads.contract import Parameters, Workload

# Parameter of driver programs: whether each session is one terminal.
TERMINALS = "terminals"


@dataclass(frozen=True)
class Asked:
    """A run that is ready to execute: its request, workload, engine and product.

    Attributes:
        request: The request of the run.
        workload, engine: The workload and the engine with the requested names.
        behaviour: The engine's own code.
        version: Full version of the product.
        origin: Source of the engine's programs; empty for a library or a running server.
        product: Installed product; None for a running server.
        preflight: Facts of the statements that were prepared before the run; None if none were.
        pooled: Whether a connection pooler assigns a connection to each transaction.
        begin_read_only: Statement that begins each operation if connections keep no setting that
            refuses writes; None if they keep the setting, or may write.
    """

    request: RunRequest
    workload: Workload
    engine: EngineFolder
    behaviour: Engine
    version: str
    product: Product | None
    preflight: dict[str, Any] | None = None
    pooled: bool = False
    begin_read_only: str | None = None

    @property
    def origin(self) -> Mapping[str, Any]:
        """The origin of the engine's product, such as a package registry."""
        return self.product.origin if self.product is not None else {}

    @cached_property
    def language(self) -> Language:
        """The query language in which the run's sessions use the engine."""
        return language_asked(self.request, self.workload, self.engine)

    @property
    def dialects(self) -> tuple[str, ...]:
        """The search order of SQL dialects for the workload's files."""
        return self.engine.facts.dialects_of(self.language)

    @property
    def dsn(self) -> str:
        """Return the DSN of a running server, with the requested session settings."""
        return dsn_with_settings(self.request, self.behaviour)

    @cached_property
    def file(self) -> Path | None:
        """Return the user's database file; None for a server or a private engine."""
        dsn, behaviour = self.request.dsn, self.behaviour
        return (
            behaviour.file(dsn) if dsn is not None and isinstance(behaviour, OpensFiles) else None
        )

    @cached_property
    def test(self) -> SpecifiedTest | None:
        """The TPC-H test that the run executes; None without a test."""
        return specified(self.request, self.workload)

    @property
    def refresh_sets(self) -> int:
        """The number of refresh sets that the run's TPC-H test needs."""
        return self.test.refresh.sets if self.test is not None and self.test.refresh else 0

    @property
    def tables(self) -> list[str]:
        """Return the tables that the generator fills, including those of refresh sets."""
        facts = self.workload.facts
        of_sets = facts.refresh.tables if self.refresh_sets and facts.refresh else ()
        return [*self.workload.tables(self.language), *of_sets]

    @cached_property
    def order(self) -> LoadOrder:
        """The order in which rows and tables are loaded."""
        return asked_order(self.request, self.tables)

    @cached_property
    def planned_test(self) -> PlannedTest | None:
        """The operations of the run's TPC-H test, phase by phase."""
        if self.test is None:
            return None
        return PlannedTest(self.test, self.workload, self.request.state_passes)

    @cached_property
    def script(self) -> Script:
        """The script of SQL statements that the run's sessions execute."""
        if self.begin_read_only is not None:
            return rolled_back(self.plain_script, self.begin_read_only)
        if self.request.roll_back:
            return rolled_back(self.plain_script)
        return in_one_transaction(self.plain_script, self.request.one_transaction)

    @cached_property
    def plain_script(self) -> Script:
        """The script without the transactions that Assay adds around its operations."""
        if self.test is not None and self.planned_test is not None:
            return self._texts(self.test).script(self.planned_test.pieces)
        request = self.request
        drawn = request.parameters == "drawn"
        parameters: Parameters = "drawn" if drawn else "default"
        script = self.workload.script(self.dialects, request.scale, request.seed, parameters)
        script_parameters = script.parameters
        if any(operation.program for operation in script.operations):
            script_parameters = script_parameters | {TERMINALS: int(request.think_time)}
        return replace(
            script,
            prepared=self._is_prepared,
            pipelined=request.pipeline,
            parameters=script_parameters,
        )

    @property
    def _is_prepared(self) -> bool:
        """True if statements are prepared once per session."""
        # Behind a pooler the next transaction gets a connection that has not prepared the
        # statement.
        if self.pooled:
            return False
        if self.request.statements is not None:
            return self.request.statements == PREPARED
        # A mix executes the same statements repeatedly, like an application that prepares them.
        return self.request.clients is not None or self.workload.facts.arrival == "closed"

    @cached_property
    def plan(self) -> dict[str, Any]:
        """The load plan that the driver executes."""
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
            recorded_schedule(self.workload) if self.request.as_recorded else (),
        )
        plan = driver_plan(self.request, facts.order, self.workload.weights, facts.after, mix)
        return plan | _statement_names(self.script)

    def facts(self) -> dict[str, Any]:
        """The facts that run.json has from its creation on."""
        engine = self.engine.facts
        kind = {"kind": KIND_PLANNED} if self.request.plans_only else {}
        return kind | {
            "request": self.request.facts(),
            "workload": recorded(self.workload),
            "engine": {
                "name": engine.name,
                "title": engine.title,
                "kind": engine.kind,
                "session": engine.spoken[self.language],
                "prepares": engine.prepares,
                "replans": engine.replans,
                "pipelines": engine.pipelines,
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
            "writes": writing_facts(self, self.begin_read_only),
            "preflight": self.preflight,
            "order": self.order.facts(self.engine.facts.rows_by_key),
            "test": None if self.test is None else self.test.facts(),
            "plan": without_dues(self.plan),
            "script": {"prepared": self.script.prepared},
            "pooled": self.pooled,
            "statements": self._statements(),
        }

    def schema(self) -> dict[str, Any]:
        """Return the tables and statements that are needed to interpret plans, for the record."""
        from assay.workloads.rewriting.grammar import grammar_of
        from assay.workloads.rewriting.views import with_views

        _, views = self.workload.declared(self.dialects, self.request.scale)
        texts = [
            (operation.name, number, with_views(statement.text, views, self.dialects))
            for operation in self.script.operations
            for number, statement in enumerate(operation.statements)
        ]
        types = self.workload.column_types(self.dialects, self.request.scale)
        return {
            "grammar": grammar_of(self.dialects),
            "tables": {table: dict(columns) for table, columns in types.items()},
            "with_views": [
                {"operation": name, "statement": number, "text": text}
                for name, number, text in texts
                if text is not None
            ],
        }

    def durability(self, settings: Mapping[str, str]) -> dict[str, Any]:
        """Return the durability of commits under given settings, for the record."""
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


def language_asked(request: RunRequest, workload: Workload, engine: EngineFolder) -> Language:
    """Return the requested language, or the workload's first one that the engine supports.

    Raises:
        UsageError: If the engine supports none of them, or not the requested one.
    """
    written, spoken = workload.facts.languages, engine.facts.spoken
    asked = request.language
    if asked is not None and asked not in written:
        raise UsageError(
            f"--language {asked}: the workload {workload.facts.name} is written in "
            f"{' and '.join(written)}"
        )
    language = workload.language([asked] if asked in spoken else [] if asked else list(spoken))
    if language is None:
        able = [
            folder.facts.name
            for folder in find_engines().values()
            if set(folder.facts.spoken) & {asked or written[0]} and folder.facts.answers
        ]
        raise UsageError(
            f"the workload {workload.facts.name} is written in {asked or ' or '.join(written)}, "
            f"and {request.engine} accepts {' and '.join(spoken)}: choose one of "
            f"{', '.join(able)} with --engine"
        )
    return language


def dsn_with_settings(request: RunRequest, behaviour: Engine) -> str:
    """Return the DSN of a request, with its settings as session settings."""
    assert request.dsn is not None  # noqa: S101 - only asked of running servers
    if request.settings and isinstance(behaviour, HasSessionSettings):
        return behaviour.with_settings(request.dsn, request.settings)
    return request.dsn
