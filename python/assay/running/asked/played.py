"""Lists the statements that a run executes, each with its line in its file."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from assay.model.language import SPARQL, language_of
from assay.model.script import ScriptStatement
from assay.running.plans import drawn_row
from assay.workloads import scripts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from assay.engines.contract import Engine
    from assay.engines.discovery import EngineFolder
    from assay.model.language import Language
    from assay.model.script import Script, ScriptOperation
    from assay.running.asked.request import RunRequest
    from assay.workloads.contract import Workload

# Statements of transactions, equal for all engines with transactions.
BEGIN, COMMIT, ROLLBACK = "begin", "commit", "rollback"
# Spaces and comments before the first word of a statement.
BEFORE = re.compile(rf"(?:\s|{scripts.COMMENT.pattern})*", re.DOTALL)


class PlayedRun(Protocol):
    """The parts of a requested run that determine its statements."""

    @property
    def request(self) -> RunRequest:
        """The request of the run."""
        ...

    @property
    def workload(self) -> Workload:
        """The workload whose operations are executed."""
        ...

    @property
    def engine(self) -> EngineFolder:
        """The folder of the engine."""
        ...

    @property
    def behaviour(self) -> Engine:
        """The engine's own Python code."""
        ...

    @property
    def language(self) -> Language:
        """The query language in which the run's sessions use the engine."""
        ...

    @property
    def dialects(self) -> tuple[str, ...]:
        """The search order of SQL dialects for the workload's files."""
        ...

    @property
    def plain_script(self) -> Script:
        """The script without the transactions that Assay adds around its operations."""
        ...


@dataclass(frozen=True)
class PlayedStatement:
    """One SQL statement of the run's script, as it is sent to the engine.

    Attributes:
        operation: Operation of the statement.
        text: Statement with `$1`, `$2`, ... for its values.
        values: One set of its values; None means a program of the driver supplies them.
        file: File that contains the statement.
        line: First line of the statement in its file.
    """

    operation: str
    text: str
    values: tuple[object, ...] | None
    file: str
    line: int

    def place(self, position: int | None = None) -> str:
        """Return the file and line of a position in a statement's text."""
        if position is None:
            position = match.end() if (match := BEFORE.match(self.text)) else 0
        return f"{self.file}:{self.line + self.text.count(chr(10), 0, position)}"


def played_statements(asked: PlayedRun) -> list[list[PlayedStatement]]:
    """Return the statements of each operation in order, without those that Assay adds.

    Raises:
        UsageError: If the files are invalid for `Workload.script`.
    """
    seed = asked.request.seed
    return [
        [
            PlayedStatement(
                operation.name, statement.text, _values(operation, statement, seed), *place
            )
            for statement, place in zip(
                operation.statements, _places(asked, operation), strict=True
            )
        ]
        for operation in asked.plain_script.operations
    ]


def rolled_back(script: Script, begin_text: str = BEGIN) -> Script:
    """Return a script in which each operation runs in a transaction that is rolled back."""
    begin, end = ScriptStatement(begin_text), ScriptStatement(ROLLBACK)
    return replace(
        script,
        operations=tuple(
            replace(operation, statements=(begin, *operation.statements, end))
            for operation in script.operations
        ),
    )


def in_one_transaction(script: Script, names: Collection[str]) -> Script:
    """Return a script in which each execution of the named operations is one transaction."""
    begin, end = ScriptStatement(BEGIN), ScriptStatement(COMMIT)
    return replace(
        script,
        operations=tuple(
            replace(operation, statements=(begin, *operation.statements, end))
            if operation.name in names
            else operation
            for operation in script.operations
        ),
    )


def _values(
    operation: ScriptOperation, statement: ScriptStatement, seed: int
) -> tuple[object, ...] | None:
    if operation.program is not None:
        return None
    row = drawn_row(operation, seed, 0)
    return tuple(row[place] for place in statement.values)


def _places(asked: PlayedRun, operation: ScriptOperation) -> Iterator[tuple[str, int]]:
    """Yield the file and line of each statement of an operation."""
    workload, dialects = asked.workload, asked.dialects
    path = workload.operation_file(operation.name.partition("@")[0], dialects)
    file, count = str(path), len(operation.statements)
    lines = [1] * count
    if language_of(dialects) != SPARQL:
        text = workload.statement(operation.name, dialects, asked.request.scale).text
        parts = scripts.parts(text, dialects)
        begins = [part.begin + _blank(text[part.begin : part.end]) for part in parts]
        if len(parts) == count:
            lines = [text.count("\n", 0, begin) + 1 for begin in begins]
    for line in lines:
        yield file, line


def _blank(text: str) -> int:
    return len(text) - len(text.lstrip())
