"""The programs of a Virtuoso that is there, and what they tell without a server."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from assay.engines.contract import EngineError

PATIENCE_S = 60.0
PROGRAM = "virtuoso-t"
# Where the server lies below a product's home: named itself, installed, unpacked from Debian.
PLACES = (PROGRAM, f"bin/{PROGRAM}", f"usr/bin/{PROGRAM}")
LIBRARIES = ("usr/lib/*-linux-gnu*", "lib/*-linux-gnu*")
_VERSION = re.compile(r"^Version (\d[\d.]*)", re.MULTILINE)


@dataclass(frozen=True)
class Programs:
    """The server's program.

    Attributes:
        server: The program.
        library_path: Libraries that it needs beside the host's; empty: none.
    """

    server: Path
    library_path: str = ""

    @property
    def environment(self) -> dict[str, str]:
        """All that the program inherits."""
        inherited = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
        return inherited | ({"LD_LIBRARY_PATH": self.library_path} if self.library_path else {})

    def version(self) -> str:
        """Such as `7.2.5.3229`. Raises `EngineError` if the program does not run."""
        try:
            told = subprocess.run(
                [str(self.server), "-?"],
                env=self.environment,
                capture_output=True,
                text=True,
                errors="replace",
                stdin=subprocess.DEVNULL,
                check=False,
                timeout=PATIENCE_S,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise self._unfit(str(error)) from error
        said = told.stdout + told.stderr
        found = _VERSION.search(said)
        if found is None:
            raise self._unfit(said.strip())
        return found[1]

    def knows(self, setting: str) -> bool:
        """Whether the name of a setting stands in the program, which reads it from there."""
        return f"{setting}\0".encode() in self.server.read_bytes()

    def _unfit(self, said: str) -> EngineError:
        return EngineError(
            f"{self.server} does not run on this host, or is no Virtuoso: {said}. Choose another"
            " version, or name programs that do with --bin-dir."
        )


def find_programs(home: Path) -> Programs:
    """The programs below a product's home. Raises `EngineError` if they are not there."""
    for place in PLACES:
        if (home / place).is_file():
            libraries = [str(path) for pattern in LIBRARIES for path in home.glob(pattern)]
            unpacked = place.startswith("usr/")
            return Programs(home / place, ":".join(sorted(libraries)) if unpacked else "")
    raise EngineError(
        f"{home} has no `{PROGRAM}`: --bin-dir names the directory of a server's programs, such as"
        " /usr/bin."
    )
