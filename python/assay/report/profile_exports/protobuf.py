"""Encodes the two kinds of fields of a pprof profile in the protocol buffers' wire format."""

from __future__ import annotations

VARINT, BYTES = 0, 2
# Bit that is set in all bytes of a number except the last.
MORE = 0x80


def varint(value: int) -> bytes:
    """Return an unsigned 64-bit number as bytes of seven bits each, the lowest first."""
    if value < MORE:
        return bytes((value,))
    out = bytearray()
    while value >= MORE:
        out.append(value % MORE | MORE)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    """Return a number field; empty for 0, which is the default of a missing field."""
    return varint(field << 3 | VARINT) + varint(value) if value else b""


def content(field: int, value: bytes) -> bytes:
    """Return a length-delimited field: a text, a message, or packed numbers."""
    return varint(field << 3 | BYTES) + varint(len(value)) + value
