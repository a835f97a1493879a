"""Starts a private server: its directory, its port, its address."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.oxigraph_server.programs import find_program
from assay.engines.programs import inherited
from assay.engines.resources import free_port
from assay.engines.sparql_family.client import answers
from assay.model.errors import suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from assay.engines.contract import Address, Launcher, Place, Product

# Below `place.data`: the store's own directory.
DATA = "oxigraph"
HOST = "127.0.0.1"
UNION, TIMEOUT = "union-default-graph", "timeout-s"
SETTINGS = (UNION, TIMEOUT)
PORT_TRIES = 5
START_PATIENCE_S = 300.0
STOP_GRACE_S = 300.0
LOOK_S = 0.02
PORT_TAKEN = "Address already in use"


def options_of(settings: Mapping[str, str]) -> list[str]:
    """Settings as options of the program. Raises `EngineError` with the one at fault."""
    options = []
    for name, value in settings.items():
        if name not in SETTINGS:
            hint = suggestion(name, list(SETTINGS))
            raise EngineError(f"Oxigraph's server has no setting {name!r}; {hint}")
        if name == TIMEOUT:
            if not value.isdigit() or int(value) == 0:
                raise EngineError(f"--set {name}={value}: it is a whole number of seconds")
            options += [f"--{name}", value]
        elif value not in {"true", "false"}:
            raise EngineError(f"--set {name}={value}: it is true or false")
        elif value == "true":
            options.append(f"--{name}")
    return options


def start_server(
    product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
) -> Address:
    """Starts a server on `place` and returns its address once it answers.

    Raises:
        EngineError: With the server's last words.
    """
    data = place.data / DATA
    data.mkdir(mode=0o700, exist_ok=True)
    launcher.own(place.data)
    for _ in range(PORT_TRIES):
        address = address_of(free_port(HOST), data, settings)
        words = _started(product, address, launcher)
        if words is None:
            return address
        if PORT_TAKEN not in words:
            raise EngineError(f"Oxigraph did not start: {words}")
    raise EngineError(
        f"Oxigraph found {PORT_TRIES} ports taken that had been free a moment before: try again"
        " when fewer programs open connections."
    )


def restart_server(product: Product, launcher: Launcher, address: Address) -> None:
    """Starts a server that died again, at its address. Raises `EngineError`."""
    words = _started(product, address, launcher)
    if words is not None:
        raise EngineError(f"Oxigraph did not start again: {words}")


def address_of(port: int, data: Path, settings: Mapping[str, str]) -> Address:
    """How a private server is reached, and what it was told."""
    return {
        "host": HOST,
        "port": port,
        "query": "/query",
        "update": "/update",
        # Not in one transaction, which would hold all statements in memory.
        "store": "/store?default&no_transaction&lenient",
        "results": "tsv",
        "data": str(data),
        "settings": dict(settings),
    }


def _started(product: Product, address: Address, launcher: Launcher) -> str | None:
    """None once the server answers; its last words if it ended. Raises `EngineError`."""
    where = ["--location", address["data"], "--bind", f"{HOST}:{address['port']}"]
    argv = [str(find_program(product)), "serve", *where, *options_of(address["settings"])]
    address["pid"] = launcher.serve(argv, inherited(), "SIGTERM", STOP_GRACE_S)
    deadline_s = time.monotonic() + START_PATIENCE_S
    while time.monotonic() < deadline_s:
        if (words := launcher.last_words()) is not None:
            return words
        if answers(address):
            return None
        time.sleep(LOOK_S)
    raise EngineError(
        f"Oxigraph did not answer within {START_PATIENCE_S:.0f} s of its start: the host is"
        " overloaded or the disk does not answer. Try again when it is quieter."
    )
