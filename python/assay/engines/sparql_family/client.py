"""A client of a SPARQL endpoint for administration, which is never timed."""

from __future__ import annotations

import http.client
import json
import os
import ssl
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.engines.contract import EngineError
from assay.engines.network.http_line import HttpLine
from assay.engines.sparql_family.addresses import with_graph

if TYPE_CHECKING:
    from assay.engines.contract import Address
    from assay.engines.network.http_line import Answer

CONF = Path(__file__).parent / "conf"
# Timeout in seconds for counting an endpoint's triples, which some servers do one by one.
PATIENCE_S = 600.0
CONNECT_PATIENCE_S = 10.0
WORDS_MAX = 400
ROWS = "application/sparql-results+json"
STATEMENTS = "application/n-triples"


def query_text(name: str, **values: str) -> str:
    """Return the SPARQL query in a file, with values in place of `${name}`."""
    text = (CONF / name).read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"${{{key}}}", value)
    return text


class Client:
    """One connection to a SPARQL endpoint.

    Errors of a client are `EngineError` with a remedy.
    """

    def __init__(self, address: Address, patience_s: float = PATIENCE_S, server: str = "") -> None:
        self._address = address
        self._patience_s = patience_s
        self._line: HttpLine | None = None
        self.server = server
        self.locks: list[int] = []

    @property
    def place(self) -> str:
        """Return the endpoint's host and port as text."""
        return f"{self._address['host']}:{self._address['port']}"

    def close(self) -> None:
        """Close the connection; the next request opens another one."""
        if self._line is not None:
            self._line.close()
            self._line = None

    def release(self) -> None:
        """Close the connection, and release its locks."""
        self.close()
        while self.locks:
            os.close(self.locks.pop())

    def rows(self, text: str, graph: str | None = None) -> list[dict[str, str]]:
        """Return the rows of a SPARQL query: texts by variable.

        The answer of an ASK query is one row with variable `boolean`.
        """
        target = with_graph(self._address["query"], "default-graph-uri", graph)
        if self._address.get("method") == "get":
            target, body = with_graph(target, "query", text), None
        else:
            body = text.encode()
        answer = self.request(
            "GET" if body is None else "POST",
            target,
            body,
            {"Accept": ROWS, "Content-Type": "application/sparql-query"},
        )
        return self._read(answer)

    def count(self, text: str, variable: str, graph: str | None = None) -> int:
        """Return the number that a query counts, which has one row with one variable."""
        try:
            return int(self.rows(text, graph)[0][variable])
        except (IndexError, KeyError, ValueError, TypeError) as error:
            raise self._no_result(f"it has no number {variable}") from error

    def request(
        self, method: str, target: str, body: bytes | None, headers: dict[str, str]
    ) -> bytes:
        """Return the body of an endpoint's answer; empty for a missing graph (404)."""
        fields = {"User-Agent": "assay", "Accept-Encoding": "identity", **headers}
        if self._address.get("authorization"):
            fields["Authorization"] = self._address["authorization"]
        answer = self._answer(method, target, body, fields)
        self.server = str(answer.headers.get("Server", self.server))[:WORDS_MAX]
        if answer.status >= http.client.MULTIPLE_CHOICES:
            raise EngineError(self._refusal(answer))
        if answer.headers.get_content_type() == "text/html" and headers.get("Accept") == ROWS:
            raise EngineError(
                f"{self.place}{target.partition('?')[0]} returned a web page, so the URL is not "
                "a SPARQL endpoint: name the query endpoint, such as "
                "http://127.0.0.1:3030/ds/query"
            )
        return answer.body

    def _answer(
        self, method: str, target: str, body: bytes | None, fields: dict[str, str]
    ) -> Answer:
        if self._line is None:
            self._line = self._new_line()
        try:
            if self._line.is_open:
                # The server may have closed an idle connection; these requests can safely be
                # repeated.
                with suppress(ConnectionResetError, BrokenPipeError):
                    return self._line.ask(method, target, body, fields)
            return self._line.ask(method, target, body, fields)
        except ConnectionRefusedError as error:
            self.close()
            raise EngineError(
                f"no server at {self.place}: is it running, and is the port right?"
            ) from error
        except OSError as error:
            self.close()
            message = str(error) or type(error).__name__
            raise EngineError(
                f"the server at {self.place} does not respond in HTTP ({message}): is the port "
                "right, and is it http or https?"
            ) from error

    def _new_line(self) -> HttpLine:
        context, tls = None, self._address.get("tls")
        if tls is not None:
            try:
                context = ssl.create_default_context(cafile=tls["ca"])
            except OSError as error:
                raise EngineError(
                    f"the certificates in {tls['ca']} cannot be read: {error}"
                ) from error
            if tls["mode"] != "verify-full":
                context.check_hostname = False
            if tls["mode"] == "require":
                context.verify_mode = ssl.CERT_NONE
        return HttpLine(
            self._address["host"],
            self._address["port"],
            self._patience_s,
            tls=context,
            connect_patience_s=CONNECT_PATIENCE_S,
        )

    def _refusal(self, answer: Answer) -> str:
        where = f"the server at {self.place}"
        if answer.status in {http.client.UNAUTHORIZED, http.client.FORBIDDEN}:
            asks = answer.headers.get("WWW-Authenticate", "a proof").split(" ")[0]
            asks = asks[:WORDS_MAX]
            if asks.lower() == "digest":
                return (
                    f"{where} asks who we are by Digest, which is not spoken here: let it take"
                    " Basic, or name an endpoint that needs no user."
                )
            return (
                f"{where} wants to know who asks ({asks}), and does not take us: name user and"
                " password in --dsn, or in SPARQL_USER and SPARQL_PASSWORD."
            )
        if answer.status < http.client.BAD_REQUEST:
            elsewhere = answer.headers.get("Location", "a place that it does not name")[:WORDS_MAX]
            return f"{where} sends us on to {elsewhere}: name the endpoint's own URL in --dsn."
        message = " ".join(answer.body.decode("utf-8", "replace").split())[:WORDS_MAX]
        mend = ""
        if answer.status in {http.client.NOT_FOUND, http.client.METHOD_NOT_ALLOWED}:
            mend = " Is the path of the URL right? An endpoint's is such as /sparql or /ds/query."
        return f"{where} refuses: {message or answer.reason} (HTTP {answer.status}).{mend}"

    def _read(self, body: bytes) -> list[dict[str, str]]:
        try:
            document: dict[str, Any] = json.loads(body)
            if "boolean" in document:
                return [{"boolean": str(document["boolean"]).lower()}]
            bindings = document["results"]["bindings"]
            return [{name: term["value"] for name, term in row.items()} for row in bindings]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self._no_result(error) from error

    def _no_result(self, reason: object) -> EngineError:
        return EngineError(
            f"the response of {self.place} is not a SPARQL result in JSON ({reason}): is the "
            "URL a query endpoint?"
        )


def answers(address: Address) -> bool:
    """Return True if an endpoint answers a query that selects nothing."""
    client = Client(address)
    try:
        client.rows(query_text("alive.rq"))
    except EngineError:
        return False
    finally:
        client.release()
    return True
