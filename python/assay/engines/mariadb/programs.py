"""The programs of a MariaDB that is there, and what they tell without a server."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.model.errors import suggestion
from assay.model.secrets import is_secret

if TYPE_CHECKING:
    from collections.abc import Mapping

PATIENCE_S = 60.0
# Where the server lies below a product's home: named itself, installed, unpacked from Debian.
PLACES = ("mariadbd", "bin/mariadbd", "sbin/mariadbd", "usr/sbin/mariadbd")
# The product's own scripts of what its tables of accounts and the like are, in the order in which
# they are run; texts of its HELP are left out.
SHARES = ("share/mysql", "share/mariadb", "share")
SYSTEM_TABLES = (
    "mysql_system_tables.sql",
    "mysql_performance_tables.sql",
    "mysql_system_tables_data.sql",
    "maria_add_gis_sp_bootstrap.sql",
    "mysql_sys_schema.sql",
)
CONFIGURATION_FILE = "assay.cnf"
SECTION = "[mariadbd]"
# The heading of the table of variables in what the server says of itself.
VARIABLES = "Variables (--variable-name=value)"
# A value that the server would change says so in a warning; it starts all the same.
_REFUSED = re.compile(r"\[ERROR\] (.*)|\[Warning\] (?:Buffered warning: )?(option .* adjusted .*)")
_NOISE = re.compile(r"Parsing options for plugin .* failed|^Aborting$")
_PROGRAM = re.compile(r"^\S*mariadbd: ")


@dataclass(frozen=True)
class Programs:
    """The server's program and what it needs beside it.

    Attributes:
        server: The program.
        library_path: Libraries that it needs beside the host's; empty: none.
    """

    server: Path
    library_path: str = ""

    @property
    def base(self) -> Path:
        """The directory that holds the server's messages, character sets and scripts."""
        inside = self.server.parent.name in {"bin", "sbin"}
        return self.server.parent.parent if inside else self.server.parent

    @property
    def system_tables(self) -> list[Path]:
        """Scripts that make the server's own tables; empty if they are not there."""
        for share in SHARES:
            files = [self.base / share / name for name in SYSTEM_TABLES]
            if files[0].is_file():
                return [file for file in files if file.is_file()]
        return []

    @property
    def environment(self) -> dict[str, str]:
        """All that the programs inherit."""
        inherited = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
        return inherited | ({"LD_LIBRARY_PATH": self.library_path} if self.library_path else {})

    def version(self) -> str:
        """Such as `10.11.19`. Raises `EngineError` if the program does not run."""
        told = self._told("--no-defaults", "--version")
        found = re.search(r"Ver (\d[\d.]*)-MariaDB", told.stdout)
        if told.returncode != 0 or found is None:
            said = (told.stderr or told.stdout).strip()
            raise EngineError(
                f"{self.server} does not run on this host, or is no MariaDB: {said}."
                " Choose another version, or name programs that do with --bin-dir."
            )
        return found[1]

    def setting_names(self) -> frozenset[str]:
        """Names of all settings that a configuration file may hold."""
        return _setting_names(self)

    def check(self, settings: Mapping[str, str]) -> None:
        """Lets the server read the settings. Raises `EngineError` with the first at fault."""
        known = self.setting_names()
        for name in settings:
            if canonical(name) not in known:
                hint = suggestion(canonical(name), sorted(known))
                raise EngineError(f"MariaDB has no setting {name!r}; {hint}")
        if refusal := self._refusal(settings):
            raise EngineError(f"MariaDB refuses its settings: {refusal}. Mend that --set.")

    def _refusal(self, settings: Mapping[str, str]) -> str:
        """The server's words on a configuration; empty if it takes it."""
        with tempfile.TemporaryDirectory(prefix="assay-") as directory:
            file = Path(directory) / CONFIGURATION_FILE
            write_configuration(file, settings)
            told = self._told(f"--defaults-file={file}", *self._help(), f"--datadir={directory}")
        said = [error or warning for error, warning in _REFUSED.findall(told.stderr)]
        words = "; ".join(_PROGRAM.sub("", line) for line in said if not _NOISE.search(line))
        for name, value in settings.items():
            if is_secret(name) and value:
                words = words.replace(value, "***")
        return words

    def _help(self) -> list[str]:
        return [f"--basedir={self.base}", "--verbose", "--help"]

    def _told(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                [str(self.server), *arguments],
                env=self.environment,
                capture_output=True,
                text=True,
                errors="replace",
                stdin=subprocess.DEVNULL,
                check=False,
                timeout=PATIENCE_S,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise EngineError(
                f"{self.server} does not run on this host: {error}. Choose another version, or"
                " name programs that do with --bin-dir."
            ) from error


@cache
def _setting_names(programs: Programs) -> frozenset[str]:
    told = programs._told("--no-defaults", *programs._help())
    variables = told.stdout.partition(VARIABLES)[2].splitlines()
    found = (re.match(r"[a-z][\w-]*(?=\s)", line) for line in variables)
    names = frozenset(canonical(name[0]) for name in found if name)
    if told.returncode != 0 or not names:
        raise EngineError(f"{programs.server} does not run: {told.stderr.strip()}")
    return names


def canonical(name: str) -> str:
    """A setting's name as the server reports it."""
    return name.lower().replace("-", "_")


def find_programs(home: Path) -> Programs:
    """The programs below a product's home. Raises `EngineError` if they are not there."""
    for place in PLACES:
        programs = Programs(home / place, _libraries(home, place))
        if programs.server.is_file() and programs.system_tables:
            return programs
    raise EngineError(
        f"{home} has no `mariadbd` with `{SYSTEM_TABLES[0]}` in a directory `share` beside its own:"
        " --bin-dir names the directory of a server's programs, such as /usr/sbin."
    )


def _libraries(home: Path, place: str) -> str:
    if not place.startswith("usr/"):
        return ""
    return ":".join(map(str, sorted(home.glob("usr/lib/*-linux-gnu*"))))


def write_configuration(file: Path, settings: Mapping[str, str]) -> None:
    """Writes settings as the server reads them, for the owner's eyes only."""
    lines = [SECTION, *(f"{name} = {_quoted(value)}" for name, value in settings.items())]
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")


def read_configuration(file: Path) -> dict[str, str]:
    """The settings of a file of ours: `name = value`, comments on lines of their own."""
    lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    pairs = [line.partition("=") for line in lines if line and line[0] not in "#["]
    return {name.strip(): value.strip() for name, _, value in pairs}


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("\n", " ").replace('"', '\\"')
    return f'"{escaped}"'
