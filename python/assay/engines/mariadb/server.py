"""Makes the data directory of a private MariaDB server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.mariadb.programs import system_tables
from assay.engines.server_files import write_server_file

if TYPE_CHECKING:
    from assay.engines.contract import Launcher
    from assay.engines.mysql_family.programs import Program

CONF = Path(__file__).parent / "conf"
BOOTSTRAP_FILE = "bootstrap.sql"
# Shell command that executes a program with a file as its standard input.
SHELL, READING = "/bin/sh", 'script=$1; shift; exec "$@" < "$script"'
CURRENT_HOST = "@current_hostname"
INSTALL_PATIENCE_S = 300.0


def make_data(program: Program, data: Path, launcher: Launcher) -> None:
    """Make a data directory with MariaDB's system tables."""
    data.mkdir(mode=0o700)
    launcher.own(data)
    script = launcher.scratch / BOOTSTRAP_FILE
    parts = [CONF / BOOTSTRAP_FILE, *system_tables(program.file)]
    lines = [line for part in parts for line in part.read_text("utf-8").splitlines()]
    # Accounts for the host's own name are omitted, because that name is unknown.
    kept = [line for line in lines if CURRENT_HOST not in line]
    write_server_file(script, "\n".join(kept))
    launcher.own(script)
    argv = [
        *program.command,
        "--no-defaults",
        "--bootstrap",
        *program.places,
        f"--datadir={data}",
        f"--tmpdir={launcher.scratch}",
        # Only the state at the orderly end must be on disk.
        "--innodb-flush-log-at-trx-commit=0",
    ]
    from_script = [SHELL, "-c", READING, SHELL, str(script)]
    launcher.run([*from_script, *argv], program.environment, INSTALL_PATIENCE_S)
    script.unlink()
