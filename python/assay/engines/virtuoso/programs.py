"""Finds the programs of an installed Virtuoso, and reads version and settings without a server."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from assay.engines.contract import EngineError
from assay.engines.programs import MEND, inherited, run_program

PROGRAM = "virtuoso-t"
# Paths of the server below a product's home: at the top, installed, or unpacked from Debian.
PLACES = (PROGRAM, f"bin/{PROGRAM}", f"usr/bin/{PROGRAM}")
LIBRARIES = ("usr/lib/*-linux-gnu*", "lib/*-linux-gnu*")
_VERSION = re.compile(r"^Version (\d[\d.]*)", re.MULTILINE)


@dataclass(frozen=True)
class Programs:
    """Virtuoso's server program and its libraries.

    Attributes:
        server: Path of the server's program.
        library_path: Paths of required libraries in addition to the host's; empty means none.
    """

    server: Path
    library_path: str = ""

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment for Virtuoso's program."""
        return inherited(self.library_path)

    def version(self) -> str:
        """Return the version of Virtuoso's program, such as `7.2.5.3229`.

        Raises `EngineError` if the program does not run.
        """
        completed = run_program([str(self.server), "-?"], self.environment, self.server)
        said = completed.stdout + completed.stderr
        match = _VERSION.search(said)
        if match is None:
            raise EngineError(
                f"{self.server} does not run on this host, or is not Virtuoso: {said.strip()}. "
                f"{MEND}"
            )
        return match[1]

    def knows(self, setting: str) -> bool:
        """Return True if the program's file contains the name of a setting."""
        return f"{setting}\0".encode() in self.server.read_bytes()


def find_programs(home: Path) -> Programs:
    """Return Virtuoso's programs below a product's directory.

    Raises `EngineError` if the programs do not exist.
    """
    for place in PLACES:
        if (home / place).is_file():
            libraries = [str(path) for pattern in LIBRARIES for path in home.glob(pattern)]
            unpacked = place.startswith("usr/")
            return Programs(home / place, ":".join(sorted(libraries)) if unpacked else "")
    raise EngineError(
        f"{home} has no `{PROGRAM}`: name the directory of the server's programs with "
        "--bin-dir, such as /usr/bin."
    )
