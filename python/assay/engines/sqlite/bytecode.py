"""Reads SQLite's bytecode of a statement: columns read, and filters of scans."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import apsw.ext

from assay.engines.sqlite.database import script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import apsw

    # Table and column by position in the row, for a cursor or a root page.
    Places = Mapping[int, tuple[str, str]]

OPENING = {"OpenRead", "OpenWrite", "ReopenIdx"}
COLUMN, ROW_NUMBER = "Column", {"Rowid", "IdxRowid"}
COPIES = {"Copy", "SCopy"}
# Triggers and actions of foreign keys are separate programs, whose addresses and cursors begin
# again. An instruction calls each, and parameters in it are registers of its caller.
BEGINNING, CALL, PARAMETER = "Init", "Program", "Param"
TRIGGER = "-- TRIGGER "
# Counts rows that violate a foreign key.
KEY_COUNTER, NO_VIOLATION = "FkCounter", "FkIfZero"
FOREIGN_KEY = "foreign key"
# Comes before each statement of a trigger, behind the trigger's own condition.
STATEMENT = "Trace"
# Position of a column that is the row id itself.
PLACE_OF_NUMBER = -1
# Other databases hold temporary tables.
MAIN_DATABASE = 0
# A comparison jumps if a row is removed, so kept rows fulfil the opposite.
KEPT_BY = {"Ne": "=", "Le": ">", "Lt": ">=", "Ge": "<", "Gt": "<="}
MIRRORED = {"=": "=", ">": "<", ">=": "<=", "<": ">", "<=": ">="}
# Default collation of columns, as a program names it.
BYTEWISE = "BINARY"
JUMPS = {"Eq", "If", "IfNot", "IsNull", "NotNull", "Once", "ElseEq", *KEPT_BY}
# Parsers of a literal's text in the program.
CONSTANTS: dict[str, Callable[[str], object]] = {"String8": str, "Real": float, "Int64": int}
# Instructions that begin an inner loop.
INNER = {"Rewind", "Last", "OpenAutoindex", "InitCoroutine", "Gosub"}
# Instructions that jump back to the beginning of a loop.
LOOP_ENDS = {"Next", "Prev", "VNext", "SorterNext", "Goto", "DecrJumpZero"}
# One step to the next row, in addition to the steps to the comparison.
STEP_ON = 1


@dataclass(frozen=True)
class Comparison:
    """One comparison in SQLite's bytecode that removes rows of a scan.

    Attributes:
        column: Column of the scanned table.
        how: Operator that kept rows fulfil, such as `=`.
        values: The value, if it is known before the loops; empty otherwise.
        other: Table and column of another loop, separated by a dot; None means a value.
    """

    column: str
    how: str
    values: tuple[object, ...] = ()
    other: str | None = None

    @property
    def condition(self) -> str:
        """Return the comparison as a SQL condition, with a mark for a value."""
        return f"{self.column} {self.how} {self.other or '?'}"


@dataclass(frozen=True)
class FilteredScan:
    """One scan of a whole table that filters each row first.

    Attributes:
        table: Name of the table.
        comparisons: Comparisons in order; kept rows fulfil all.
        steps: Steps of the program for each row that the first comparison removes.
        cause: `foreign key` or the name of the trigger, if it scans once for each changed row; None
            for a scan of the statement itself.
    """

    table: str
    comparisons: tuple[Comparison, ...]
    steps: int
    cause: str | None = None


@dataclass(frozen=True)
class _Value:
    """A value that a register holds; `is_known` is False if the program does not show it."""

    value: object = None
    is_known: bool = True


# Content of a register: the cursor and the column that filled it, or a value.
_Content = tuple[int, tuple[str, str]] | _Value
# The cursor of a register that the calling program filled.
_CALLER = -1


def program_of(
    connection: apsw.Connection, text: str, values: Sequence[object]
) -> list[apsw.ext.VDBEInstruction]:
    """Return SQLite's bytecode instructions of a statement by address.

    Raises apsw's errors.
    """
    return apsw.ext.query_info(connection, text, tuple(values), explain=True).explain or []


def columns_by_root(connection: apsw.Connection) -> dict[int, dict[int, tuple[str, str]]]:
    """Return table and column of each position in tables and indexes, by root page."""
    places: dict[int, dict[int, tuple[str, str]]] = {}
    for root, table, place, name in connection.execute(script("stored_columns.sql")):
        places.setdefault(root, {})[place] = (table, name)
    return places


def columns_read(
    program: Iterable[apsw.ext.VDBEInstruction], places: Mapping[int, Places]
) -> dict[str, list[str]]:
    """Return the columns that SQLite's bytecode reads, by table."""
    cursors: dict[int, Places] = {}
    columns_by_table: dict[str, list[str]] = {}
    for step in program:
        if step.opcode == BEGINNING:
            cursors = {}
        _open(step, cursors, places)
        column = _column(step, cursors)
        if column is not None and column[1] not in columns_by_table.setdefault(column[0], []):
            columns_by_table[column[0]].append(column[1])
    return columns_by_table


