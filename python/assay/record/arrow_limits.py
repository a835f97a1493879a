"""Refuses Arrow files that need far more memory than their size: Assay writes none.

A compressed batch of some kilobytes can have gigabytes when it is read, and a column of nulls has
any number of rows without a byte. Compression is recognised in the metadata of each batch, before
a batch is read.
"""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING, BinaryIO

from assay.model.errors import RecordUnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Rows take at least a bit of a file, except in results whose only columns are null.
ROWS_PER_BYTE, ROWS_FREE = 8, 10_000_000

# The formats of Arrow's messages and files: arrow.apache.org, "Columnar format", and its schemas
# `Message.fbs` and `File.fbs`. The numbers are those of the fields in their tables.
MAGIC = b"ARROW1"
CONTINUATION = b"\xff\xff\xff\xff"
DICTIONARY, BATCH = 2, 3
HEADER_TYPE, HEADER, BODY_LENGTH = 1, 2, 3
COMPRESSION = 3
DICTIONARY_DATA = 1
FOOTER_DICTIONARIES, FOOTER_BATCHES = 2, 3
BLOCK = struct.Struct("<qi4xq")

_BYTE, _SHORT = struct.Struct("<B"), struct.Struct("<H")
_INTEGER, _UNSIGNED, _LONG = struct.Struct("<i"), struct.Struct("<I"), struct.Struct("<q")


def refuse_compressed_stream(path: Path) -> None:
    """Raise `RecordUnreadableError` if a batch of an Arrow stream is compressed.

    A stream that ends in the middle of a batch is read up to there.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If the metadata of a batch is damaged.
    """
    with path.open("rb") as file:
        while (message := _next_message(file)) is not None:
            _refuse_compressed(message, path)
            body_bytes = message.long(BODY_LENGTH)
            if body_bytes < 0:
                raise ValueError(f"a batch has {body_bytes} bytes")
            behind = file.tell() + body_bytes
            # The file of a run that has not ended grows while it is read.
            if behind >= os.fstat(file.fileno()).st_size:
                return
            file.seek(behind)


def refuse_compressed_file(path: Path) -> None:
    """Raise `RecordUnreadableError` if a batch of an Arrow file is compressed.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If the file's list of batches, or the metadata of a batch, is damaged.
    """
    with path.open("rb") as file:
        for offset in _batch_offsets(file):
            file.seek(offset)
            if (message := _next_message(file)) is None:
                raise ValueError("a batch is not where the file's list of batches has it")
            _refuse_compressed(message, path)


def refuse_rows(rows: int, path: Path) -> None:
    """Raise `RecordUnreadableError` if a file states more rows than its bytes can hold."""
    if rows > max(ROWS_FREE, ROWS_PER_BYTE * path.stat().st_size):
        raise RecordUnreadableError(
            f"{path} states {rows:,} rows, which is more than its bytes can hold: Assay did not"
            " write this file"
        )


class _Table:
    """A table of a flatbuffer, whose fields are found by their numbers.

    All positions come from the file. Raises `ValueError` for one outside of the buffer.
    """

    def __init__(self, buffer: bytes, at: int) -> None:
        self._buffer, self._at = buffer, at
        self._fields_at = at - self._read(_INTEGER, at)
        self._fields_bytes = self._read(_SHORT, self._fields_at)

    @classmethod
    def root(cls, buffer: bytes) -> _Table:
        """Return the table that a flatbuffer begins with."""
        return cls(buffer, _read(_UNSIGNED, buffer, 0))

    def place(self, field: int) -> int | None:
        """Return the position of a field; None if the table does not have it."""
        entry = 4 + 2 * field
        if entry + 2 > self._fields_bytes:
            return None
        offset = self._read(_SHORT, self._fields_at + entry)
        return self._at + offset if offset else None

    def byte(self, field: int) -> int:
        """Return a field of one byte; 0 if it is missing."""
        place = self.place(field)
        return 0 if place is None else self._read(_BYTE, place)

    def long(self, field: int) -> int:
        """Return a field of eight bytes; 0 if it is missing."""
        place = self.place(field)
        return 0 if place is None else self._read(_LONG, place)

    def table(self, field: int) -> _Table | None:
        """Return the table that a field refers to; None if it is missing."""
        place = self.place(field)
        return None if place is None else _Table(self._buffer, self._target(place))

    def block_offsets(self, field: int) -> Iterator[int]:
        """Yield the position of each block in a list."""
        place = self.place(field)
        if place is None:
            return
        begin = self._target(place)
        for number in range(self._read(_UNSIGNED, begin)):
            yield _unpack(BLOCK, self._buffer, begin + 4 + number * BLOCK.size)[0]

    def _target(self, place: int) -> int:
        return place + self._read(_UNSIGNED, place)

    def _read(self, kind: struct.Struct, place: int) -> int:
        return _read(kind, self._buffer, place)


def _unpack(kind: struct.Struct, buffer: bytes, place: int) -> tuple[int, ...]:
    if not 0 <= place <= len(buffer) - kind.size:
        raise ValueError("the metadata of a batch refers to a place outside of it")
    return kind.unpack_from(buffer, place)


def _read(kind: struct.Struct, buffer: bytes, place: int) -> int:
    return _unpack(kind, buffer, place)[0]


def _next_message(file: BinaryIO) -> _Table | None:
    """Return the metadata of the next message; None at the end, also in the middle of a message."""
    prefix = file.read(4)
    if prefix == CONTINUATION:
        prefix = file.read(4)
    if len(prefix) < 4:  # noqa: PLR2004 - bytes of an integer
        return None
    (length,) = _UNSIGNED.unpack(prefix)
    # A stated length beyond the end reads the rest of the file only.
    metadata = file.read(length)
    return _Table.root(metadata) if metadata and len(metadata) == length else None


def _batch_offsets(file: BinaryIO) -> Iterator[int]:
    """Yield the position of each batch and dictionary of an Arrow file."""
    size = file.seek(0, os.SEEK_END)
    tail = _UNSIGNED.size + len(MAGIC)
    file.seek(max(0, size - tail))
    end = file.read()
    if len(end) < tail or end[_UNSIGNED.size :] != MAGIC:
        raise ValueError("it is no Arrow file, or its end is missing")
    length = _read(_UNSIGNED, end, 0)
    if length > size - tail:
        raise ValueError("its list of batches is longer than the file")
    file.seek(size - tail - length)
    footer = _Table.root(file.read(length))
    for field in (FOOTER_DICTIONARIES, FOOTER_BATCHES):
        for offset in footer.block_offsets(field):
            if not 0 <= offset < size:
                raise ValueError("a batch lies outside of the file")
            yield offset


def _refuse_compressed(message: _Table, path: Path) -> None:
    kind, header = message.byte(HEADER_TYPE), message.table(HEADER)
    if kind == DICTIONARY and header is not None:
        header = header.table(DICTIONARY_DATA)
    if kind in {DICTIONARY, BATCH} and header is not None and header.place(COMPRESSION) is not None:
        raise RecordUnreadableError(
            f"{path} is compressed, and a small compressed file can fill the memory: Assay writes"
            " no compressed records, so it did not write this one"
        )
