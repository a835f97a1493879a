"""Finds PostgreSQL's programs, and reads their version and settings."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.programs import MEND, inherited, run_program
from assay.engines.server_files import write_server_file
from assay.model.errors import suggestion
from assay.model.secrets import is_secret

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

# Paths of the programs below a product's home: at the top, Maven, PyPI, Debian.
PLACES = (
    "postgres",
    "bin/postgres",
    "*/pginstall/bin/postgres",
    "usr/lib/postgresql/*/bin/postgres",
)
CONFIGURATION_FILE = "postgresql.conf"
# A line of the server's log, split at the message after time, process and level.
_LOG_WORDS = re.compile(r"^.*?\b(?:LOG|ERROR|FATAL|DETAIL|HINT):\s+(.*)$", re.MULTILINE)
_NOISE = re.compile(r"skipping missing configuration file|contains errors")
_WHERE = re.compile(r' in file "[^"]*" line \d+$')


@dataclass(frozen=True)
class Programs:
    """A directory with PostgreSQL's programs and libraries."""

    bin_dir: Path
    library_path: str = ""

    @property
    def environment(self) -> dict[str, str]:
        """The environment for PostgreSQL's programs."""
        return inherited(self.library_path)

    @property
    def postgres(self) -> str:
        """Return the path of the PostgreSQL server's executable file, `postgres`."""
        return str(self.bin_dir / "postgres")

    @property
    def initdb(self) -> str:
        """Return the path of the program that makes a data directory."""
        return str(self.bin_dir / "initdb")

    def has_library(self, name: str) -> bool:
        """Return True if the server can load an extension's library."""
        return any((self.bin_dir.parent / "lib").rglob(f"{name}.so"))

    def version(self) -> str:
        """Return the version of PostgreSQL's program, such as `18.6`.

        Raises `EngineError` if the program does not run.
        """
        completed = self.run_once("--version")
        match = re.search(r"\(PostgreSQL\) (\S+)", completed.stdout)
        if completed.returncode != 0 or match is None:
            said = (completed.stderr or completed.stdout).strip()
            raise EngineError(f"{self.postgres} does not run on this host: {said}. {MEND}")
        return match[1]

    def run_once(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run PostgreSQL's server program with some arguments until it ends.

        Raises `EngineError` if the program cannot be started.
        """
        return run_program([self.postgres, *arguments], self.environment, self.postgres)

    def setting_names(self) -> frozenset[str]:
        """Return the names of all settings that a configuration file may hold."""
        return _setting_names(self)

    def check(self, settings: Mapping[str, str]) -> None:
        """Check settings by starting PostgreSQL's server program only to read them.

        Raises `EngineError` with the first wrong setting.
        """
        names = self.setting_names()
        for name in settings:
            if name.lower() not in names and not self._takes(name):
                hint = suggestion(name, sorted(names))
                raise EngineError(f"PostgreSQL has no setting {name!r}; {hint}")
        if refusal := self._refusal(settings):
            raise EngineError(f"PostgreSQL rejects its settings: {refusal}. Correct --set.")

    def _takes(self, name: str) -> bool:
        """Return True if the server accepts a setting that it does not list."""
        return "." in name or not self._refusal({name: ""}, shown=name).startswith("unrecognized")

    def _refusal(self, settings: Mapping[str, str], shown: str = "port") -> str:
        """Return the server's error about a configuration; empty if it accepts it."""
        with tempfile.TemporaryDirectory(prefix="assay-") as directory:
            write_configuration(Path(directory) / CONFIGURATION_FILE, settings)
            # With -C as the first argument, the program also runs as root.
            completed = self.run_once("-C", shown, "-D", directory)
        if completed.returncode == 0:
            return ""
        lines = [line for line in _LOG_WORDS.findall(completed.stderr) if not _NOISE.search(line)]
        said = "; ".join(_WHERE.sub("", line) for line in lines) or completed.stderr.strip()
        for name, value in settings.items():
            if is_secret(name) and value:
                said = said.replace(value, "***")
        return said


@cache
def _setting_names(programs: Programs) -> frozenset[str]:
    completed = programs.run_once("--describe-config")
    if completed.returncode != 0:
        raise EngineError(f"{programs.postgres} does not run: {completed.stderr.strip()}")
    return frozenset(
        line.partition("\t")[0].lower() for line in completed.stdout.splitlines() if line
    )


def find_programs(home: Path) -> Programs:
    """Return PostgreSQL's programs below a product's directory.

    Raises `EngineError` if the programs do not exist.
    """
    for pattern in PLACES:
        for postgres in sorted(home.glob(pattern)):
            if (postgres.parent / "initdb").is_file():
                libraries = home.glob("usr/lib/*-linux-gnu*") if "usr" in pattern else []
                return Programs(postgres.parent, ":".join(map(str, libraries)))
    raise EngineError(
        f"{home} has no `postgres` with `initdb` beside it: name the directory of the server's "
        "programs with --bin-dir, such as /usr/lib/postgresql/15/bin."
    )


def write_configuration(
    file: Path, settings: Mapping[str, str], include: Path | None = None
) -> None:
    """Write settings to a configuration file that only its owner can read."""
    lines = [] if include is None else [f"include {_quoted(str(include))}"]
    lines += [f"{name} = {_quoted(value)}" for name, value in settings.items()]
    write_server_file(file, "\n".join(lines) + "\n")


def read_configuration(file: Path) -> dict[str, str]:
    """Return the settings of a file that Assay wrote: `name = value`, with comment lines."""
    lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    pairs = [line.partition("=") for line in lines if line and not line.startswith("#")]
    return {name.strip(): value.strip().strip("'") for name, _, value in pairs}


def _quoted(value: str) -> str:
    doubled = value.replace("\\", "\\\\").replace("'", "''").replace("\n", " ")
    return f"'{doubled}'"
