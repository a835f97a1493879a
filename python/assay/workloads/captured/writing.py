"""Writes captured operations as a workload folder, and reads such folders."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from assay.model.errors import UsageError
from assay.model.units import NS_PER_S
from assay.record.toml_text import toml_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.model.captured import Constant
    from assay.workloads.captured.operations import CapturedOperation

OPERATIONS, VALUES, SCHEDULE = "operations", "values", "schedule.parquet"
DIGITS_MAX, SCALE_MAX = 38, 18
INTEGER_MAX = 2**63
COMMENT = """What a server's clients did, captured by `assay capture`.
operations/: a transaction or a statement each, with names in the places of values that differed.
values/: the values, a row an execution. schedule.parquet: when each execution began, and its
row."""
OF_UNKNOWN = """
No values were seen of these operations: {names}.
`assay run` refuses this folder until each `choice = []` below has values, such as
choice = [17, 4711], or is two bounds, integer = [1, 1000]."""
SCHEMA = pa.schema(
    {
        "at_ns": pa.int64(),
        "session": pa.int32(),
        "operation": pa.dictionary(pa.int32(), pa.string()),
        "row": pa.int32(),
    }
)


@dataclass(frozen=True)
class Recorded:
    """One execution in a captured schedule.

    Attributes:
        at_ns: Start in ns since the start of the first execution.
        operation: Name of the operation.
        row: Row number of its values.
    """

    at_ns: int
    operation: str
    row: int


def write_workload(
    folder: Path, operations: Sequence[CapturedOperation], about: Mapping[str, Any]
) -> None:
    """Write a workload folder of captured operations, completely or not at all.

    Args:
        folder: New folder, which must not exist.
        operations: Captured operations.
        about: Further content of the manifest: `title`, and the table `captured`.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(made, ignore_errors=True)
    try:
        (made / OPERATIONS).mkdir(parents=True)
        for operation in operations:
            (made / OPERATIONS / f"{operation.name}.sql").write_text(operation.text, "utf-8")
            if operation.columns:
                (made / VALUES).mkdir(exist_ok=True)
                pq.write_table(
                    _values(operation.columns), made / VALUES / f"{operation.name}.parquet"
                )
        if is_timed(operations):
            pq.write_table(_schedule(operations), made / SCHEDULE)
        unknown = ", ".join(operation.name for operation in operations if operation.unknown)
        comment = COMMENT + (OF_UNKNOWN.format(names=unknown) if unknown else "")
        manifest = toml_text(_manifest(operations, about), comment)
        (made / "workload.toml").write_text(manifest, "utf-8")
        made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def is_timed(operations: Sequence[CapturedOperation]) -> bool:
    """Return True if the start times of all captured executions are known."""
    return all(operation.times_ns for operation in operations)


def _manifest(operations: Sequence[CapturedOperation], about: Mapping[str, Any]) -> dict[str, Any]:
    named: dict[str, dict[str, Any]] = {
        operation.name: {
            "weight": operation.count,
            "values": f"{VALUES}/{operation.name}.parquet" if operation.columns else None,
            "parameters": {name: {"choice": []} for name in operation.unknown} or None,
        }
        for operation in operations
    }
    order = [operation.name for operation in operations]
    schedule = SCHEDULE if is_timed(operations) else None
    captured = {"schedule": schedule, **about["captured"]}
    return {
        "title": about["title"],
        "arrival": "closed",
        "order": order,
        "captured": captured,
        "operations": named,
    }


def _values(columns: Mapping[str, Sequence[Constant]]) -> pa.Table:
    return pa.table({name: _column(constants) for name, constants in columns.items()})


