"""Starts a private server: its settings, and its data directory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.mysql_family.configuration import canonical, read_configuration
from assay.engines.mysql_family.server import buffer_pool, serve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Address, Launcher, Place
    from assay.engines.mysql_family.programs import Program

CONF = Path(__file__).parent / "conf"
# Below `place.data`: the server's own directory.
DATA = "mysql"
INSTALL_PATIENCE_S = 300.0


def start_server(
    program: Program, place: Place, settings: Mapping[str, str], launcher: Launcher
) -> Address:
    """Starts a server on `place` and returns its address once it answers.

    Raises:
        EngineError: With the server's last words.
    """
    data = place.data / DATA
    if not any(place.data.iterdir()):
        _make_data(program, data, launcher)
    launcher.own(place.data)
    given = default_settings() | {canonical(name): value for name, value in settings.items()}
    return serve(program, data, given, CONF / "users.sql", launcher)


def default_settings() -> dict[str, str]:
    """The settings of `run.cnf`, and the sizes that follow from the memory."""
    return read_configuration(CONF / "run.cnf") | buffer_pool()


def _make_data(program: Program, data: Path, launcher: Launcher) -> None:
    """Has the server make its tables; its account without a password goes at the first start."""
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
        # Only its orderly end has to be on the disk.
        "--innodb-flush-log-at-trx-commit=0",
        "--skip-log-bin",
    ]
    launcher.run(argv, program.environment, INSTALL_PATIENCE_S)
