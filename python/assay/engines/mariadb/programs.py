"""Finds the programs of an installed MariaDB."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.mysql_family.programs import HELP, Program

if TYPE_CHECKING:
    from pathlib import Path

TITLE = "MariaDB"
# Paths of the server below a product's home: at the top, installed, or unpacked from Debian.
PLACES = ("mariadbd", "bin/mariadbd", "sbin/mariadbd", "usr/sbin/mariadbd")
VERSION = r"Ver (\d[\d.]*)-MariaDB"
# The product's scripts that create system tables such as accounts, in execution order, without the
# script of HELP texts.
SHARES = ("share/mysql", "share/mariadb", "share")
SYSTEM_TABLES = (
    "mysql_system_tables.sql",
    "mysql_performance_tables.sql",
    "mysql_system_tables_data.sql",
    "maria_add_gis_sp_bootstrap.sql",
    "mysql_sys_schema.sql",
)


def find_program(home: Path) -> Program:
    """Return MariaDB's server program below a product's directory.

    Raises `EngineError` if the program does not exist.
    """
    for place in PLACES:
        server = home / place
        if server.is_file() and system_tables(server):
            places = (f"--basedir={_base(server)}",)
            libraries = _libraries(home, place)
            return Program(TITLE, server, (str(server),), places, HELP, VERSION, libraries)
    raise EngineError(
        f"{home} has no `mariadbd` with `{SYSTEM_TABLES[0]}` in a directory `share` beside its "
        "own: name the directory of the server's programs with --bin-dir, such as /usr/sbin."
    )


def system_tables(server: Path) -> list[Path]:
    """Return the scripts that create MariaDB's system tables."""
    for share in SHARES:
        files = [_base(server) / share / name for name in SYSTEM_TABLES]
        if files[0].is_file():
            return [file for file in files if file.is_file()]
    return []


def _base(server: Path) -> Path:
    """Return the directory of MariaDB's messages, character sets and scripts."""
    inside = server.parent.name in {"bin", "sbin"}
    return server.parent.parent if inside else server.parent


def _libraries(home: Path, place: str) -> str:
    if not place.startswith("usr/"):
        return ""
    return ":".join(map(str, sorted(home.glob("usr/lib/*-linux-gnu*"))))
