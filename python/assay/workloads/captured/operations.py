"""Groups captured executions into operations, each with its text and its values."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.workloads import scripts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.model.captured import Constant, Grammar
    from assay.workloads.captured.anonymising import Anonymiser
    from assay.workloads.captured.shapes import Stated
    from assay.workloads.captured.transactions import Execution

TABLE = re.compile(r"(?i)\b(?:from|into|update|join|call|table)\s+([\w.\"`]+)")
WRITING = ("insert", "update", "delete", "merge", "replace", "call")
NO_NAME = re.compile(r"\W+")
# Numbers of rows belong to the statement, because other numbers change its meaning.
OF_ROWS = re.compile(r"(?i)\b(?:limit|offset)\s*$")
NAME_LETTERS_MAX = 40


@dataclass(frozen=True)
class CapturedOperation:
    """One captured operation that a run can repeat.

    Attributes:
        name: Name of the operation's file.
        text: Text of its statements, with `${name}` for bound values.
        columns: Values by name, each as long as `times_ns`.
        statements: Number of statements in each execution.
        count: Number of executions.
        times_ns: Start of each execution; empty if not known.
        sessions: Session of each execution.
        unknown: Names in the text whose values are not known.
    """

    name: str
    text: str
    columns: dict[str, list[Constant]]
    statements: int
    count: int
    times_ns: tuple[int, ...] = ()
    sessions: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def operations_of(
    executions: Sequence[Execution], grammar: Grammar, by: Anonymiser | None
) -> list[CapturedOperation]:
    """Return the captured operations, the most frequent first."""
    alike: defaultdict[tuple[tuple[str, ...], ...], list[Execution]] = defaultdict(list)
    for execution in executions:
        alike[tuple(part.pieces for part in execution.statements)].append(execution)
    ranked = sorted(alike.values(), key=len, reverse=True)
    names: dict[str, int] = {}
    return [
        replace(
            operation_of([execution.statements for execution in same], names, grammar, by),
            times_ns=tuple(execution.time_ns for execution in same),
            sessions=tuple(execution.session for execution in same),
        )
        for same in ranked
    ]


def operation_of(
    executions: Sequence[Sequence[Stated]],
    names: dict[str, int],
    grammar: Grammar,
    by: Anonymiser | None,
) -> CapturedOperation:
    """Return the captured operation of executions that differ only in their constants.

    Args:
        executions: Statements of each execution.
        names: Number of operations with each name so far, including this one afterwards.
        grammar: Rules for writing constants.
        by: Replaces all values; None if values are kept.
    """
    statements = executions[0]
    name = _named(statements)
    names[name] = names.get(name, 0) + 1
    columns = _Columns(grammar, by)
    texts = []
    for number, part in enumerate(statements):
        columns.begin_statement()
        rows = [execution[number].constants for execution in executions]
        texts.append(_written(part.pieces, list(zip(*rows, strict=True)), columns))
    return CapturedOperation(
        name if names[name] == 1 else f"{name}-{names[name]}",
        "".join(f"{text};\n" for text in texts),
        columns.kept,
        len(statements),
        len(executions),
        unknown=tuple(columns.unknown),
    )


def _named(statements: Sequence[Stated]) -> str:
    """Return the name of a captured operation, from its first writing statement."""
    plain = [part for part in statements if TABLE.search("".join(part.pieces))]
    of_data = [part for part in plain if part.word in WRITING]
    for part in (*of_data, *plain):
        match = TABLE.search("".join(part.pieces))
        word = "select" if part.word in ("(", "with") else part.word
        table = NO_NAME.sub("-", (match[1] if match else "").rpartition(".")[2]).strip("-")
        return f"{word}-{table}".lower()[:NAME_LETTERS_MAX].rstrip("-")
    word = NO_NAME.sub("", statements[min(1, len(statements) - 1)].word)
    return word or "statement"


def _written(pieces: Sequence[str], columns: Sequence[Sequence[Constant]], kept: _Columns) -> str:
    made = [pieces[0]]
    for place, column in enumerate(columns):
        of_rows = OF_ROWS.search(pieces[place]) is not None
        made += [kept.place(list(column), of_rows=of_rows), pieces[place + 1]]
    return "".join(made).strip().rstrip(";").rstrip()


class _Columns:
    """The columns of a captured operation's values; equal columns are merged."""

    def __init__(self, grammar: Grammar, by: Anonymiser | None) -> None:
        self._grammar, self._by = grammar, by
        self.kept: dict[str, list[Constant]] = {}
        self.unknown: list[str] = []
        # Columns of the current statement: in one statement a value has one type, wherever it is
        # used.
        self._used: set[str] = set()

    def begin_statement(self) -> None:
        """Begin the columns of the next statement."""
        self._used = set()

    def place(self, column: list[Constant], *, of_rows: bool) -> str:
        """Return the text that replaces the constants of a column."""
        if {constant.kind for constant in column} == {"unknown"}:
            name = f"p{len(self.kept) + len(self.unknown) + 1}"
            self.unknown.append(name)
            return self._grammar.placeholder(name, column)
        source = _same_source(column)
        if source is not None and (self._by is None or of_rows):
            return source
        if self._by is not None and not of_rows:
            column = [self._by.constant(constant) for constant in column]
        values = [(constant.kind, constant.value, constant.cast) for constant in column]
        for name, other in self.kept.items():
            if (
                name not in self._used
                and [(same.kind, same.value, same.cast) for same in other] == values
            ):
                self._used.add(name)
                return self._grammar.placeholder(name, column)
        name = f"p{len(self.kept) + len(self.unknown) + 1}"
        self.kept[name] = column
        self._used.add(name)
        return self._grammar.placeholder(name, column)


def _same_source(column: Sequence[Constant]) -> str | None:
    """Return the text of a constant that is equal in all executions; None if it differs."""
    sources = {constant.source for constant in column}
    (source, *others) = sources
    if others or source is None or scripts.PLACEHOLDER.search(source):
        return None
    return source
