"""Apache Jena Fuseki: obtained, started, asked; see `assay.engines.contract`."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Never

from assay import _core
from assay.engines import graph_store
from assay.engines.bridge.jre import find_java
from assay.engines.contract import EngineError, Instance
from assay.engines.fuseki.server import HEAP, TITLE, file_text, start_server
from assay.engines.obtaining import obtain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import (
        Address,
        ArrowStream,
        EngineFacts,
        Launcher,
        Place,
        Product,
        Tell,
        Wanted,
    )
    from assay.model.script import Script

# Below a product's home: what its build says of itself.
PROPERTIES = "META-INF/maven/org.apache.jena/jena-fuseki-main/pom.properties"
_VERSION = re.compile(r"(?m)^version=(\d[\w.-]*)")
_HEAP = re.compile(r"[1-9]\d*[kmg]")


class FusekiEngine:
    """See `assay.engines.contract`: `Server`, `LoadsTriples`, `ChecksSettings`.

    An instance's address has `session` (the configuration of sessions), `query` (URL), `store`
    (target of loads), `pid`, `heap` and `version`.
    """

    def __init__(self, facts: EngineFacts) -> None:
        self._facts = facts
        self._java: Path | None = None

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """The product, and a Java runtime for it."""
        product = obtain(self._facts, wanted, tell)
        self._java = find_java(wanted.cache, tell, TITLE)
        return replace(product, version=_version(_home(product)))

    def check_settings(self, product: Product, settings: Mapping[str, str]) -> None:
        """Takes the size of the heap; nothing else of it is set from outside."""
        del product
        for name, value in settings.items():
            if name != HEAP:
                raise EngineError(f"{TITLE} has no setting {name!r}: there is {HEAP!r} only.")
            if not _HEAP.fullmatch(value):
                raise EngineError(f"{HEAP}={value} is no size of a heap: write it like 4g or 512m.")

    def start(
        self, product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
    ) -> Address:
        """Starts a private server, on a new data set if `place.data` is empty."""
        self.check_settings(product, settings)
        if self._java is None:
            raise EngineError(f"{TITLE} has no Java yet: obtain it before it is started.")
        address = start_server(self._java, _home(product), place, settings, launcher)
        return address | {"version": product.version}

    def address(self, dsn: str) -> Address:
        """Raises `EngineError`: one that runs already is asked as any endpoint is."""
        del dsn
        _is_private()

    def attach(self, address: Address) -> Instance:
        """Asks whether it answers; there is no connection to keep."""
        graph_store.ask(address["query"], file_text("ready.rq"), TITLE)
        return Instance({}, None, address=dict(address))

    def detach(self, instance: Instance) -> None:
        """Nothing is to be ended."""

    def version(self, instance: Instance) -> str:
        """Such as `5.2.0`, which its build says: the server tells it nobody."""
        return str(instance.address["version"])

    def effective_settings(self, instance: Instance) -> dict[str, str]:
        """The largest heap."""
        return {HEAP: str(instance.address["heap"])}

    def processes(self, instance: Instance) -> tuple[int, ...]:
        """The server."""
        return (instance.address["pid"],)

    def schema_mark(self, instance: Instance, name: str) -> str | None:
        """Raises `EngineError`, as all that is of running servers."""
        del instance, name
        _is_private()

    def lock_schema(self, instance: Instance, name: str) -> bool:
        """Raises `EngineError`."""
        del instance, name
        _is_private()

    def make_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Raises `EngineError`."""
        del instance, name, mark
        _is_private()

    def mark_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Raises `EngineError`."""
        del instance, name, mark
        _is_private()

    def use_schema(self, instance: Instance, name: str) -> None:
        """Raises `EngineError`."""
        del instance, name
        _is_private()

    def drop_schema(self, instance: Instance, name: str) -> None:
        """Raises `EngineError`."""
        del instance, name
        _is_private()

    def load_triples(self, instance: Instance, rows: ArrowStream, streams: int, tell: Tell) -> None:
        """Sends all by one request: a data set has one writer at a time."""
        del streams, tell
        told = json.dumps(instance.address["session"])
        try:
            _core.sparql_load(told, instance.address["store"], rows, 1)
        except OSError as error:
            raise EngineError(f"{TITLE} refused to load: {error}") from error

    def count_triples(self, instance: Instance) -> int:
        """All statements, counted."""
        rows = graph_store.ask(instance.address["query"], file_text("count.rq"), TITLE)
        return graph_store.number(rows[0][0])

    def finish_triples(self, instance: Instance) -> None:
        """Each request is a transaction, and on disk when it was answered."""

    def sessions(self, instance: Instance, script: Script, seed: int, clients: int) -> list[object]:
        """One connection a client."""
        config, told = json.dumps(instance.address["session"]), json.dumps(script.facts())
        return [_core.SparqlSession(config, told, seed, number) for number in range(clients)]


def _is_private() -> Never:
    raise EngineError(
        f"{TITLE} is started by Assay here. One that runs already is asked with --engine sparql"
        " and the URL of its queries as --dsn."
    )


def _home(product: Product) -> Path:
    if product.home is None:
        raise EngineError(f"{TITLE} has no program here: obtain it before it is started.")
    return product.home


def _version(home: Path) -> str:
    try:
        told = (home / PROPERTIES).read_text(encoding="utf-8")
    except OSError as error:
        raise EngineError(
            f"{home} has no unpacked {TITLE}: --bin-dir names the directory that its jar was"
            f" unpacked in. {error}"
        ) from error
    found = _VERSION.search(told)
    if found is None:
        raise EngineError(f"{home / PROPERTIES} tells no version: choose another directory.")
    return found[1]


def engine(facts: EngineFacts) -> FusekiEngine:
    """The engine of this folder."""
    return FusekiEngine(facts)
