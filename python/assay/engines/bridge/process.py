"""Starts the bridge's process.

Nothing of a database is in its command line, its environment or its log: who connects brings the
URL and the password along, over a socket in a directory that is closed to others.
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
# The bytes that a path of a Unix socket may have in Linux.
PATH_BYTES_MAX = 107
OPTIONS = (
    # Dates of drivers without an offset, and those with one, are of the same clock.
    "-Duser.timezone=UTC",
    "-Dfile.encoding=UTF-8",
    "-Djava.awt.headless=true",
    # One collector's thread: its work is never as long as that of the database.
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    "-XX:+ExitOnOutOfMemoryError",
)


def command(java: Path, jars: Sequence[Path], path: Path) -> list[str]:
    """The command line of a bridge that listens on a socket, to be started in its directory.

    Args:
        java: The program.
        jars: `JAR` and the drivers, which may also be directories that jars were unpacked into.
        path: Path of the socket; its directory is closed to others, and the process may write
            there.

    Raises:
        EngineError: If a jar is not there, or the bridge was not built.
    """
    for file in jars:
        check_readable(file)
    named = path.name if len(os.fsencode(path)) > PATH_BYTES_MAX else str(path)
    classes = ":".join(str(file.absolute()) for file in jars)
    place = f"-Djava.io.tmpdir={path.parent}"
    return [str(java), *OPTIONS, place, "-cp", classes, MAIN, named]


def await_bridge(path: Path, last_words: Callable[[], str | None]) -> None:
    """Waits until a bridge listens. `last_words` is None while its process lives.

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
    """A line to what listens on a socket, however long its path is. Raises `OSError`."""
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
    """Raises `EngineError` for a jar that is not there, with the mend."""
    if file == JAR and not file.is_file():
        raise EngineError(f"{file} is not there: `make setup` builds it.")
    if not file.exists():
        raise EngineError(f"the driver {file} is not there: name a jar with --driver.")
    if ":" in str(file.absolute()):
        raise EngineError(f"{file} has a colon in its path, which Java cannot have: move it.")
