"""The engine Fuseki: how it is obtained, started and queried."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.bridge.jre import find_java
from assay.engines.collecting import CollectionsReader
from assay.engines.contract import EngineError
from assay.engines.fuseki.server import HEAP, TITLE, restart_server, start_server
from assay.engines.obtaining import obtain
from assay.engines.sparql_family.engine import EndpointEngine
from assay.model.errors import suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Address, Instance, Launcher, Place, Product, Tell, Wanted
    from assay.engines.facts import EngineFacts
    from assay.engines.loading import ArrowStream

# File below a product's home that has the build's version.
PROPERTIES = "META-INF/maven/org.apache.jena/jena-fuseki-main/pom.properties"
_VERSION = re.compile(r"(?m)^version=(\d[\w.-]*)")
_HEAP = re.compile(r"[1-9]\d*[kmg]")


class FusekiEngine(EndpointEngine):
    """The engine Fuseki; implements `Server`, `Restarts`, `LoadsTriples`, `HasCounters`.

    The engine Fuseki also checks settings. The address of a private server also has `data`,
    `collections` and `version`.
    """

    def __init__(self, facts: EngineFacts) -> None:
        super().__init__(facts)
        self._java: Path | None = None

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """Return the Fuseki product, after obtaining a Java runtime for it."""
        product = obtain(self._facts, wanted, tell)
        self._java = find_java(wanted.cache, tell, TITLE)
        return replace(product, version=_version(_home(product)))

    def check_settings(self, product: Product, settings: Mapping[str, str]) -> None:
        """Check Fuseki's settings, of which only the size of the heap exists."""
        del product
        for name, value in settings.items():
            if name != HEAP:
                raise EngineError(f"{TITLE} has no setting {name!r}; {suggestion(name, [HEAP])}")
            if not _HEAP.fullmatch(value):
                raise EngineError(f"--set {HEAP}={value}: write a size like 4g or 512m")

    def start(
        self, product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
    ) -> Address:
        """Start a private Fuseki server, on new data if its directory is empty."""
        self.check_settings(product, settings)
        address = start_server(self._runtime(), _home(product), place, settings, launcher)
        return address | {"version": product.version}

    def restart(
        self,
        product: Product,
        place: Place,
        settings: Mapping[str, str],
        launcher: Launcher,
        address: Address,
    ) -> None:
        """Restart a crashed Fuseki server at its port."""
        del place, settings
        restart_server(self._runtime(), _home(product), launcher, address)

    def address(self, dsn: str) -> Address:
        """Raise `EngineError`: a running Fuseki is measured with the engine `sparql`."""
        del dsn
        raise EngineError(
            f"--engine fuseki starts a private {TITLE}. For a running server, use --engine "
            "sparql with the URL of its query endpoint in --dsn"
        )

    def version(self, instance: Instance) -> str:
        """Return Fuseki's version, such as `5.2.0`, from its files."""
        return str(instance.address["version"])

    def counters(self, instance: Instance) -> CollectionsReader:
        """Return a reader of garbage collections in Java's log, which needs no connection."""
        return CollectionsReader(Path(instance.address["collections"]))

    def load_triples(self, instance: Instance, rows: ArrowStream, streams: int, tell: Tell) -> None:
        """Send all triples in one request, because a Fuseki data set has one writer at a time."""
        del streams
        super().load_triples(instance, rows, 1, tell)

    def _runtime(self) -> Path:
        if self._java is None:
            raise EngineError(f"{TITLE} needs Java: install it with `assay engines install`")
        return self._java


def _home(product: Product) -> Path:
    if product.home is None:
        raise EngineError(f"{TITLE} is not installed: install it with `assay engines install`")
    return product.home


def _version(home: Path) -> str:
    try:
        properties = (home / PROPERTIES).read_text(encoding="utf-8")
    except OSError as error:
        raise EngineError(
            f"{home} does not contain an unpacked {TITLE}: name the directory of the unpacked "
            f"jar with --bin-dir: {error}"
        ) from error
    match = _VERSION.search(properties)
    if match is None:
        raise EngineError(
            f"{home / PROPERTIES} contains no version of the program: choose another directory"
        )
    return match[1]


def engine(facts: EngineFacts) -> FusekiEngine:
    """Return the engine `fuseki`, with the facts of its `engine.toml`."""
    return FusekiEngine(facts)
