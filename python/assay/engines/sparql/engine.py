"""The engine `sparql`: any running SPARQL endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.sparql_family.engine import EndpointEngine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Address, Launcher, Place, Product, Tell, Wanted
    from assay.engines.facts import EngineFacts


class SparqlEngine(EndpointEngine):
    """Any SPARQL endpoint; implements `Server`, `LoadsTriples`, `TellsIfItLoads`."""

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """Raise `EngineError`: an endpoint cannot be obtained."""
        del wanted, tell
        raise EngineError(
            "a SPARQL endpoint must be running: name it with --dsn, such as "
            "http://127.0.0.1:3030/ds/query"
        )

    def start(
        self, product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
    ) -> Address:
        """Raise `EngineError`: an endpoint is started by its owner."""
        del product, place, settings, launcher
        raise EngineError("Assay cannot start an endpoint that is named by its URL.")


def engine(facts: EngineFacts) -> SparqlEngine:
    """Return the engine `sparql`, with the facts of its `engine.toml`."""
    return SparqlEngine(facts)
