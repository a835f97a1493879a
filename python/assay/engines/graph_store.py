"""RDF servers over HTTP: statements are sent to a graph store, and counted by a query.

The protocols are W3C's SPARQL 1.1 Graph Store HTTP Protocol and SPARQL 1.1 Protocol.
"""

from __future__ import annotations

import csv
import io
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pyarrow as pa

from assay.engines.contract import EngineError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from assay.engines.contract import ArrowStream

N_TRIPLES, TSV = "application/n-triples", "text/tab-separated-values"
QUERY = "application/sparql-query"
# A server that sorts what it was sent before it answers may take long.
LOAD_PATIENCE_S, QUERY_PATIENCE_S = 24 * 3600.0, 600.0
# So much of what a server says is told.
SAID_MAX = 400


def ask(endpoint: str, query: str, title: str) -> list[list[str]]:
    """Rows of a query, a cell as SPARQL 1.1's TSV has it. Raises `EngineError`."""
    headers = {"Content-Type": QUERY, "Accept": TSV}
    told = _request(endpoint, "POST", query.encode(), headers, title, QUERY_PATIENCE_S)
    lines = csv.reader(io.StringIO(told.decode()), delimiter="\t", quoting=csv.QUOTE_NONE)
    return list(lines)[1:]


def number(cell: str) -> int:
    """The whole number of a cell: `7`, or `"7"^^<...integer>`."""
    return int(cell.split("^^")[0].strip('"'))


def _request(
    url: str,
    method: str,
    body: bytes | Iterable[memoryview],
    headers: dict[str, str],
    title: str,
    patience_s: float,
) -> bytes:
    parts = urlsplit(url)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    connection = HTTPConnection(str(parts.hostname), parts.port, timeout=patience_s)
    try:
        chunked = "Transfer-Encoding" in headers
        connection.request(method, path, body=body, headers=headers, encode_chunked=chunked)
        answer = connection.getresponse()
        told = answer.read()
    except (OSError, HTTPException) as error:
        raise EngineError(f"{title} did not answer: {error or type(error).__name__}") from error
    finally:
        connection.close()
    if not 200 <= answer.status < 300:  # noqa: PLR2004 - HTTP's successes
        said = " ".join(told.decode(errors="replace").split())[:SAID_MAX]
        raise EngineError(f"{title} refused it with {answer.status} {answer.reason}: {said}")
    return told
