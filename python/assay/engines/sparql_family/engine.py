"""The behaviour that all engines with SPARQL endpoints share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from assay import _core
from assay.engines.contract import EngineError, Instance
from assay.engines.network.listening import listener
from assay.engines.sparql_family import graphs
from assay.engines.sparql_family.addresses import read_dsn, session_config, with_graph
from assay.engines.sparql_family.client import Client, query_text

if TYPE_CHECKING:
    from assay.engines.contract import Address, Tell
    from assay.engines.facts import EngineFacts
    from assay.engines.loading import ArrowStream
    from assay.model.script import Script

NOT_TOLD = "not told"
# Timeout in seconds for recognising an endpoint.
ALIVE_PATIENCE_S = 30.0


class EndpointEngine:
    """Base class of engines with SPARQL endpoints.

    An instance's `handle` is a `Client`. For a private server the address also has `pid` and
    `settings`, besides the keys in `addresses`.
    """

    def __init__(self, facts: EngineFacts) -> None:
        self._facts = facts

    def address(self, dsn: str) -> Address:
        """Return the address of a running SPARQL server from its DSN.

        Raises `EngineError` for an invalid DSN.
        """
        return read_dsn(dsn)

    def attach(self, address: Address) -> Instance:
        """Connect, and check that the server is a SPARQL endpoint.

        Raises `EngineError` with the remedy.
        """
        first = Client(address, ALIVE_PATIENCE_S)
        try:
            first.rows(query_text("alive.rq"))
        finally:
            first.release()
        return Instance({}, Client(address, server=first.server), address=dict(address))

    def detach(self, instance: Instance) -> None:
        """Close the connection to SPARQL."""
        instance.handle.release()

    def version(self, instance: Instance) -> str:
        """Return the server's version, as far as it reports one."""
        return instance.handle.server or NOT_TOLD

    def effective_settings(self, instance: Instance) -> dict[str, str]:
        """Return a private server's settings; of others the protocol reports only a name."""
        settings: dict[str, str] = instance.address.get("settings", {})
        return {**settings, "server": instance.handle.server or NOT_TOLD}

    def processes(self, instance: Instance) -> tuple[int, ...]:
        """Return the pid that listens on the endpoint's port, if visible on this host."""
        pid = instance.address.get("pid") or listener(instance.address["port"])
        return () if pid is None else (pid,)

    def port(self, instance: Instance) -> int | None:
        """Return the SPARQL endpoint's port."""
        return int(instance.address["port"])

    def sessions(self, instance: Instance, script: Script, seed: int, clients: int) -> list[object]:
        """Return one SPARQL session per client."""
        return self.share_of_sessions(instance, script, seed, range(clients))

    def share_of_sessions(
        self, instance: Instance, script: Script, seed: int, numbers: range
    ) -> list[object]:
        """Return the SPARQL sessions with the given numbers out of all clients' sessions."""
        config, facts = session_config(instance.address), json.dumps(script.facts())
        return [_core.SparqlSession(config, facts, seed, number) for number in numbers]

    def loads(self, instance: Instance) -> bool:
        """Return True if triples can be loaded, by the Graph Store protocol."""
        return instance.address.get("store") is not None

    def load_triples(self, instance: Instance, rows: ArrowStream, streams: int, tell: Tell) -> None:
        """Send all triples by the Graph Store protocol, one request per stream."""
        del tell
        store = with_graph(graphs.store_of(instance), "graph", instance.address.get("graph"))
        try:
            _core.sparql_load(session_config(instance.address), store, rows, streams)
        except OSError as error:
            raise EngineError(f"the server cannot load the data: {error}") from error

    def count_triples(self, instance: Instance) -> int:
        """Return the number of triples in the default graph of queries."""
        client: Client = instance.handle
        return client.count(query_text("count.rq"), "count", instance.address.get("graph"))

    def finish_triples(self, instance: Instance) -> None:
        """Do nothing after a load: SPARQL servers need no step to keep acknowledged data."""
        del instance

    def schema_mark(self, instance: Instance, name: str) -> str | None:
        """Return the note that marks a graph as Assay's."""
        return graphs.mark_of(instance, name)

    def lock_schema(self, instance: Instance, name: str) -> bool:
        """Lock a file on this host, until the connection is released."""
        return graphs.lock(instance, name)

    def make_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Write the note that marks a graph as Assay's."""
        graphs.note(instance, name, mark)

    def mark_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Change the note that marks a graph as Assay's."""
        graphs.note(instance, name, mark)

    def use_schema(self, instance: Instance, name: str) -> None:
        """Make a graph the default for this connection and for later sessions."""
        instance.address["graph"] = graphs.graph_of(name)

    def drop_schema(self, instance: Instance, name: str) -> None:
        """Empty the graph and delete its note."""
        graphs.drop(instance, name)
