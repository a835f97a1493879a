"""Packets of a server that speaks a little of MySQL's protocol."""

from __future__ import annotations

import struct

NONCE = b"abcdefghijklmnopqrst"
CAPABILITIES = 1 | 1 << 3 | 1 << 9 | 1 << 15 | 1 << 19 | 1 << 21
MYSQL_OK = bytes(3) + b"\x02\0\0\0"


def mysql_packet(number: int, body: bytes) -> bytes:
    """A packet with its length and number."""
    return len(body).to_bytes(3, "little") + bytes([number]) + body


def mysql_greeting(
    plugin: bytes = b"mysql_native_password", capabilities: int = CAPABILITIES
) -> bytes:
    """The greeting, which is the first packet of a server."""
    low, high = capabilities & 0xFFFF, capabilities >> 16
    body = b"\x0a9.7.0\0" + struct.pack("<I", 7) + NONCE[:8] + b"\0"
    body += struct.pack("<HBHHB", low, 45, 2, high, 21) + bytes(10) + NONCE[8:] + b"\0"
    return mysql_packet(0, body + plugin + b"\0")
