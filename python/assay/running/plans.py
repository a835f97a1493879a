"""Captures the plan of every operation once, after the measured part.

The engine's own plan is kept together with its parsed form and the cost of the capture. A missing
plan is recorded with its reason and does not stop the others.
"""

from __future__ import annotations

import contextlib
import logging
import random
import time
from collections.abc import Generator
from dataclasses import asdict, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from assay.engines.plan_reading import (
    AsksAlternatives,
    AsksPrepared,
    CountsRows,
    CountsWrites,
    PlanAsked,
    PlaysPrograms,
    TellsChangedSettings,
    TellsCollations,
    TellsExtensions,
    TellsForeignKeys,
    TellsIndexes,
    TellsNotifiers,
    TellsPartitionKeys,
    TellsStatistics,
    TellsTriggerTexts,
)
from assay.model.errors import AssayError
from assay.model.units import NS_PER_S
from assay.record.layout import PLANS_DIR, PLANS_FILE, measured_phases
from assay.record.writer import write_json
from assay.running.kept_rows import kept_rows
from assay.running.processes.held_signals import Interruptions
from assay.running.written_rows import written_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from assay.engines.plan_reading import Explained, HasPlans, PlanAnswer, PlanReader
    from assay.model.catalogue import KeptRows, WrittenRows
    from assay.model.plan import Plan
    from assay.model.script import Draw, Given, Script, ScriptOperation

    Progress = Callable[[int, int], None]

log = logging.getLogger(__name__)

Told = TypeVar("Told")

# Maximum factor by which capturing may slow a statement; slower ones are cancelled.
SLOWER_MAX = 10.0
LIMIT_MIN_S = 30.0

# Number of value rows for a prepared statement. Engines decide between a generic and custom plans
# within the first five, and three more show whether plans differ.
ROWS_OF_VALUES = 8

# Maximum number of a program's executions until each of its statements has a plan.
EXECUTIONS_MAX = 20
NO_ANSWERS = "this engine's plans are asked without the answers that a program of the driver needs"


class Player(Protocol):
    """Interface of a driver program, such as TPC-C's, whose statements the caller executes."""

    def begin(self, operation: int) -> None:
        """Begin an execution of a program's operation with its own inputs."""
        ...

    def next(self) -> tuple[int, list[object]] | None:
        """Return the program's next statement and its values; None at the end.

        Raises `ValueError` if the program cannot continue.
        """
        ...

    def answered(self, statement: int, rows: Sequence[Sequence[object]], count: int) -> None:
        """Pass the engine's answer to the program.

        Raises `ValueError` if the program cannot use it.
        """
        ...


