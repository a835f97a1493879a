"""Starts the process of the JDBC bridge.

The bridge's command line, environment and log hold nothing of a database. Clients send the URL and
the password over a socket in a private directory.
"""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

JAR = Path(__file__).parent / "bridge.jar"
MAIN = "assay.bridge.Bridge"
START_PATIENCE_S = 30.0
LOOK_S = 0.02
# Maximum length in bytes of a Unix socket's path in Linux.
PATH_BYTES_MAX = 107
OPTIONS = (
    # Drivers' dates with and without an offset then use the same time zone.
    "-Duser.timezone=UTC",
    "-Dfile.encoding=UTF-8",
    "-Djava.awt.headless=true",
    # One thread for garbage collection: the bridge does little work compared with the database.
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    "-XX:+ExitOnOutOfMemoryError",
)


def command(java: Path, jars: Sequence[Path], path: Path) -> list[str]:
    """Return the command line of a JDBC bridge that listens on a Unix socket.

    Args:
        java: Path of the Java program.
        jars: `JAR` and the drivers, which may also be directories of unpacked jars.
        path: Path of the socket, in a private directory that the process may write to.

    Raises:
        EngineError: If a jar is missing, or the bridge was not built.
    """
    for file in jars:
        check_readable(file)
    named = path.name if len(os.fsencode(path)) > PATH_BYTES_MAX else str(path)
    classes = ":".join(str(file.absolute()) for file in jars)
    place = f"-Djava.io.tmpdir={path.parent}"
    return [str(java), *OPTIONS, place, "-cp", classes, MAIN, named]


def await_bridge(path: Path, last_words: Callable[[], str | None]) -> None:
    """Wait until a JDBC bridge listens on its socket.

    `last_words` returns None while the bridge's process lives.

    Raises:
        EngineError: If the process ended, or does not listen in time.
    """
    deadline_s = time.monotonic() + START_PATIENCE_S
    while not _listens(path):
        output = last_words()
        if output is not None:
            raise EngineError(f"the bridge to the JDBC driver did not start: {output}")
        if time.monotonic() > deadline_s:
            raise EngineError(
                f"the bridge to the JDBC driver did not listen within {START_PATIENCE_S:.0f} s: the"
                " host is overloaded, try again when it is quieter."
            )
        time.sleep(LOOK_S)


def _listens(path: Path) -> bool:
    try:
        connected(path).close()
    except OSError:
        return False
    return True


def connected(path: Path) -> socket.socket:
    """Return a connection to a Unix socket, whose path may be of any length.

    Raises `OSError`.
    """
    peer = socket.socket(socket.AF_UNIX)
    try:
        directory = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
        try:
            peer.connect(f"/proc/self/fd/{directory}/{path.name}")
        finally:
            os.close(directory)
    except OSError:
        peer.close()
        raise
    return peer


def check_readable(file: Path) -> None:
    """Raise `EngineError` with a remedy if a jar does not exist."""
    if file == JAR and not file.is_file():
        raise EngineError(f"{file} does not exist: `make setup` builds it.")
    if not file.exists():
        raise EngineError(f"the driver {file} does not exist: name a jar with --driver.")
    if ":" in str(file.absolute()):
        raise EngineError(
            f"the path {file} contains a colon, which a Java class path cannot have: move the file."
        )
