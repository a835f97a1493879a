"""The engine Oxigraph, embedded in the driver's process and queried in SPARQL."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow
import pyoxigraph

from assay._core import GraphSession
from assay.engines.contract import EngineError, Instance, Product
from assay.engines.feeding import fed, text_bytes
from assay.model.errors import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.engines.contract import Place, Tell, Wanted
    from assay.engines.facts import EngineFacts
    from assay.engines.feeding import Batches
    from assay.engines.loading import ArrowStream
    from assay.model.script import Script

STORE = "oxigraph"
UNION = "use_default_graph_as_union"
TRUTHS = {"true": True, "false": False}
TSV, JSON = pyoxigraph.QueryResultsFormat.TSV, pyoxigraph.QueryResultsFormat.JSON
N_TRIPLES = pyoxigraph.RdfFormat.N_TRIPLES
# Number of bytes to read if the caller does not say.
READ_BYTES = 1 << 20


class Asking:
    """The Oxigraph session of one client.

    The driver calls `ask` from a separate thread.
    """

    def __init__(self, store: pyoxigraph.Store, *, union: bool) -> None:
        self._store = store
        self._union = union

    def ask(self, text: str, form: str) -> bytes | None:
        """Execute a SPARQL request; return its whole answer, None for an update."""
        if form == "update":
            self._store.update(text)
            return None
        answer = self._store.query(text, use_default_graph_as_union=self._union)
        if isinstance(answer, pyoxigraph.QueryTriples):
            return answer.serialize(format=N_TRIPLES)
        return answer.serialize(format=TSV if form == "tsv" else JSON)


class Lines:
    """A file object that reads the texts of batches as bytes."""

    def __init__(self, batches: Iterable[pyarrow.RecordBatch]) -> None:
        self._batches = iter(batches)
        self._rest = memoryview(b"")

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes of the texts, `size` at most; empty at the end."""
        while not self._rest:
            batch = next(self._batches, None)
            if batch is None:
                return b""
            self._rest = text_bytes(batch)
        taken = self._rest[: size if size > 0 else READ_BYTES]
        self._rest = self._rest[len(taken) :]
        return bytes(taken)


class OxigraphEngine:
    """The engine Oxigraph; implements `Engine`, `Embedded`, `LoadsTriples`, `ChecksSettings`."""

    def __init__(self, facts: EngineFacts) -> None:
        self._facts = facts

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """Check that Oxigraph's installed Python package has the requested version."""
        del tell
        version: str = pyoxigraph.__version__
        if version != self._facts.version_pinned:
            raise EngineError(
                f"pyoxigraph {version} is installed, and Assay needs version "
                f"{self._facts.version_pinned}: run `make setup` again."
            )
        if wanted.version is not None and not f"{version}.".startswith(f"{wanted.version}."):
            raise EngineError(
                f"Assay contains pyoxigraph {version}, so version {wanted.version} is not "
                "available. It is a Python package: install the other version in a separate "
                "Python environment."
            )
        return Product(version)

    def check_settings(self, product: Product, settings: Mapping[str, str]) -> None:
        """Check the settings of Oxigraph."""
        del product
        self._effective(settings)

    def _effective(self, settings: Mapping[str, str]) -> dict[str, str]:
        defaults = self._facts.settings
        for name, value in settings.items():
            if name not in defaults:
                raise EngineError(
                    f"Oxigraph has no setting {name!r}; {suggestion(name, list(defaults))}"
                )
            if value not in TRUTHS:
                raise EngineError(f"--set {name}={value}: write true or false")
        return {**defaults, **settings}

    def start(self, place: Place, settings: Mapping[str, str]) -> Instance:
        """Open the Oxigraph store, which is created if it does not exist."""
        effective = self._effective(settings)
        try:
            store = pyoxigraph.Store(str(place.data / STORE))
        except OSError as error:
            raise EngineError(f"Oxigraph cannot open {place.data / STORE}: {error}") from error
        return Instance(effective, store, place)

    def stop(self, instance: Instance) -> None:
        """Flush data to disk, and close the Oxigraph store with its last user."""
        instance.handle.flush()
        instance.handle = None

    def effective_settings(self, instance: Instance) -> dict[str, str]:
        """Return the settings of Oxigraph's queries; the Oxigraph store itself has none."""
        return dict(instance.settings)

    def sessions(self, instance: Instance, script: Script, seed: int, clients: int) -> list[object]:
        """Return sessions on one store, which many threads can query at once."""
        facts, union = json.dumps(script.facts()), TRUTHS[instance.settings[UNION]]
        return [
            GraphSession(Asking(instance.handle, union=union), facts, seed, number)
            for number in range(clients)
        ]

    def load_triples(self, instance: Instance, rows: ArrowStream, streams: int, tell: Tell) -> None:
        """Load triples with `streams` threads that take batches in turn."""
        del tell

        def load(batches: Batches) -> None:
            # Assay generated every line, so the parser need not validate it.
            instance.handle.bulk_load(Lines(batches), N_TRIPLES, lenient=True)

        try:
            fed(pyarrow.RecordBatchReader.from_stream(rows), [load] * streams)
        except (OSError, SyntaxError, ValueError) as error:
            raise EngineError(f"Oxigraph cannot load the data: {error}") from error

    def count_triples(self, instance: Instance) -> int:
        """Return the number of distinct triples in Oxigraph."""
        return len(instance.handle)

    def finish_triples(self, instance: Instance) -> None:
        """Compact Oxigraph's files, and flush everything to disk.

        Oxigraph keeps no statistics.
        """
        instance.handle.optimize()
        instance.handle.flush()


def engine(facts: EngineFacts) -> OxigraphEngine:
    """Return the engine `oxigraph`, with the facts of its `engine.toml`."""
    return OxigraphEngine(facts)
