"""Writes streams of Python probes, such as an engine's counters.

Arrays are made from buffers. `pyarrow.array` imports pandas if that is installed, which costs a
second of CPU time and tens of megabytes beside the measured engine.
"""

from __future__ import annotations

from array import array
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

WORD = pa.dictionary(pa.uint32(), pa.string())
# Number types in the codes of the standard library's `array`.
CODES = {pa.int64(): "q", pa.uint64(): "Q", pa.uint32(): "I", pa.float64(): "d"}
NEEDED_ROW = [("source", WORD), ("object", WORD), ("counter", WORD), ("value", pa.float64())]


def _schema(
    needed: list[tuple[str, Any]], optional: list[tuple[str, Any]] | None = None
) -> pa.Schema:
    fields = [pa.field(name, kind, nullable=False) for name, kind in needed]
    return pa.schema(fields + [pa.field(name, kind) for name, kind in optional or []])


ENGINE = _schema([("time_ns", pa.int64()), *NEEDED_ROW])
ENGINE_OPERATIONS = _schema(
    [("sequence", pa.uint64()), ("edge", WORD), ("time_ns", pa.int64()), *NEEDED_ROW]
)
ENGINE_STATUS = _schema([("edge", WORD), ("time_ns", pa.int64()), *NEEDED_ROW])
ACTIVITY = _schema(
    [("time_ns", pa.int64()), ("pid", pa.uint32()), ("backend_type", WORD)],
    [
        ("leader_pid", pa.uint32()),
        ("application", WORD),
        ("state", WORD),
        ("wait_event_type", WORD),
        ("wait_event", WORD),
        ("tid", pa.uint32()),
        ("connection", pa.uint32()),
    ],
)
BLOCKERS = _schema(
    [("time_ns", pa.int64()), ("waiting", pa.uint32()), ("blocker", pa.uint32())],
    [
        ("application", WORD),
        ("state", WORD),
        ("transaction_s", pa.float64()),
        ("statement", WORD),
        ("object", WORD),
        ("mode", WORD),
        ("waiting_statement", WORD),
    ],
)
OTHER_WORK = _schema(
    [("time_ns", pa.int64()), ("session", pa.uint32()), ("work", WORD)],
    [
        ("application", WORD),
        ("state", WORD),
        ("transaction_s", pa.float64()),
        ("behind", pa.float64()),
        ("object", WORD),
        ("statement", WORD),
    ],
)
# A row without a session stands for the sample itself, even if no session was working.
LOOKS = _schema(
    [("time_ns", pa.int64())],
    [
        ("session", pa.uint32()),
        ("statement", WORD),
        ("leader", pa.uint32()),
        ("tid", pa.uint32()),
        ("application", WORD),
        ("database", WORD),
        ("wait_kind", WORD),
        ("wait_event", WORD),
        ("seconds", pa.float64()),
    ],
)
STATEMENT_COUNTS = _schema(
    [("time_ns", pa.int64()), ("statement", WORD), ("counter", WORD), ("value", pa.float64())]
)
# The type that the driver writes.
_SHORT_WORD = pa.dictionary(pa.uint16(), pa.string())
EVENTS = pa.schema(
    [
        pa.field("sequence", pa.uint64(), nullable=False),
        pa.field("phase", _SHORT_WORD, nullable=False),
        pa.field("pass", pa.uint32(), nullable=False),
        pa.field("session", pa.uint32(), nullable=False),
        pa.field("operation", _SHORT_WORD, nullable=False),
        pa.field("variant", pa.uint32(), nullable=False),
        pa.field("scheduled_ns", pa.int64(), nullable=False),
        pa.field("started_ns", pa.int64()),
        pa.field("finished_ns", pa.int64()),
        pa.field("outcome", _SHORT_WORD, nullable=False),
        pa.field("error", _SHORT_WORD),
        pa.field("retries", pa.uint32(), nullable=False),
        pa.field("rows", pa.uint64()),
        pa.field("digest", pa.uint64()),
        pa.field("marks", pa.uint32()),
    ]
)
MIXES = _schema(
    [("phase", WORD), ("mixes", pa.uint64()), ("time_ns", pa.int64())],
    [("asked_bytes", pa.uint64()), ("fetched_bytes", pa.uint64())],
)
COST = _schema(
    [
        ("time_ns", pa.int64()),
        ("probe", WORD),
        ("cpu_ns", pa.uint64()),
        ("samples", pa.uint64()),
        ("longest_ns", pa.uint64()),
    ]
)


