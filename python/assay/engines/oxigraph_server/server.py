"""Starts a private Oxigraph server: its directory, port and address."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.oxigraph_server.programs import find_program
from assay.engines.programs import inherited
from assay.engines.sparql_family.serving import HOST, Served, serve, serve_again
from assay.model.errors import suggestion
from assay.model.units import whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from assay.engines.contract import Address, Launcher, Place, Product

# Name below `place.data` of the store's directory.
DATA = "oxigraph"
UNION, TIMEOUT = "union-default-graph", "timeout-s"
SETTINGS = (UNION, TIMEOUT)
START_PATIENCE_S = 300.0
STOP_GRACE_S = 300.0


def options_of(settings: Mapping[str, str]) -> list[str]:
    """Return settings as command-line options of Oxigraph's program.

    Raises `EngineError` with the first wrong setting.
    """
    options = []
    for name, value in settings.items():
        if name not in SETTINGS:
            hint = suggestion(name, list(SETTINGS))
            raise EngineError(f"Oxigraph's server has no setting {name!r}; {hint}")
        if name == TIMEOUT:
            if not whole_number(value):
                raise EngineError(f"--set {name}={value}: write a whole number of seconds")
            options += [f"--{name}", value]
        elif value not in {"true", "false"}:
            raise EngineError(f"--set {name}={value}: write true or false")
        elif value == "true":
            options.append(f"--{name}")
    return options


def start_server(
    product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
) -> Address:
    """Start an Oxigraph server and return its address once it answers.

    Raises:
        EngineError: If the server does not start. The error message has its last output.
    """
    data = place.data / DATA
    data.mkdir(mode=0o700, exist_ok=True)
    launcher.own(place.data)
    return serve(_served(product, launcher), lambda port: address_of(port, data, settings))


def restart_server(product: Product, launcher: Launcher, address: Address) -> None:
    """Restart a crashed Oxigraph server at its address.

    Raises `EngineError`.
    """
    serve_again(_served(product, launcher), address)


def address_of(port: int, data: Path, settings: Mapping[str, str]) -> Address:
    """Return the address of a private Fuseki server with its settings."""
    return {
        "host": HOST,
        "port": port,
        "query": "/query",
        "update": "/update",
        # Loading in one transaction would hold all triples in memory.
        "store": "/store?default&no_transaction&lenient",
        "results": "tsv",
        "data": str(data),
        "settings": dict(settings),
    }


def _served(product: Product, launcher: Launcher) -> Served:
    return Served("Oxigraph", launcher, partial(_start, product, launcher), START_PATIENCE_S)


def _start(product: Product, launcher: Launcher, address: Address) -> int:
    """Start Oxigraph's program at an address and return its process id."""
    where = ["--location", address["data"], "--bind", f"{HOST}:{address['port']}"]
    argv = [str(find_program(product)), "serve", *where, *options_of(address["settings"])]
    return launcher.serve(argv, inherited(), "SIGTERM", STOP_GRACE_S)
