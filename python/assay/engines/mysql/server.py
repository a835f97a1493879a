"""Makes the data directory of a private MySQL server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.engines.contract import Launcher
    from assay.engines.mysql_family.programs import Program

CONF = Path(__file__).parent / "conf"
INSTALL_PATIENCE_S = 300.0


def make_data(program: Program, data: Path, launcher: Launcher) -> None:
    """Make a data directory with MySQL's system tables."""
    data.mkdir(mode=0o700)
    launcher.own(data)
    argv = [
        *program.command,
        "--no-defaults",
        "--initialize-insecure",
        *program.places,
        f"--datadir={data}",
        f"--tmpdir={launcher.scratch}",
        f"--secure-file-priv={launcher.scratch}",
        # Only the state at the orderly end must be on disk.
        "--innodb-flush-log-at-trx-commit=0",
        "--skip-log-bin",
    ]
    launcher.run(argv, program.environment, INSTALL_PATIENCE_S)
