"""Connects to a private server over JDBC, and fills names and texts into SQL of files."""

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

# What the bridge needs beside the server: the maker's own driver.
DRIVER = "com.openlinksw:virtjdbc4_3:3.123"
DRIVER_SHA256 = {
    "virtjdbc4_3-3.123.jar": "d97d54aae9d87e65b08d127d7caf7ddaae20790b985742bc043a638ce173322b",
}
HOST = "127.0.0.1"
USER = "dba"
# Ours, and what is asked by default.
GRAPH = "urn:assay:graph"


def url_of(port: int) -> str:
    """The JDBC URL of a server of ours."""
    return f"jdbc:virtuoso://{HOST}:{port}/charset=UTF-8"


def endpoint(port: int) -> dict[str, object]:
    """Return the SPARQL endpoint of a private server, as a session takes it."""
    asked = f"/sparql?{urlencode({'default-graph-uri': GRAPH})}"
    # A query that is the body of a POST, 7.2.5 never answers.
    return {"host": HOST, "port": port, "query": asked, "update": asked, "method": "get"}


def file_text(name: str) -> str:
    """The SQL of a file in `conf/`."""
    return (CONF / name).read_text(encoding="utf-8").strip()


def filled(file: str, /, **parts: str) -> str:
    """The SQL of a file in `conf/` with its fields filled as they are."""
    return with_fields(file_text(file), parts)


def name_of(name: str) -> str:
    """A name, quoted."""
    return '"' + name.replace('"', '""') + '"'


def run(link: Link, statement: str) -> None:
    """Executes a statement. Raises `EngineError` with it."""
    execute(link, statement, "Virtuoso")


def ask(address: Address, statement: str, bound: Sequence[object] = ()) -> pa.Table:
    """Rows of a statement, on a connection of its own. Raises `EngineError`."""
    with Link.connect(address) as link:
        return link.ask(statement, bound)