class Stream:
    """The only writer of one stream of the record.

    Rows are buffered until `flush`, which writes them as one batch.
    """

    def __init__(self, raw_dir: Path, name: str, schema: pa.Schema) -> None:
        self._schema = schema
        self._rows: list[tuple[Any, ...]] = []
        self._words: dict[str, dict[str, int]] = {
            field.name: {} for field in schema if field.type == WORD
        }
        self._dictionaries = {name: _texts([]) for name in self._words}
        self._file = (raw_dir / f"{name}.arrows").open("xb")
        # Dictionaries only grow, so that a batch contains new words only.
        options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
        self._writer = pa.ipc.new_stream(self._file, schema, options=options)
        # Arrow writes the schema with the first batch, and a stream without a schema cannot be
        # read.
        self._write([()] * len(schema))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def push(self, *row: object) -> None:
        """Add a row, with values in the order of the columns."""
        self._rows.append(row)

    def flush(self) -> None:
        """Write the buffered rows.

        Raises `OSError` if the disk is full.
        """
        if not self._rows:
            return
        columns = list(zip(*self._rows, strict=True))
        self._rows = []
        self._write(columns)

    def _write(self, columns: Sequence[Sequence[Any]]) -> None:
        arrays = [
            self._array(field, column) for field, column in zip(self._schema, columns, strict=True)
        ]
        self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self._schema))
        self._file.flush()

    def close(self) -> None:
        """Flush and mark the end of the stream."""
        try:
            self.flush()
            self._writer.close()
        finally:
            self._file.close()

    def _array(self, field: pa.Field, column: Sequence[Any]) -> pa.Array:
        if field.type != WORD:
            return _numbers(column, field.type)
        codes = self._words[field.name]
        places = [None if word is None else codes.setdefault(word, len(codes)) for word in column]
        if len(self._dictionaries[field.name]) < len(codes):
            self._dictionaries[field.name] = _texts(list(codes))
        return pa.DictionaryArray.from_arrays(
            _numbers(places, pa.uint32()), self._dictionaries[field.name], safe=False
        )


def write_no_events(raw_dir: Path) -> None:
    """Write an empty stream of events, for a record without a load."""
    path = str(raw_dir / "events.arrows")
    with pa.OSFile(path, "wb") as file, pa.ipc.new_stream(file, EVENTS) as writer:
        writer.write_table(EVENTS.empty_table())


def _numbers(values: Sequence[float | None], kind: pa.DataType) -> pa.Array:
    numbers = array(CODES[kind], [0 if value is None else value for value in values])
    return pa.Array.from_buffers(kind, len(values), [_validity(values), pa.py_buffer(numbers)])


def _validity(values: Sequence[float | None]) -> pa.Buffer | None:
    """Return a bitmap of values that are not null, lowest bit first; None without nulls."""
    if None not in values:
        return None
    bits = "".join("0" if value is None else "1" for value in reversed(values))
    return pa.py_buffer(int(bits, 2).to_bytes(-(-len(values) // 8), "little"))


def _texts(texts: Sequence[str]) -> pa.Array:
    encoded = [text.encode() for text in texts]
    offsets = array("i", accumulate(map(len, encoded), initial=0))
    letters = pa.py_buffer(b"".join(encoded))
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(offsets), letters)
