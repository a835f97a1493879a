"""Runs a MySQL server's program to read its version and settings."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.mysql_family.configuration import canonical, write_configuration
from assay.engines.programs import MEND, inherited, run_program
from assay.model.errors import suggestion
from assay.model.secrets import is_secret

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

HELP = ("--verbose", "--help")
CONFIGURATION_FILE = "assay.cnf"
# Heading of the table of variables in the program's help.
VARIABLES = "Variables (--variable-name=value)"
# The server starts with a value that it would change, and only warns about it.
_REFUSED = re.compile(
    r"\[ERROR\] (?:\[MY-\d+\] \[\w+\] )?(.*)"
    r"|\[Warning\] (?:\[MY-\d+\] \[\w+\] )?(?:Buffered warning: )?(option .* adjusted .*)"
)
_NOISE = re.compile(r"Parsing options for plugin .* failed|^Aborting$")
# Prefixes of the name of an on/off setting.
_PREFIX = re.compile(r"^(?:skip|disable|enable)_(?=log_bin)")
_PROGRAM = re.compile(r"^\S*(?:mariadbd|mysqld): ")


@dataclass(frozen=True)
class Program:
    """The program of a MySQL or MariaDB server, and its files.

    Attributes:
        title: Name of the product, for readers.
        file: Path of the program.
        command: Command before any argument: the program, or a loader and the program.
        places: Arguments for the paths of the program's own files.
        checking: Arguments with which the program reads its settings, reports errors, and ends.
        version_pattern: Pattern of the program's version output; the first group is the version.
        library_path: Paths of required libraries in addition to the host's; empty means none.
    """

    title: str
    file: Path
    command: tuple[str, ...]
    places: tuple[str, ...]
    checking: tuple[str, ...]
    version_pattern: str
    library_path: str = ""

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment for MySQL's program."""
        return inherited(self.library_path)

    def version(self) -> str:
        """Return the version of the server's program, such as `10.11.19`.

        Raises `EngineError` if the program fails.
        """
        completed = self.run_once("--no-defaults", "--version")
        match = re.search(self.version_pattern, completed.stdout)
        if completed.returncode != 0 or match is None:
            said = (completed.stderr or completed.stdout).strip()
            raise EngineError(
                f"{self.file} does not run on this host, or is not {self.title}: {said}. {MEND}"
            )
        return match[1]

    def setting_names(self) -> frozenset[str]:
        """Return the names of all settings that a configuration file may hold."""
        return _setting_names(self)

    def check(self, settings: Mapping[str, str]) -> None:
        """Check settings by starting MySQL's server program only to read them.

        Raises `EngineError` with the first wrong setting.
        """
        names = self.setting_names()
        for name in settings:
            if _PREFIX.sub("", canonical(name)) not in names:
                hint = suggestion(canonical(name), sorted(names))
                raise EngineError(f"{self.title} has no setting {name!r}; {hint}")
        if refusal := self._refusal(settings):
            raise EngineError(f"{self.title} rejects its settings: {refusal}. Correct --set.")

    def _refusal(self, settings: Mapping[str, str]) -> str:
        """Return the server's error about a configuration; empty if it accepts it."""
        with tempfile.TemporaryDirectory(prefix="assay-") as directory:
            file = Path(directory) / CONFIGURATION_FILE
            write_configuration(file, settings)
            where = (f"--datadir={directory}", f"--secure-file-priv={directory}")
            completed = self.run_once(
                f"--defaults-file={file}", *self.places, *self.checking, *where
            )
        said = [error or warning for error, warning in _REFUSED.findall(completed.stderr)]
        message = "; ".join(
            _PROGRAM.sub("", line).removesuffix(".") for line in said if not _NOISE.search(line)
        )
        for name, value in settings.items():
            if is_secret(name) and value:
                message = message.replace(value, "***")
        return message

    def run_once(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the server's program with some arguments until it ends.

        Raises `EngineError` if the program cannot be started.
        """
        return run_program([*self.command, *arguments], self.environment, self.file)


@cache
def _setting_names(program: Program) -> frozenset[str]:
    completed = program.run_once("--no-defaults", *program.places, *HELP)
    variables = completed.stdout.partition(VARIABLES)[2].splitlines()
    matches = (re.match(r"[a-z][\w-]*(?=\s)", line) for line in variables)
    names = frozenset(canonical(name[0]) for name in matches if name)
    if not names:
        raise EngineError(f"{program.file} does not run: {completed.stderr.strip()}")
    return names
