"""The two kinds of fields that a profile of pprof needs, in protocol buffers' wire format."""

from __future__ import annotations

VARINT, BYTES = 0, 2
# Set in all bytes of a number but the last.
MORE = 0x80


def varint(value: int) -> bytes:
    """An unsigned number (64 bits), seven bits a byte, the lowest first."""
    if value < MORE:
        return bytes((value,))
    out = bytearray()
    while value >= MORE:
        out.append(value % MORE | MORE)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    """A number; nothing for 0, which is what a reader takes a missing one for."""
    return varint(field << 3 | VARINT) + varint(value) if value else b""


def content(field: int, value: bytes) -> bytes:
    """A text, a message, or numbers without their fields."""
    return varint(field << 3 | BYTES) + varint(len(value)) + value