def filtered_scans(
    program: Sequence[apsw.ext.VDBEInstruction],
    places: Mapping[int, Places],
    values: Sequence[object],
) -> list[FilteredScan]:
    """Return the scans of whole tables that filter each row before any other step.

    Scans by a trigger or a foreign key are those that run once for each row that the statement
    changes; others of theirs are left out.
    """
    begins = [at for at, step in enumerate(program) if step.opcode == BEGINNING] or [0]
    main, *called = [program[begin:end] for begin, end in pairwise([*begins, len(program)])]
    scans = _filtered_scans(main, places, values)
    calls = [at for at, step in enumerate(main) if step.opcode == CALL]
    # A program that is called twice is listed once, so that its caller is unknown.
    if len(called) != sum(step.opcode == CALL for step in program):
        return scans
    for at, part in zip(calls, called, strict=False):
        given = _given(main, at, places, values)
        scans += _filtered_scans(part, places, values, given, _cause(part))
    return scans


def _cause(part: Sequence[apsw.ext.VDBEInstruction]) -> str:
    """Return the name of the trigger of a called program, or that it is a foreign key's action."""
    text = str(part[0].p4 or "")
    return text.removeprefix(TRIGGER) if text.startswith(TRIGGER) else FOREIGN_KEY


def _given(
    main: Sequence[apsw.ext.VDBEInstruction],
    at: int,
    places: Mapping[int, Places],
    values: Sequence[object],
) -> dict[int, _Content]:
    """Return the contents of a called program's parameters by number."""
    cursors: dict[int, Places] = {}
    for step in main:
        _open(step, cursors, places)
    contents: dict[int, _Content] = {
        register: _Value(value) for register, value in _constants(main, values).items()
    }
    for step in main[:at]:
        if step.opcode in COPIES and step.p1 in contents and step.p2 is not None:
            contents[step.p2] = contents[step.p1]
    for register, content in _registers(main[:at], cursors).items():
        if isinstance(content, tuple):
            contents[register] = (_CALLER, content[1])
    first = main[at].p1 or 0
    return {register - first: content for register, content in contents.items()}


def _filtered_scans(
    program: Sequence[apsw.ext.VDBEInstruction],
    places: Mapping[int, Places],
    values: Sequence[object],
    given: Mapping[int, _Content] | None = None,
    cause: str | None = None,
) -> list[FilteredScan]:
    cursors: dict[int, Places] = {}
    for step in program:
        _open(step, cursors, places)
    constants = _constants(program, values)
    scans = []
    for address, step in enumerate(program):
        columns = cursors.get(step.p1 or 0)
        if step.opcode == "Next" and columns and step.p2 is not None and 0 < step.p2 < address:
            if cause is not None and not _is_once(program, step.p2, address):
                continue
            if _is_skipped(program, step.p2, address):
                continue
            comparisons, steps = _comparisons(
                program, step.p2, address, cursors, constants, given or {}
            )
            if comparisons:
                table = next(iter(columns.values()))[0]
                body = program[step.p2 : address]
                checks = any(inner.opcode == KEY_COUNTER for inner in body)
                by = cause or (FOREIGN_KEY if checks else None)
                scans.append(FilteredScan(table, tuple(comparisons), steps, by))
    return scans


def _is_once(program: Sequence[apsw.ext.VDBEInstruction], begin: int, end: int) -> bool:
    """Return True if each call of a program executes a loop of it once.

    A trigger's own condition may skip all its statements, and an outer loop may repeat the loop.
    """
    firsts = [at for at, step in enumerate(program) if step.opcode == STATEMENT]
    has_condition = any(step.opcode in JUMPS for step in program[1 : min(firsts, default=1)])
    return not has_condition and not any(
        step.opcode in LOOP_ENDS and 0 < (step.p2 or 0) <= begin for step in program[end + 1 :]
    )


def _is_skipped(program: Sequence[apsw.ext.VDBEInstruction], begin: int, end: int) -> bool:
    """Return True if a program executes a loop only if rows violate a foreign key."""
    return any(step.opcode == NO_VIOLATION and (step.p2 or 0) > end for step in program[:begin])


