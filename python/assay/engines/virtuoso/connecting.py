"""Connects to a private server over JDBC, and fills names and texts into SQL files."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from assay.engines.bridge.link import Link
from assay.engines.bridge.statements import execute
from assay.engines.sql_text import with_fields
from assay.engines.virtuoso.configuration import CONF

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from assay.engines.contract import Address

# Maven name of the vendor's JDBC driver for the bridge.
DRIVER = "com.openlinksw:virtjdbc4_3:3.123"
DRIVER_SHA256 = {
    "virtjdbc4_3-3.123.jar": "d97d54aae9d87e65b08d127d7caf7ddaae20790b985742bc043a638ce173322b",
}
HOST = "127.0.0.1"
USER = "dba"
# Page of the web server for SPARQL.
PAGE = "/sparql"
# Assay's graph, which is the default graph of queries.
GRAPH = "urn:assay:graph"


def url_of(port: int) -> str:
    """Return the JDBC URL of a private server."""
    return f"jdbc:virtuoso://{HOST}:{port}/charset=UTF-8"


def endpoint(port: int, authorization: str) -> dict[str, object]:
    """Return the SPARQL endpoint of a private server, in the form of a session's settings."""
    asked = f"{PAGE}?{urlencode({'default-graph-uri': GRAPH})}"
    return {
        "host": HOST,
        "port": port,
        "query": asked,
        "update": asked,
        # Version 7.2.5 never answers a query in the body of a POST.
        "method": "get",
        "authorization": authorization,
    }


def file_text(name: str) -> str:
    """Return the SQL text of a file in the `conf/` folder of the engine Virtuoso."""
    return (CONF / name).read_text(encoding="utf-8").strip()


def filled(file: str, /, **parts: str) -> str:
    """Return the SQL of a file in Virtuoso's `conf/` folder, with fields filled in unquoted."""
    return with_fields(file_text(file), parts)


def name_of(name: str) -> str:
    """Return a name quoted for Virtuoso's SQL."""
    return '"' + name.replace('"', '""') + '"'


def run(link: Link, statement: str) -> None:
    """Execute an SQL statement on Virtuoso.

    Raises `EngineError` with the statement.
    """
    execute(link, statement, "Virtuoso")


def ask(address: Address, statement: str, bound: Sequence[object] = ()) -> pa.Table:
    """Return rows of a statement, on a separate connection.

    Raises `EngineError`.
    """
    with Link.connect(address) as link:
        return link.ask(statement, bound)
