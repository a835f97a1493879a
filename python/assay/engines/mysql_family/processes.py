"""Finds a MySQL server's process on this host through a connection."""

from __future__ import annotations

import socket
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.engines.mysql_family.loading import execute
from assay.engines.mysql_family.statements import file_text

if TYPE_CHECKING:
    from collections.abc import Collection

    import pymysql

    from assay.engines.contract import Address

# Fields of `struct ucred`: pid, uid, gid.
CREDENTIALS = struct.Struct("3i")


def root_process(
    connection: pymysql.Connection[Any], address: Address, programs: Collection[str]
) -> int | None:
    """Return the MySQL server's pid; None if it is unknown or not on this host.

    `programs` are the possible names of its program.
    """
    if address["unix_socket"]:
        with socket.socket(socket.AF_UNIX) as peer:
            peer.connect(address["unix_socket"])
            credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
            return _if_server(CREDENTIALS.unpack(credentials)[0], programs)
    ((pid_file, host, data),) = execute(connection, file_text("process.sql"))
    if host != socket.gethostname():
        return None
    try:
        # A relative path is below the server's data directory.
        pid = int((Path(data) / pid_file).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return _if_server(pid, programs)


def _if_server(pid: int, programs: Collection[str]) -> int | None:
    """Return the pid if it belongs to a server program on this host, else None."""
    try:
        name = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return None
    return pid if name in programs else None
