"""Finds the program of an installed MySQL."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.mysql_family.programs import Program
from assay.engines.providers.debian_release import LOADERS, program_of

if TYPE_CHECKING:
    from pathlib import Path

TITLE = "MySQL"
# Paths of the server below a product's home: at the top, installed, or unpacked from Debian.
PLACES = ("mysqld", "bin/mysqld", "sbin/mysqld", "usr/sbin/mysqld")
VERSION = r"Ver (\d[\d.]*)(?!.*MariaDB)"


def find_program(home: Path) -> Program:
    """Return MySQL's server program below a product's directory.

    Raises `EngineError` if the program does not exist.
    """
    for place in PLACES:
        server = home / place
        if server.is_file():
            loaded = (home / LOADERS / server.name).exists()
            command = program_of(home, server) if loaded else [str(server)]
            # MySQL refuses to run as root without this option.
            user = ("--user=root",) if os.geteuid() == 0 else ()
            checking = ("--validate-config", "--log-error-verbosity=2", *user)
            return Program(TITLE, server, tuple(command), _places(server), checking, VERSION)
    raise EngineError(
        f"{home} has no `mysqld`: name the directory of the server's programs with --bin-dir, "
        "such as /usr/sbin."
    )


def _places(server: Path) -> tuple[str, ...]:
    """Return options with the directories of MySQL's messages, character sets and plugins."""
    inside = server.parent.name in {"bin", "sbin"}
    base = server.parent.parent if inside else server.parent
    wanted = {
        "lc-messages-dir": (base / "share" / "mysql", base / "share"),
        "character-sets-dir": (base / "share" / "mysql" / "charsets", base / "share" / "charsets"),
        "plugin-dir": (base / "lib" / "mysql" / "plugin", base / "lib" / "plugin"),
    }
    arguments = [f"--basedir={base}"]
    for name, places in wanted.items():
        arguments += [f"--{name}={place}" for place in places if place.is_dir()][:1]
    return tuple(arguments)
