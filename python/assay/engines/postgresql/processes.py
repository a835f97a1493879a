"""Finds a PostgreSQL server's processes on this host through a connection."""

from __future__ import annotations

import os
import socket
import struct
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.postgresql.pooled import backend_of

if TYPE_CHECKING:
    import psycopg

# Fields of `struct ucred`: pid, uid, gid.
CREDENTIALS = struct.Struct("3i")
PROGRAM = "postgres"


def root_process(connection: psycopg.Connection[tuple[object, ...]]) -> int | None:
    """Return the pid of PostgreSQL's postmaster; None if unknown or not on this host."""
    backend, client_port = backend_of(connection)
    if backend != connection.info.backend_pid:
        # Behind a pooler, the server's process title contains the pooler's port.
        return _parent(backend) if f"({client_port})" in _title(backend) else None
    with socket.socket(fileno=os.dup(connection.fileno())) as peer:
        if peer.family == socket.AF_UNIX:
            credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
            postmaster = CREDENTIALS.unpack(credentials)[0]
            # A pooler also has a socket, but the backend is not its child.
            return postmaster if _parent(backend) == postmaster else None
        port = peer.getsockname()[1]
    # A pid alone proves nothing: the server may be on another host, or in another pid namespace.
    return _parent(backend) if f"({port})" in _title(backend) else None


def _parent(pid: int) -> int | None:
    """Return the parent pid of a PostgreSQL process; None if the process is not on this host."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    name, _, fields = text.partition("(")[2].rpartition(")")
    return int(fields.split()[1]) if name == PROGRAM else None


def _title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return ""
