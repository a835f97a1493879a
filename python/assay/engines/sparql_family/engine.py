"""The behaviour that all engines with SPARQL endpoints share; see `engines.contract`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from assay import _core
from assay.engines.contract import EngineError, Instance
from assay.engines.listening import listener
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
    """Base of engines with SPARQL endpoints: `LoadsTriples`, `TellsIfItLoads`, most of `Server`.

    An instance's `handle` is a `Client`. For a private server the address also has `pid` and
    `settings`, besides the keys in `addresses`.
    """

    def __init__(self, facts: EngineFacts) -> None:
        self._facts = facts

    def address(self, dsn: str) -> Address:
        """Return the address of a running server.

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
        """Close the connection."""
        instance.handle.release()

    def version(self, instance: Instance) -> str:
        """Return the server's version, as far as it reports one."""
        return instance.handle.server or NOT_TOLD

    def effective_settings(self, instance: Instance) -> dict[str, str]:
        """Return a private server's settings; of others the protocol reports only a name."""
        settings: dict[str, str] = instance.address.get("settings", {})
        return {**settings, "server": instance.handle.server or NOT_TOLD}

    def processes(self, instance: Instance) -> tuple[int, ...]:
        """Return the pid that listens on the port, if it is visible on this host."""
        pid = instance.address.get("pid") or listener(instance.address["port"])
        return () if pid is None else (pid,)

    def port(self, instance: Instance) -> int | None:
        """Return the endpoint's port."""
        return int(instance.address["port"])

    def sessions(self, instance: Instance, script: Script, seed: int, clients: int) -> list[object]:
        """Return one connection per client."""
        return self.share_of_sessions(instance, script, seed, range(clients))

    def share_of_sessions(
        self, instance: Instance, script: Script, seed: int, numbers: range
    ) -> list[object]:
        """Return the sessions with these numbers out of all clients' sessions."""
        config, facts = session_config(instance.address), json.dumps(script.facts())
        return [_core.SparqlSession(config, facts, seed, number) for number in numbers]

    def loads(self, instance: Instance) -> bool:
        """Return True if a Graph Store endpoint is named; otherwise existing data are queried."""
        return instance.address.get("store") is not None

    def load_triples(self, instance: Instance, rows: ArrowStream, streams: int, tell: Tell) -> None:
        """Send all triples by the Graph Store protocol, one request per stream."""
        del tell
        store = with_graph(graphs.store_of(instance), "graph", instance.address.get("graph"))
        try:
            _core.sparql_load(session_config(instance.address), store, rows, streams)
        except OSError as error:
            raise EngineError(f"the server does not take the data: {error}") from error

    def count_triples(self, instance: Instance) -> int:
        """Return the number of triples in the default graph of queries."""
        rows = instance.handle.rows(query_text("count.rq"), instance.address.get("graph"))
        return int(rows[0]["count"])

    def finish_triples(self, instance: Instance) -> None:
        """Do nothing: the SPARQL protocol has no such step, and acknowledged data are kept."""
        del instance

    def schema_mark(self, instance: Instance, name: str) -> str | None:
        """Return the note on the graph that stands for the schema."""
        return graphs.mark_of(instance, name)

    def lock_schema(self, instance: Instance, name: str) -> bool:
        """Take a lock on a file of this host, which is released with the connection."""
        return graphs.lock(instance, name)

    def make_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Write the note; the graph is created with its first triple."""
        graphs.note(instance, name, mark)

    def mark_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Change the note."""
        graphs.note(instance, name, mark)

    def use_schema(self, instance: Instance, name: str) -> None:
        """Make this graph the default of the instance and of later sessions."""
        instance.address["graph"] = graphs.graph_of(name)

    def drop_schema(self, instance: Instance, name: str) -> None:
        """Empty the graph and delete its note."""
        graphs.drop(instance, name)