def _column(constants: Sequence[Constant]) -> pa.Array:
    """Return captured values in the narrowest type that holds all of them."""
    values = [constant.value for constant in constants]
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int}:
        return pa.array(values, pa.int64())
    if kinds and kinds <= {int, Decimal}:
        scale = max(-exponent for exponent in map(_exponent, values))
        numbers = [None if value is None else Decimal(str(value)) for value in values]
        digits = max(len(str(abs(int(number or 0)))) for number in numbers) + max(scale, 0)
        if 0 <= scale <= SCALE_MAX and digits <= DIGITS_MAX:
            return pa.array(numbers, pa.decimal128(DIGITS_MAX, scale))
    texts = [f"{value:f}" if isinstance(value, Decimal) else value for value in values]
    return pa.array([None if text is None else str(text) for text in texts], pa.string())


def _exponent(value: object) -> int:
    exponent = value.as_tuple().exponent if isinstance(value, Decimal) else 0
    return min(exponent, 0) if isinstance(exponent, int) else 0


def _schedule(operations: Sequence[CapturedOperation]) -> pa.Table:
    begun_ns = min(min(operation.times_ns) for operation in operations)
    rows = sorted(
        (
            time_ns - begun_ns,
            operation.sessions[row],
            operation.name,
            row if operation.columns else 0,
        )
        for operation in operations
        for row, time_ns in enumerate(operation.times_ns)
    )
    numbers = {
        session: number for number, session in enumerate(dict.fromkeys(row[1] for row in rows))
    }
    columns = list(zip(*rows, strict=True))
    sessions = pa.array([numbers[session] for session in columns[1]], pa.int32())
    names = pa.array(columns[2], pa.string()).dictionary_encode()
    arrays = [pa.array(columns[0], pa.int64()), sessions, names, pa.array(columns[3], pa.int32())]
    return pa.table(arrays, schema=SCHEMA)


def busiest_second(operations: Sequence[CapturedOperation]) -> int:
    """Return the largest number of sessions that were active within one second."""
    sessions: defaultdict[int, set[str]] = defaultdict(set)
    for operation in operations:
        for time_ns, session in zip(operation.times_ns, operation.sessions, strict=True):
            sessions[time_ns // NS_PER_S].add(session)
    return max(map(len, sessions.values()))


def read_schedule(file: Path) -> list[Recorded]:
    """Return the captured executions in a workload folder, the earliest first.

    Raises:
        UsageError: If the file cannot be read or lacks a column.
    """
    table = _read(file)
    if missing := [
        name for name in ("at_ns", "operation", "row") if name not in table.column_names
    ]:
        raise UsageError(
            f"{file} has no column {missing[0]}: a schedule has the columns at_ns, operation "
            "and row"
        )
    columns = (table[name].to_pylist() for name in ("at_ns", "operation", "row"))
    rows = [Recorded(*row) for row in zip(*columns, strict=True)]
    return sorted(rows, key=lambda recorded: recorded.at_ns)


@lru_cache(maxsize=4096)
def value_names(file: Path) -> tuple[str, ...]:
    """Return the names of the captured values in a file.

    Raises:
        UsageError: If the file cannot be read.
    """
    return tuple(_read(file).column_names)


def read_values(file: Path) -> dict[str, tuple[Any, ...]]:
    """Return captured values by name from a file, one per execution.

    Raises:
        UsageError: If the file cannot be read or has no rows.
    """
    table = _read(file)
    if not table.num_rows:
        raise UsageError(f"{file} has no row: write the parameter values of at least one execution")
    return {name: tuple(map(_given, table[name].to_pylist())) for name in table.column_names}


def _given(value: object) -> object:
    """Return a captured value in the driver's form."""
    if isinstance(value, bool):
        return str(value).lower()
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, Decimal):
        scale = max(-_exponent(value), 0)
        coefficient = int(value.scaleb(scale))
        return (coefficient, scale) if abs(coefficient) < INTEGER_MAX else f"{value:f}"
    return str(value)


def _read(file: Path) -> pa.Table:
    try:
        return pq.read_table(file)
    except (OSError, pa.ArrowInvalid) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(f"{file} cannot be read as Parquet: {reason}") from error


def counted(left_out: Counter[str]) -> dict[str, int]:
    """Return the counts of omitted statements, the largest first."""
    return dict(left_out.most_common())
