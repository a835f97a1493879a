"""Checks Virtuoso's settings, and writes its configuration file.

The server silently accepts any name and value, so this module checks both.
"""

from __future__ import annotations

import os
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.resources import memory_bytes
from assay.model.errors import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.engines.virtuoso.programs import Programs

CONF = Path(__file__).parent / "conf"
PAGE_BYTES = 8192
# Bytes of memory per page, which are more than the page's own.
PAGE_HELD_BYTES = 9000
# Divisors of memory for pages: the server touches all pages at its start, so half of memory would
# take many seconds.
PAGES_PART, PAGES_PART_LOADING = 4, 16
# The product's documentation advises that three of four pages may be dirty.
DIRTY_SHARE = (3, 4)
BUFFERS, BUFFERS_DIRTY = "NumberOfBuffers", "MaxDirtyBuffers"
# The server's minimum, which it applies silently to smaller values.
BUFFERS_MIN = 20_000
PARAMETERS, WEB = "Parameters", "HTTPServer"
# A setting of Assay: the kind of statistics that the optimiser has.
STATISTICS = "statistics"
STATISTICS_VALUES = ("none", "analyze")
# Settings that Assay controls, such as the server's port and directories.
OURS = {
    "Database": (
        "DatabaseFile",
        "ErrorLogFile",
        "LockFile",
        "TransactionFile",
        "xa_persistent_file",
        "TempStorage",
    ),
    "TempDatabase": ("DatabaseFile", "TransactionFile"),
    PARAMETERS: ("ServerPort", "DirsAllowed"),
    WEB: ("ServerPort", "ServerRoot"),
}
VALUES = {
    "some": (re.compile(r"0*[1-9]\d*"), "a whole number above 0"),
    "count": (re.compile(r"\d+"), "a whole number"),
    "size": (re.compile(r"\d+[KMG]?"), "a whole number, with or without K, M or G behind it"),
    "switch": (re.compile(r"[01]"), "0 or 1"),
}
_ANY_VALUE = re.compile(r"[^;\n]*")

# Settings by section, then by name.
Configuration = dict[str, dict[str, str]]


@cache
def known_settings() -> dict[str, tuple[str, str, str]]:
    """Return Virtuoso's settings by name: section, spelling, and kind of value."""
    sections = tomllib.loads((CONF / "settings.toml").read_text(encoding="utf-8"))
    return {
        name.lower(): (section, name, kind)
        for section, settings in sections.items()
        for name, kind in settings.items()
    }


def check(settings: Mapping[str, str], programs: Programs) -> None:
    """Raise `EngineError` for the first wrong Virtuoso setting."""
    for given, value in settings.items():
        if given == STATISTICS:
            if value not in STATISTICS_VALUES:
                raise EngineError(
                    f"statistics={value}: the value must be {' or '.join(STATISTICS_VALUES)}."
                )
            continue
        section, name, kind = _placed(given)
        if name in OURS.get(section, ()):
            raise EngineError(f"Assay itself sets {given} on a server that it starts: remove it.")
        pattern, allowed = VALUES.get(kind, (_ANY_VALUE, "text without a semicolon"))
        if not pattern.fullmatch(value):
            raise EngineError(f"{given}={value}: the value must be {allowed}.")
        if name == BUFFERS and int(value) < BUFFERS_MIN:
            raise EngineError(
                f"{given}={value}: Virtuoso uses at least {BUFFERS_MIN} buffers (156 MiB): set "
                "that number or more."
            )
        if not programs.knows(name):
            raise EngineError(f"this version of Virtuoso has no setting {given!r}: remove it.")


def configured(*layers: Mapping[str, str]) -> Configuration:
    """Return Virtuoso's configuration: `run.ini` with sizes for this host and overrides."""
    made = read(CONF / "run.ini")
    for name, value in _of_this_host().items():
        made[PARAMETERS].setdefault(name, value)
    for layer in layers:
        for given, value in layer.items():
            if given != STATISTICS:
                section, name, _ = _placed(given)
                made.setdefault(section, {})[name] = value
    pages = int(made[PARAMETERS][BUFFERS])
    dirty, of = DIRTY_SHARE
    made[PARAMETERS].setdefault(BUFFERS_DIRTY, str(pages * dirty // of))
    return made


def for_loading() -> dict[str, str]:
    """Return settings of a server that only loads: `load.ini`, and fewer pages."""
    pages = max(memory_bytes() // PAGES_PART_LOADING // PAGE_HELD_BYTES, BUFFERS_MIN)
    return {**_flat(read(CONF / "load.ini")), f"{PARAMETERS}.{BUFFERS}": str(pages)}


def for_sparql() -> dict[str, str]:
    """Return settings of a server for SPARQL: `sparql.ini`."""
    return _flat(read(CONF / "sparql.ini"))


def read(file: Path) -> Configuration:
    """Return the sections of a Virtuoso configuration file."""
    made: Configuration = {}
    section = PARAMETERS
    for line in map(str.strip, file.read_text(encoding="utf-8").splitlines()):
        if line.startswith("["):
            section = line.strip("[]")
            made.setdefault(section, {})
        elif line and line[0] != ";":
            name, _, value = line.partition("=")
            made[section][name.strip()] = value.strip()
    return made


def text(configuration: Configuration) -> str:
    """Return the text of a Virtuoso configuration file."""
    lines = []
    for section, settings in configuration.items():
        lines += [f"[{section}]", *(f"{name} = {value}" for name, value in settings.items())]
    return "\n".join(lines) + "\n"


def _flat(configuration: Configuration) -> dict[str, str]:
    """Return Virtuoso settings in the form of `--set`."""
    return {
        f"{s}.{name}": value for s, some in configuration.items() for name, value in some.items()
    }


def _placed(given: str) -> tuple[str, str, str]:
    """Return section, name and kind of value of a Virtuoso setting.

    Raises `EngineError` for an unknown name.
    """
    if (setting := known_settings().get(given.lower())) is not None:
        return setting
    section, point, name = given.partition(".")
    if point:
        inside = known_settings().get(name.lower())
        kind = inside[2] if inside is not None and inside[0] == section else ""
        return section, inside[1] if kind and inside else name, kind
    raise EngineError(
        f"Virtuoso has no setting {given!r} that works without its section; "
        f"{suggestion(given, _names())}. Write other settings with their section, such as "
        f"{PARAMETERS}.{given}."
    )


def _names() -> list[str]:
    names: Iterable[str] = (name for _, name, _ in known_settings().values())
    return [STATISTICS, *names]


def _of_this_host() -> dict[str, str]:
    """Return Virtuoso's sizes for this host's memory and CPUs."""
    memory, threads = memory_bytes(), len(os.sched_getaffinity(0))
    return {
        BUFFERS: str(max(memory // PAGES_PART // PAGE_HELD_BYTES, BUFFERS_MIN)),
        "MaxQueryMem": f"{memory // 4 >> 20}M",
        "HashJoinSpace": f"{memory // 8 >> 20}M",
        "ThreadsPerQuery": str(threads),
        "AsyncQueueMaxThreads": str(2 * threads),
    }
