"""The engine Oxigraph server: how it is obtained, started and queried."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.obtaining import obtain
from assay.engines.oxigraph_server.programs import find_program, version_of
from assay.engines.oxigraph_server.server import options_of, restart_server, start_server
from assay.engines.sparql_family.engine import EndpointEngine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Address, Instance, Launcher, Place, Product, Tell, Wanted
    from assay.engines.facts import EngineFacts

SCHEME = "oxigraph:"
# Paths of the SPARQL protocol on an Oxigraph server.
PLACES = {"query": "/query", "update": "/update", "results": "tsv"}
PRODUCT = re.compile(r"Oxigraph/(\S+)")


class OxigraphServerEngine(EndpointEngine):
    """The engine Oxigraph server; implements `Server`, `Restarts`, `LoadsTriples` and more."""

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """Return the installed product, after checking that its version is the requested one."""
        product = obtain(self._facts, wanted, tell)
        version = version_of(find_program(product))
        if product.version not in {"", version}:
            raise EngineError(
                f"{product.home} should contain Oxigraph {product.version}, but the program "
                f"reports version {version}: remove the directory and try again."
            )
        return replace(product, version=version)

    def check_settings(self, product: Product, settings: Mapping[str, str]) -> None:
        """Check the settings of the Oxigraph server."""
        del product
        options_of(settings)

    def start(
        self, product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
    ) -> Address:
        """Start a private Oxigraph server, on new data if its directory is empty."""
        return start_server(product, place, {**self._facts.settings, **settings}, launcher)

    def restart(
        self,
        product: Product,
        place: Place,
        settings: Mapping[str, str],
        launcher: Launcher,
        address: Address,
    ) -> None:
        """Restart a crashed Oxigraph server at its port."""
        del place, settings
        restart_server(product, launcher, address)

    def address(self, dsn: str) -> Address:
        """Return the address of a running server: `oxigraph://127.0.0.1:7878`."""
        address = super().address(dsn.replace(SCHEME, "http:", 1))
        return address | PLACES | {"store": "/store?no_transaction&lenient"}

    def version(self, instance: Instance) -> str:
        """Return the Oxigraph server's version.

        Raises `EngineError` if the server is not Oxigraph.
        """
        product = super().version(instance)
        match = PRODUCT.match(product)
        if match is None:
            raise EngineError(
                f"the server is {product}, not Oxigraph: name its endpoint with --dsn http://..."
            )
        return match[1]


def engine(facts: EngineFacts) -> OxigraphServerEngine:
    """Return the engine `oxigraph-server`, with the facts of its `engine.toml`."""
    return OxigraphServerEngine(facts)
