"""Starts a JDBC bridge process beside a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.bridge.process import JAR, await_bridge, check_readable, command
from assay.engines.contract import EngineError
from assay.engines.server_files import copy_into_server, new_server_directory, server_directory

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.engines.contract import Launcher

ACCOUNT = "bridge"
SOCKET = "bridge.sock"
CLASSES = "bridge"
# The encoding of paths only: JDBC drivers read environment variables that they find.
ENVIRONMENT = {"LANG": "C.UTF-8"}


def start_bridge(launcher: Launcher, java: Path, drivers: Sequence[Path]) -> Path:
    """Start a JDBC bridge with these drivers and return its socket, which only Assay can access.

    Args:
        launcher: Launcher of the server's instance.
        java: Path of the Java program, see `jre.find_java`.
        drivers: Jars, or directories with unpacked jars.

    Raises:
        EngineError: If the bridge cannot be started. The error message says how to fix it.
    """
    socket = launcher.scratch / SOCKET
    socket.unlink(missing_ok=True)
    jars = _copied([JAR, *drivers], launcher)
    launcher.attend(command(java, jars, socket), ENVIRONMENT, ACCOUNT)
    await_bridge(socket, launcher.last_words)
    return socket


def _copied(jars: Sequence[Path], launcher: Launcher) -> list[Path]:
    """Copy jars into a directory that the server programs' user can read."""
    place = launcher.scratch / CLASSES
    try:
        with (
            server_directory(launcher.scratch) as scratch,
            new_server_directory(CLASSES, scratch) as directory,
        ):
            # Drivers in different directories may have the same file name.
            names = [f"{number}-{jar.name}" for number, jar in enumerate(jars)]
            for jar, name in zip(jars, names, strict=True):
                check_readable(jar)
                copy_into_server(jar, name, directory)
    except OSError as error:
        raise EngineError(
            f"the JDBC driver cannot be copied to {place} ({error.strerror}): free space, or "
            "set XDG_STATE_HOME to another directory."
        ) from error
    launcher.own(place)
    return [place / name for name in names]
