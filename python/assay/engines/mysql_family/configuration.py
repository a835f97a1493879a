"""Reads and writes configuration files of MySQL and MariaDB servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.server_files import write_server_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# Section that all servers with such a file read.
SECTION = "[mysqld]"


def canonical(name: str) -> str:
    """Return a setting's name in the spelling that the server uses."""
    return name.lower().replace("-", "_")


def write_configuration(file: Path, settings: Mapping[str, str]) -> None:
    """Write settings to a configuration file that only its owner can read.

    Each line of a value with several lines becomes a separate entry of the same setting.
    """
    pairs = [(name, line) for name, value in settings.items() for line in value.split("\n")]
    lines = [SECTION, *(f"{name} = {_quoted(value)}" for name, value in pairs)]
    write_server_file(file, "\n".join(lines) + "\n")


def read_configuration(file: Path) -> dict[str, str]:
    """Return the settings of a file that Assay wrote: `name = value`, with comment lines.

    Repeated entries of a name become one value with several lines.
    """
    lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    pairs = [line.partition("=") for line in lines if line and line[0] not in "#["]
    settings: dict[str, str] = {}
    for name, _, value in pairs:
        before = settings.get(name.strip())
        settings[name.strip()] = value.strip() if before is None else f"{before}\n{value.strip()}"
    return settings


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
