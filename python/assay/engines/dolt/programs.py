"""Finds Dolt's program, its version, and the settings that it accepts."""

from __future__ import annotations

import csv
import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.dolt.configuration import configured, is_number, is_variable
from assay.engines.mysql_family.server import HOST
from assay.engines.mysql_family.statements import file_text, filled, text_of
from assay.engines.programs import MEND, inherited, run_program
from assay.engines.server_files import new_server_directory, server_directory, write_server_file
from assay.model.errors import suggestion

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

    from assay.engines.contract import Product

CONF = Path(__file__).parent / "conf"
# Paths of the program below a product's home: at the top, or in a build's `bin`.
PLACES = ("dolt", "bin/dolt")
# The program must not check for newer versions or report its use over the network.
GLOBAL_CONFIGURATION = {"metrics.disabled": "true", "versioncheck.disabled": "true"}
GLOBAL_DIRECTORY, GLOBAL_FILE = ".dolt", "config_global.json"
CONFIGURATION_FILE = "config.yaml"
# The program prints this message before it opens the data.
_UNREAD = re.compile(
    r"Failed to parse yaml file '[^']*'\. Error: (?:yaml: unmarshal errors:)?(.*)", re.DOTALL
)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Program:
    """The single program of Dolt: server, client and tools."""

    file: Path

    def version(self) -> str:
        """Return the version of Dolt's program, such as `2.2.0`.

        Raises `EngineError` if the program does not run.
        """
        with tempfile.TemporaryDirectory(prefix="assay-") as directory:
            completed = self._run(Path(directory), "version")
        match = re.match(r"dolt version (\d[\w.-]*)", completed.stdout)
        if match is None:
            raise EngineError(
                f"{self.file} does not run on this host, or is not Dolt: {_output(completed)}. "
                f"{MEND}"
            )
        return match[1]

    def check(self, settings: Mapping[str, str]) -> None:
        """Check settings by having Dolt's program read them.

        Raises `EngineError` with the first wrong setting.
        """
        with tempfile.TemporaryDirectory(prefix="assay-") as directory:
            here = Path(directory)
            self._check_file(here, settings)
            variables = {name: value for name, value in settings.items() if is_variable(name)}
            if variables:
                self._check_variables(here, variables)

    def _check_file(self, here: Path, settings: Mapping[str, str]) -> None:
        # Without data the server reads the file and ends at once; an old version does so without a
        # port.
        file = here / CONFIGURATION_FILE
        given = {name: value for name, value in settings.items() if not is_variable(name)}
        nowhere = {"data_dir": str(here / "none"), "listener.host": HOST, "listener.port": "0"}
        file.write_text(configured({**given, **nowhere}), encoding="utf-8")
        completed = self._run(here, "sql-server", "--config", str(file))
        refused = _UNREAD.search(_output(completed))
        if refused is not None:
            said = " ".join(refused[1].split())
            raise EngineError(f"Dolt rejects its settings: {said}. Correct --set.")

    def _check_variables(self, here: Path, variables: Mapping[str, str]) -> None:
        completed = self._run(here, "sql", "-r", "csv", "-q", file_text("variables.sql", CONF))
        names = {row[0] for row in csv.reader(completed.stdout.splitlines()) if row}
        for name, value in variables.items():
            if name.lower() not in names:
                hint = suggestion(name.lower(), sorted(names))
                raise EngineError(
                    f"Dolt has no system variable {name!r}; {hint} Name settings of the "
                    "configuration file with their sections, such as behavior.read_only."
                )
            written = value if is_number(value) else text_of(value)
            plain = {"value": written, "name": name.lower()}
            asked = filled("set_global.sql", plain=plain, conf=CONF)
            said = _output(self._run(here, "sql", "-q", asked))
            if "error" in said.lower():
                raise EngineError(f"Dolt rejects {name}={value}: {said}. Correct --set.")

    def _run(self, here: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        if not (here / GLOBAL_DIRECTORY).exists():
            with server_directory(here) as directory:
                write_global_configuration(directory)
        return run_program([str(self.file), *arguments], environment(here), self.file, here)


def find_program(home: Path) -> Program:
    """Return Dolt's program below a product's directory.

    Raises `EngineError` if the program does not exist.
    """
    for place in PLACES:
        if (home / place).is_file():
            return Program(home / place)
    raise EngineError(f"{home} has no program `dolt`: name its directory with --bin-dir.")


def home_of(product: Product) -> Path:
    """Return the directory of an installed Dolt.

    Raises `EngineError` if its program is not on this host.
    """
    if product.home is None:
        raise EngineError("Dolt is not installed: install it with `assay engines install`.")
    return product.home


def write_global_configuration(home: int) -> None:
    """Write Dolt's own configuration into an open home directory.

    Raises `OSError`.
    """
    with new_server_directory(GLOBAL_DIRECTORY, home) as directory:
        write_server_file(GLOBAL_FILE, json.dumps(GLOBAL_CONFIGURATION), directory)


def environment(home: Path) -> dict[str, str]:
    """Return the environment for Dolt's program, whose global configuration is in `home`."""
    # Otherwise each command leaves a process that writes below `home`, even with metrics disabled.
    alone = {"DOLT_DISABLE_EVENT_FLUSH": "true"}
    return {**inherited(), "HOME": str(home), "DOLT_ROOT_PATH": str(home), **alone}


def _output(completed: subprocess.CompletedProcess[str]) -> str:
    return _COLOUR.sub("", completed.stderr + completed.stdout).strip()
