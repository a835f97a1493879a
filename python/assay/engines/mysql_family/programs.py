"""Runs a server's program for its version and its settings, without serving."""

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
# The heading of the table of variables in what the server says of itself.
VARIABLES = "Variables (--variable-name=value)"
# A value that the server would change says so in a warning; it starts all the same.
_REFUSED = re.compile(
    r"\[ERROR\] (?:\[MY-\d+\] \[\w+\] )?(.*)"
    r"|\[Warning\] (?:\[MY-\d+\] \[\w+\] )?(?:Buffered warning: )?(option .* adjusted .*)"
)
_NOISE = re.compile(r"Parsing options for plugin .* failed|^Aborting$")
# Before the name of a setting that is on or off.
_PREFIX = re.compile(r"^(?:skip|disable|enable)_(?=log_bin)")
_PROGRAM = re.compile(r"^\S*(?:mariadbd|mysqld): ")


@dataclass(frozen=True)
class Program:
    """The server's program and what it needs beside it.

    Attributes:
        title: The product, for readers.
        file: The program.
        command: What is executed, before any argument: the program, or a loader with it.
        places: Arguments that say where its own files are.
        checking: Arguments with which it reads its settings, says what is wrong, and ends.
        version_pattern: What the program says of its version; the first group is the version.
        library_path: Libraries that it needs beside the host's; empty means none.
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
        """All that the program inherits."""
        return inherited(self.library_path)

    def version(self) -> str:
        """Return the version, such as `10.11.19`. Raises `EngineError` if the program fails."""
        completed = self.run_once("--no-defaults", "--version")
        match = re.search(self.version_pattern, completed.stdout)
        if completed.returncode != 0 or match is None:
            said = (completed.stderr or completed.stdout).strip()
            raise EngineError(
                f"{self.file} does not run on this host, or is no {self.title}: {said}. {MEND}"
            )
        return match[1]

    def setting_names(self) -> frozenset[str]:
        """Names of all settings that a configuration file may hold."""
        return _setting_names(self)

    def check(self, settings: Mapping[str, str]) -> None:
        """Lets the server read the settings. Raises `EngineError` with the first at fault."""
        names = self.setting_names()
        for name in settings:
            if _PREFIX.sub("", canonical(name)) not in names:
                hint = suggestion(canonical(name), sorted(names))
                raise EngineError(f"{self.title} has no setting {name!r}; {hint}")
        if refusal := self._refusal(settings):
            raise EngineError(f"{self.title} refuses its settings: {refusal}. Correct it (--set).")

    def _refusal(self, settings: Mapping[str, str]) -> str:
        """The server's words on a configuration; empty if it takes it."""
        with tempfile.TemporaryDirectory(prefix="assay-") as directory:
            file = Path(directory) / CONFIGURATION_FILE
            write_configuration(file, settings)
            where = (f"--datadir={directory}", f"--secure-file-priv={directory}")
            completed = self.run_once(
                f"--defaults-file={file}", *self.places, *self.checking, *where
            )
        said = [error or warning for error, warning in _REFUSED.findall(completed.stderr)]
        message = "; ".join(_PROGRAM.sub("", line) for line in said if not _NOISE.search(line))
        for name, value in settings.items():
            if is_secret(name) and value:
                message = message.replace(value, "***")
        return message

    def run_once(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs the program to its end. Raises `EngineError` if it cannot be run at all."""
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