def _comparisons(
    program: Sequence[apsw.ext.VDBEInstruction],
    begin: int,
    end: int,
    cursors: Mapping[int, Places],
    constants: Mapping[int, object],
    given: Mapping[int, _Content],
) -> tuple[list[Comparison], int]:
    """Return the comparisons of a scan loop up to its first branch, and the steps to it."""
    scanned = program[end].p1
    # Columns of outer loops are in registers that earlier instructions filled.
    registers = _registers(program[:begin], cursors, given)
    comparisons: list[Comparison] = []
    steps = 0
    for address, step in enumerate(program[begin:end], begin):
        if step.opcode in INNER or (step.opcode in JUMPS and begin <= (step.p2 or 0) < end):
            break
        registers |= _registers([step], cursors, given)
        if step.opcode in KEPT_BY and step.p2 == end:
            comparison = _comparison(step, scanned, registers, constants)
            if comparison is not None:
                steps = steps or address - begin + 1 + STEP_ON
                comparisons.append(comparison)
    return comparisons, steps


def _comparison(
    step: apsw.ext.VDBEInstruction,
    scanned: int | None,
    registers: Mapping[int, _Content | None],
    constants: Mapping[int, object],
) -> Comparison | None:
    """Return a comparison with a column of the scanned table on one side; None otherwise.

    The result is also None for another collation, which only the statement's text shows.
    """
    if step.p4 is not None and not str(step.p4).startswith(BYTEWISE):
        return None
    how = KEPT_BY[step.opcode]
    one, other = step.p3 or 0, step.p1 or 0
    column = _scanned_column(registers.get(one), scanned)
    if column is None:
        one, other, how = other, one, MIRRORED[how]
        column = _scanned_column(registers.get(one), scanned)
    if column is None:
        return None
    content = registers.get(other)
    if content is None and other in constants:
        content = _Value(constants[other])
    if isinstance(content, _Value):
        return Comparison(column, how, (content.value,)) if content.is_known else None
    if content is not None and content[0] != scanned:
        return Comparison(column, how, other=".".join(content[1]))
    return None


def _scanned_column(content: _Content | None, scanned: int | None) -> str | None:
    """Return the column of the scanned table that a register holds; None for other contents."""
    is_column = isinstance(content, tuple) and content[0] == scanned
    return content[1][1] if is_column and isinstance(content, tuple) else None


def _registers(
    steps: Iterable[apsw.ext.VDBEInstruction],
    cursors: Mapping[int, Places],
    given: Mapping[int, _Content] | None = None,
) -> dict[int, _Content | None]:
    """Return the contents of bytecode registers: columns, and parameters of a called program.

    None is a value that `_constants` has.
    """
    filled: dict[int, _Content | None] = {}
    for step in steps:
        column = _column(step, cursors)
        register = step.p3 if step.opcode == COLUMN else step.p2
        if register is None or step.p1 is None:
            continue
        if column is not None:
            filled[register] = (step.p1, column)
        elif step.opcode in COPIES and step.p1 in filled:
            filled[register] = filled[step.p1]
        elif step.opcode == PARAMETER:
            filled[register] = (given or {}).get(step.p1, _Value(is_known=False))
        elif step.opcode in {"Integer", "Variable", *CONSTANTS}:
            # `_constants` has the value, whatever the register held before.
            filled[register] = None
    return filled


def _constants(
    program: Iterable[apsw.ext.VDBEInstruction], values: Sequence[object]
) -> dict[int, object]:
    """Return the values of bytecode registers that are filled once: parameters and literals."""
    filled: dict[int, object] = {}
    for step in program:
        if step.p1 is None or step.p2 is None:
            continue
        if step.opcode == "Variable" and step.p1 <= len(values):
            filled[step.p2] = values[step.p1 - 1]
        elif step.opcode == "Integer":
            filled[step.p2] = step.p1
        # Some builds do not show the value of a literal, which is then unknown.
        elif step.opcode in CONSTANTS and step.p4 is not None:
            filled[step.p2] = CONSTANTS[step.opcode](str(step.p4))
    return filled


def _open(
    step: apsw.ext.VDBEInstruction, cursors: dict[int, Places], places: Mapping[int, Places]
) -> None:
    if step.opcode in OPENING and step.p1 is not None and step.p2 is not None:
        cursors[step.p1] = places.get(step.p2, {}) if step.p3 == MAIN_DATABASE else {}


def _column(
    step: apsw.ext.VDBEInstruction, cursors: Mapping[int, Places]
) -> tuple[str, str] | None:
    """Return the table and column that a bytecode step reads; None if it reads none."""
    if step.p1 is None or step.p2 is None:
        return None
    if step.opcode == COLUMN:
        return cursors.get(step.p1, {}).get(step.p2)
    if step.opcode in ROW_NUMBER:
        return cursors.get(step.p1, {}).get(PLACE_OF_NUMBER)
    return None
