"""Splits the settings of a Trino cluster: Assay's, the nodes' and the catalog's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.model.errors import suggestion
from assay.model.units import whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.engines.trino.programs import Programs

WORKERS, HEAP = "workers", "heap"
OF_OURS = (WORKERS, HEAP)
WORKERS_MAX = 64
# Prefixes of the catalog's properties; a node's own properties never have them.
OF_CATALOG = ("hive.", "parquet.", "orc.")
# Settings that Assay controls: addresses and identities of nodes, and who may send requests.
PLACES = (
    "catalog.config-dir",
    "coordinator",
    "discovery.uri",
    "hive.metastore",
    "hive.metastore.catalog.dir",
    "hive.metastore.user",
    "hive.storage-format",
    "http-server.http.port",
    "http-server.log.path",
    "http-server.process-forwarded",
    "internal-communication.shared-secret",
    "log.path",
    "node.bind-ip",
    "node.data-dir",
    "node.environment",
    "node.id",
    "node.internal-address",
    "plugin.dir",
)
ACCESS = (
    "http-server.admin.",
    "http-server.authentication.",
    "http-server.https.",
    "internal-communication.https.",
    "jmx.",
    "management.",
    "web-ui.",
)
_HEAP = re.compile(r"(\d+)\s*([MG])B?", re.IGNORECASE)
HEAP_MIN_MB, MB_PER_GB = 384, 1024
TABLE = re.compile(r"\tBootstrap\t(PROPERTY\s+)(DEFAULT\s+)RUNTIME")
_LINE = re.compile(r"\tBootstrap\t(.*)")


def check(settings: Mapping[str, str], programs: Programs) -> None:
    """Raise an error for Trino settings that are unknown or controlled by Assay.

    Raises:
        EngineError: If a setting is refused. The error message names the setting and the remedy.
    """
    workers_of(settings)
    heap_mb(settings)
    for name, value in settings.items():
        if name in OF_OURS:
            continue
        if name in PLACES or name.startswith(ACCESS):
            raise EngineError(f"Assay sets {name} itself when it starts the nodes: remove it.")
        if "\n" in value or not value.strip():
            raise EngineError(
                f"{name}: the value of a property must be one line of text, not {value!r}."
            )
        of_catalog = name.startswith(OF_CATALOG)
        names = programs.catalog_names() if of_catalog else programs.server_names()
        if not _is_known(name, names):
            raise EngineError(
                f"Trino {programs.version} has no property {name!r};"
                f" {suggestion(name, sorted({*names, *OF_OURS}))}"
            )


def _is_known(name: str, names: Iterable[str]) -> bool:
    """Return True if a configuration class has this property, with or without a prefix."""
    parts = name.split(".")
    return any(".".join(parts[at:]) in names for at in range(len(parts)))


def workers_of(settings: Mapping[str, str]) -> int:
    """Return the requested number of Trino workers.

    Raises `EngineError`.
    """
    value = settings[WORKERS]
    number = whole_number(value)
    if number is None or not 1 <= number <= WORKERS_MAX:
        raise EngineError(f"{WORKERS}={value}: write a whole number from 1 to {WORKERS_MAX}.")
    return number


def heap_mb(settings: Mapping[str, str]) -> int:
    """Return the size of each node's Java heap in MiB.

    Raises `EngineError`.
    """
    match = _HEAP.fullmatch(settings[HEAP].strip())
    megabytes = 0
    if match:
        megabytes = (whole_number(match[1]) or 0) * (MB_PER_GB if match[2].upper() == "G" else 1)
    if megabytes < HEAP_MIN_MB:
        raise EngineError(
            f"{HEAP}={settings[HEAP]}: write the heap size of each node, such as 1GB or 768MB; "
            f"the minimum is {HEAP_MIN_MB}MB."
        )
    return megabytes


def heap_text(settings: Mapping[str, str]) -> str:
    """Return Trino's heap size as text in its largest unit."""
    megabytes = heap_mb(settings)
    whole = megabytes % MB_PER_GB == 0
    return f"{megabytes // MB_PER_GB}GB" if whole else f"{megabytes}MB"


def of_nodes(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of each Trino node's `config.properties`."""
    return {
        name: value
        for name, value in settings.items()
        if name not in OF_OURS and not name.startswith(OF_CATALOG)
    }


def of_catalog(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of Trino's catalog file."""
    return {name: value for name, value in settings.items() if name.startswith(OF_CATALOG)}


def text(properties: Mapping[str, str]) -> str:
    """Return the text of a Java properties file."""
    escaped = {name: value.replace("\\", "\\\\") for name, value in properties.items()}
    return "".join(f"{name}={value}\n" for name, value in escaped.items())


def in_effect(log: str) -> dict[str, str]:
    """Return the properties in use, from the start log of a Trino node.

    Properties without a value are omitted. A name that several parts of the node use appears once.
    """
    properties: dict[str, str] = {}
    columns: tuple[int, int] | None = None
    for line in log.splitlines():
        if head := TABLE.search(line):
            columns = len(head[1]), len(head[1]) + len(head[2])
            continue
        match = _LINE.search(line)
        if match is None or columns is None:
            columns = None if match is None else columns
            continue
        name, value = match[1][: columns[0]].strip(), _value(match[1], columns)
        if name and value not in ("----", "", "[REDACTED]"):
            properties.setdefault(name, value)
    return properties


def _value(row: str, columns: tuple[int, int]) -> str:
    """Return the third column of a row in Trino's log."""
    return re.split(r"\s{2,}", row[columns[1] :].strip(), maxsplit=1)[0]
