"""Has the kernel probe silent connections, so that a server whose host is gone is noticed.

A host that lost its power, or a firewall that forgot the connection, sends no end of it. The
driver's sessions have the same values (`session/connecting.rs`).
"""

from __future__ import annotations

import socket

# Seconds without a packet after which the kernel probes, seconds between probes, and the number of
# unanswered probes that end the connection.
IDLE_S, INTERVAL_S, COUNT = 20, 10, 3
# Milliseconds within which the server's host acknowledges what was sent.
ACKNOWLEDGED_MS = 60_000


def probe_when_idle(connection: socket.socket) -> None:
    """Have the kernel end a TCP connection within a minute after the server's host is gone."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (
        (socket.TCP_KEEPIDLE, IDLE_S),
        (socket.TCP_KEEPINTVL, INTERVAL_S),
        (socket.TCP_KEEPCNT, COUNT),
        (socket.TCP_USER_TIMEOUT, ACKNOWLEDGED_MS),
    ):
        connection.setsockopt(socket.IPPROTO_TCP, option, value)