class Capture:
    """Captures and stores the plans of one run.

    Args:
        engine: Engine whose plans are parsed.
        reader: Plan reader, which its creator closes.
        raw_dir: Directory `raw/` of the record.
        seed: Seed of drawn values.
        player: Executes the script's programs, if it has any.
        schema: Facts of tables besides the plans: `grammar`, the SQL dialect of the statements
            (None: common SQL), and `tables`, column types by table.
    """

    def __init__(
        self,
        engine: HasPlans,
        reader: PlanReader,
        raw_dir: Path,
        seed: int,
        player: Player | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> None:
        self._engine = engine
        self._reader = reader
        self._dir = raw_dir / PLANS_DIR
        self._seed = seed
        self._player = player
        self._schema = dict(schema or {"grammar": None, "tables": {}})
        self._plans: list[Plan] = []
        self._kept_rows: list[KeptRows] = []
        self._written_rows: list[WrittenRows] = []
        self._table_names: set[str] | None = None
        self._missing: list[dict[str, Any]] = []
        self._operations: list[dict[str, Any]] = []
        self._alternatives: list[dict[str, Any]] = []
        self._interruptions = Interruptions()
        self._prepared = False
        self._asks_alternatives = False

    def all(
        self,
        script: Script,
        timed_s: Mapping[str, float],
        deadline_s: float | None,
        tell: Progress,
        *,
        alternatives: bool = True,
    ) -> None:
        """Capture the plans of all operations, and write those captured so far on interruption.

        An interruption during a capture ends it; complete plans are written.

        Args:
            script: Operations in order.
            timed_s: Median service time of each operation in the measured part, if it has one.
            deadline_s: The run's time limit per operation; 0 means no limit; None means plans are
                not executed.
            tell: Receives the number of completed and of all operations.
            alternatives: Whether to capture plans with other settings, too. Some engines execute
                them.
        """
        self._dir.mkdir(exist_ok=True)
        self._asks_alternatives = alternatives
        self._prepared = script.prepared
        begun_s = time.monotonic()
        with self._interruptions.held():
            try:
                for number, operation in enumerate(script.operations):
                    tell(number, len(script.operations))
                    timed = timed_s.get(operation.name)
                    limit_s = deadline_s or max(LIMIT_MIN_S, SLOWER_MAX * (timed or 0.0))
                    limit_s = 0.0 if deadline_s is None else limit_s
                    if operation.program is not None:
                        self._program(number, operation, timed, limit_s)
                    else:
                        self._capture(operation, timed, limit_s)
            finally:
                write_json(
                    self._dir / PLANS_FILE,
                    {
                        "catalogue": self._catalogue(),
                        "alternatives": self._alternatives,
                        "kept_rows": [counted.facts() for counted in self._kept_rows],
                        "written_rows": [counted.facts() for counted in self._written_rows],
                        "capture_s": time.monotonic() - begun_s,
                        "operations": self._operations,
                        "plans": [plan.facts() for plan in self._plans],
                        "missing": self._missing,
                        "schema": self._schema,
                    },
                )

    def _tables(self) -> set[str]:
        """Return the names of all tables that the workload declares or the catalogue has."""
        if self._table_names is None:
            self._table_names = set(self._schema["tables"])
            if isinstance(self._reader, TellsIndexes):
                with contextlib.suppress(OSError, AssayError):
                    self._table_names |= {index.table for index in self._reader.indexes()}
        return self._table_names

    def _catalogue(self) -> dict[str, Any]:
        """Return indexes, keys and changed settings of the database."""
        reader = self._reader
        facts: dict[str, Any] = {
            "indexes": None,
            "foreign_keys": None,
            "triggers": None,
            "changed_settings": None,
            "extensions": None,
            "partition_keys": None,
            "statistics": None,
            "notifiers": None,
            "collations": None,
            "reason": None,
        }
        try:
            if isinstance(reader, TellsIndexes):
                facts["indexes"] = [index.facts() for index in reader.indexes()]
            if isinstance(reader, TellsForeignKeys):
                facts["foreign_keys"] = [key.facts() for key in reader.foreign_keys()]
            if isinstance(reader, TellsExtensions):
                facts["extensions"] = reader.extensions()
            if isinstance(reader, TellsChangedSettings):
                facts["changed_settings"] = [
                    setting.facts() for setting in reader.changed_settings()
                ]
            if isinstance(reader, TellsPartitionKeys):
                facts["partition_keys"] = reader.partition_keys()
            if isinstance(reader, TellsStatistics):
                facts["statistics"] = [each.facts() for each in reader.statistics()]
            if isinstance(reader, TellsNotifiers):
                facts["notifiers"] = [each.facts() for each in reader.notifiers()]
            if isinstance(reader, TellsTriggerTexts):
                facts["triggers"] = [text.facts() for text in reader.trigger_texts()]
            facts["collations"] = _collations(reader)
        except (OSError, AssayError) as error:
            log.warning("the engine's catalogue cannot be read: %s", error)
            facts["reason"] = str(error)
        return facts

    def _program(
        self, number: int, operation: ScriptOperation, timed_s: float | None, limit_s: float
    ) -> None:
        """Execute a program in one transaction until each of its statements has a plan.

        The values are those of the current execution, so their rows exist.
        """
        begun_s = time.monotonic()
        reader = self._reader
        if self._player is None or not isinstance(reader, PlaysPrograms):
            self._leave_out(operation, range(len(operation.statements)), NO_ANSWERS)
            return
        playing = _Playing(self._player, number, operation, prepared=self._prepared)
        failed = None
        for answer in self._waited(lambda: reader.play(playing.asked(), limit_s)):
            if answer.explained is not None:
                self._keep(operation, playing.statement, answer.explained)
            failed = answer.error or playing.take(answer)
            if failed is not None:
                break
        failed = failed or playing.failed
        why = f": {failed}" if failed else ""
        self._leave_out(
            operation,
            playing.unasked,
            f"not executed in any of {playing.executions} executions{why}",
        )
        self._operations.append(
            {
                "operation": operation.name,
                "capture_s": time.monotonic() - begun_s,
                "watched_s": None,
                "timed_s": timed_s,
                "ratio": None,
            }
        )

    def _leave_out(self, operation: ScriptOperation, numbers: Iterable[int], reason: str) -> None:
        for number in numbers:
            missing = _missing(operation, number, None)
            self._missing.append(missing | {"reason": reason})

    def _capture(self, operation: ScriptOperation, timed_s: float | None, limit_s: float) -> None:
        rows = [drawn_row(operation, self._seed, number) for number in range(ROWS_OF_VALUES)]
        asked = [
            (statement.text, [rows[0][draw] for draw in statement.values])
            for statement in operation.statements
        ]
        begun_s = time.monotonic()
        watched_s: float | None = 0.0
        reader = self._reader
        if self._prepared and isinstance(reader, AsksPrepared):
            kept = [
                (statement.text, [[row[draw] for draw in statement.values] for row in rows])
                for statement in operation.statements
            ]
            explained = self._waited(lambda: reader.explain_prepared(kept, limit_s))
        else:
            explained = self._waited(lambda: reader.explain(asked, limit_s))
        first = len(self._plans)
        for number, explanation in enumerate(explained):
            execution_s = self._keep(operation, number, explanation)
            if watched_s is not None:
                watched_s = None if execution_s is None else watched_s + execution_s
        if self._asks_alternatives and isinstance(self._reader, CountsRows):
            for plan in self._plans[first:]:
                with self._interruptions.welcome():
                    self._kept_rows += kept_rows(self._reader, plan, self._tables())
        if self._asks_alternatives and isinstance(self._reader, CountsWrites):
            self._count_writes(self._reader, operation, rows)
        if self._asks_alternatives and isinstance(self._reader, AsksAlternatives):
            changed = self._reader.alternatives(operation.name, asked)
            self._alternatives += [alternative.facts() for alternative in changed]
        self._operations.append(
            {
                "operation": operation.name,
                "capture_s": time.monotonic() - begun_s,
                "watched_s": watched_s,
                "timed_s": timed_s,
                "ratio": watched_s / timed_s if watched_s and timed_s else None,
            }
        )

    def _count_writes(
        self, reader: CountsWrites, operation: ScriptOperation, rows: Sequence[Sequence[object]]
    ) -> None:
        """Count the rows that an operation's updates write and change, for some rows of values."""
        for number, statement in enumerate(operation.statements):
            values = [[row[draw] for draw in statement.values] for row in rows]
            place = (operation.name, number)
            with self._interruptions.welcome():
                grammar = self._schema["grammar"]
                counted = written_rows(reader, place, statement.text, values, grammar)
            if counted is not None:
                self._written_rows.append(counted)

    def _waited(self, ask: Callable[[], Iterator[Told]]) -> Iterator[Told]:
        """Yield the engine's answers, each awaited in a way that can be interrupted."""
        with self._interruptions.welcome():
            asking = ask()
        try:
            while True:
                with self._interruptions.welcome():
                    answer = next(asking, None)
                if answer is None:
                    return
                yield answer
        finally:
            # The reader's changes are undone before the next statement.
            if isinstance(asking, Generator):
                asking.close()

    def _with_cache(self, plan: Plan, explained: Explained) -> Plan:
        """Return a plan with how often the plan cache planned it in timed sessions."""
        cached = explained.cached
        if cached is not None:
            return replace(
                plan,
                mode=cached.mode,
                planned_each_time=cached.planned_each_time,
                captures=cached.captures,
                shapes=1 + len(cached.others),
                others=cached.others,
            )
        is_known = isinstance(self._reader, AsksPrepared) and not self._prepared
        return replace(plan, planned_each_time=True) if is_known else plan

    def _keep(self, operation: ScriptOperation, number: int, explained: Explained) -> float | None:
        """Write a plan to the record; return its seconds of planning and execution."""
        missing = _missing(operation, number, explained.capture_s)
        if explained.native is None:
            self._missing.append(missing | {"reason": explained.reason})
            return None
        file = f"{operation.name}-{number}.json"
        (self._dir / file).write_text(explained.native, encoding="utf-8")
        try:
            plan = self._engine.plan(explained.native, operation.name, number, file)
        except ValueError as error:
            log.warning("the plan of %s cannot be parsed: %s", operation.name, error)
            self._missing.append(missing | {"reason": f"its plan is not understood: {error}"})
            return None
        statement = operation.statements[number]
        plan = replace(
            plan,
            name=statement.name,
            text=statement.text,
            capture_s=explained.capture_s,
            reason=explained.reason,
            reads=explained.reads or plan.reads,
        )
        plan = self._with_cache(plan, explained)
        self._plans.append(plan)
        if plan.execution_s is None:
            return None
        return plan.execution_s + (plan.planning_s or 0.0)


def drawn_row(operation: ScriptOperation, seed: int, number: int) -> list[object]:
    """Return the values of an operation's parameters in one execution."""
    number = 0 if operation.fixed else number
    if operation.joint and operation.draws:
        rows = list(zip(*(draw.choice or (None,) for draw in operation.draws), strict=True))
        text = f"{seed} {operation.name} {number}"
        row = random.Random(text).choice(rows)  # noqa: S311 - nothing is kept secret
        return [_plain_value(value) for value in row]
    return [drawn_value(draw, operation.name, seed, number) for draw in operation.draws]


class _Playing:
    """One program in execution, whose statements are each explained once."""

    def __init__(
        self, player: Player, number: int, operation: ScriptOperation, *, prepared: bool
    ) -> None:
        self._player = player
        self._prepared = prepared
        self._number = number
        self._operation = operation
        self._seen: set[str | None] = set()
        self.statement = 0
        self.executions = 0
        self.failed: str | None = None

    def asked(self) -> Iterator[PlanAsked]:
        """Yield the program's statements to explain, each after the previous answer."""
        try:
            while self.executions < EXECUTIONS_MAX and self.unasked:
                self._player.begin(self._number)
                self.executions += 1
                while (step := self._player.next()) is not None:
                    self.statement, values = step
                    statement = self._operation.statements[self.statement]
                    explained = statement.name not in self._seen
                    self._seen.add(statement.name)
                    yield PlanAsked(statement.text, values, explained, self._prepared)
        except ValueError as error:
            self.failed = str(error)

    def take(self, answer: PlanAnswer) -> str | None:
        """Pass the answer to the program; return why it cannot continue, or None."""
        try:
            self._player.answered(self.statement, answer.rows, answer.count)
        except ValueError as error:
            return str(error)
        return None

    @property
    def unasked(self) -> list[int]:
        """Return the numbers of the program's statements that have no plan yet."""
        first_numbers: dict[str | None, int] = {}
        for number, statement in enumerate(self._operation.statements):
            if statement.name not in self._seen:
                first_numbers.setdefault(statement.name, number)
        return list(first_numbers.values())


def _missing(operation: ScriptOperation, number: int, capture_s: float | None) -> dict[str, Any]:
    return {
        "operation": operation.name,
        "statement": number,
        "name": operation.statements[number].name,
        "capture_s": capture_s,
    }


def drawn_value(draw: Draw, operation: str, seed: int, number: int = 0) -> object:
    """Return a parameter value determined by seed, operation, name and execution."""
    text = f"{seed} {operation} {draw.name}" + (f" {number}" if number else "")
    source = random.Random(text)  # noqa: S311 - nothing is kept secret
    if draw.integer is not None:
        return source.randint(*draw.integer)
    return _plain_value(source.choice(draw.choice or ("",)))


def _plain_value(value: Given) -> object:
    """Return a value from the engine as a plain Python type."""
    return Decimal(value[0]).scaleb(-value[1]) if isinstance(value, tuple) else value


def timed_seconds(report: Mapping[str, Any]) -> dict[str, float]:
    """Return each operation's median service time in seconds, from the driver's report."""
    measured = measured_phases(phase["phase"] for phase in report["phases"])
    return {
        operation["operation"]: operation["service"]["p50_ns"] / NS_PER_S
        for phase in report["phases"]
        if phase["phase"] in measured
        for operation in phase["operations"]
        if operation["counts"]["ok"]
    }


def _collations(reader: object) -> dict[str, dict[str, Any]] | None:
    """Return the collations of columns by table as JSON values; None if the engine has none."""
    if not isinstance(reader, TellsCollations):
        return None
    return {
        table: {name: asdict(collation) for name, collation in columns.items()}
        for table, columns in reader.collations().items()
    }
