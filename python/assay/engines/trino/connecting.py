"""Connects to a Trino cluster: by JDBC, and by its HTTP interface.

Keys of an address besides those of `assay.engines.bridge.addresses`: `rest` (the coordinator's HTTP
address), `catalog`, `schema`, `trusted` (a file of certificates, or None); for a private cluster
also `pids` and `logs` of its nodes, and `lake`. A private cluster is authenticated by the driver's
property `accessToken`.
"""

from __future__ import annotations

import base64
import http.client
import json
import re
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from assay.engines.contract import EngineError
from assay.engines.network.http_line import ANSWER_BYTES_MAX, HttpLine
from assay.engines.network.tokens import bearer
from assay.engines.sql_text import with_fields
from assay.engines.typed_password import password_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.engines.contract import Address

CONF = Path(__file__).parent / "conf"
# Maven name of Trino's JDBC driver for the bridge.
DRIVER = "io.trino:trino-jdbc:368"
DRIVER_SHA256 = {
    "trino-jdbc-368.jar": "b072c54b1d22160bba7a382a0b752b482c459b90b90d7a0e17ace2ac67132340",
}
HOST = "127.0.0.1"
USER, CATALOG, SCHEMA = "assay", "lake", "assay"
SCHEME, PORT, PORT_TLS = "trino", 8080, 8443
PASSWORD_VARIABLE = "TRINO_PASSWORD"  # noqa: S105 - where it is, not what it is
SESSION = "sessionProperties"
# Parameters of a DSN that Assay reads, too; all others only go to the driver.
TLS, TRUSTED, TOKEN = "SSL", "SSLTrustStorePath", "accessToken"
# A private cluster accepts a token over loopback as if it came over TLS.
FORWARDED = {"X-Forwarded-Proto": "https"}
PATIENCE_S = 20.0


def file_text(name: str) -> str:
    """Return the SQL text of a file in the `conf/` folder of the engine Trino."""
    return (CONF / name).read_text(encoding="utf-8").strip()


def filled(file: str, /, **parts: str) -> str:
    """Return the SQL of a file in `conf/` with quoted names filled in."""
    return filled_text(file, **{key: name_of(name) for key, name in parts.items()})


def filled_text(file: str, /, **parts: str) -> str:
    """Return the SQL text of a file in Trino's `conf/` folder, with fields filled in unquoted."""
    return with_fields(file_text(file), parts)


def name_of(name: str) -> str:
    """Return a name quoted for Trino's SQL."""
    return '"' + name.replace('"', '""') + '"'


def url_of(host: str, port: int, path: str, parameters: Mapping[str, str] | None = None) -> str:
    """Return the JDBC URL of a coordinator."""
    asked = f"?{urlencode(parameters)}" if parameters else ""
    return f"jdbc:trino://{host}:{port}{path}{asked}"


def read_dsn(dsn: str) -> Address:
    """Return the Trino address in `trino://user[:password]@host:port/catalog/schema`.

    A password, including one in TRINO_PASSWORD, is sent over TLS only, and so is the parameter
    `accessToken`. Parameters after a `?` are passed to the driver.

    Raises:
        EngineError: If the text is not a valid DSN, or the file of trusted certificates cannot be
            read. The error message does not quote the DSN.
    """
    try:
        url = urlsplit(dsn)
        port, host = url.port, url.hostname
    except ValueError:
        raise EngineError(_unread()) from None
    parts = [part for part in url.path.split("/") if part]
    if url.scheme != SCHEME or not host or len(parts) != 2:  # noqa: PLR2004 - catalog and schema
        raise EngineError(_unread())
    parameters = dict(parse_qsl(url.query))
    _check_trusted(parameters.get(TRUSTED))
    password = password_for(unquote(url.password or "") or None, PASSWORD_VARIABLE)
    token = parameters.pop(TOKEN, None)
    is_tls = password is not None or token is not None or parameters.get(TLS) == "true"
    port = port or (PORT_TLS if is_tls else PORT)
    user = unquote(url.username or USER)
    shown = f"[{host}]" if ":" in host else host
    properties = {"user": user, "password": password, TOKEN: token}
    return {
        "url": url_of(shown, port, url.path, parameters | ({TLS: "true"} if is_tls else {})),
        "properties": {name: value for name, value in properties.items() if value},
        "trusted": parameters.get(TRUSTED),
        "rest": f"{'https' if is_tls else 'http'}://{shown}:{port}",
        "catalog": unquote(parts[0]),
        "schema": unquote(parts[1]),
        "session": parameters.get(SESSION, ""),
    }


def _unread() -> str:
    return (
        "the DSN cannot be read: write trino://USER@HOST:PORT/CATALOG/SCHEMA, and a password in"
        f" {PASSWORD_VARIABLE} or in the DSN"
    )


def _check_trusted(file: str | None) -> None:
    """Raise `EngineError` if the file of trusted certificates cannot be read."""
    if file is None:
        return
    if not Path(file).is_file():
        raise EngineError(f"{TRUSTED}={file} names no file: name a file of certificates.")
    try:
        _tls(file)
    except ssl.SSLError:
        raise EngineError(
            f"{TRUSTED}={file} contains no certificates in the format PEM. Of a file in Java's "
            "own format, `keytool -exportcert -rfc -keystore FILE -alias NAME` prints one in PEM."
        ) from None
    except OSError as error:
        raise EngineError(
            f"{TRUSTED}={file} cannot be read: {error.strerror}. Name a file of certificates in "
            "the format PEM."
        ) from error


def with_session(dsn: str, settings: Mapping[str, str]) -> str:
    """Return a Trino DSN with additional session properties.

    Raises:
        EngineError: If the DSN cannot be read, or a value has a character that the driver uses as
            separator.
    """
    read_dsn(dsn)
    for name, value in settings.items():
        if re.search(r"[;:\s]", name) or re.search(r"[;\s]", value):
            raise EngineError(f"{name}={value}: a session property cannot contain a blank or ';'")
    url = urlsplit(dsn)
    parameters = dict(parse_qsl(url.query))
    pairs = [pair for pair in parameters.get(SESSION, "").split(";") if pair]
    pairs = [pair for pair in pairs if pair.split(":", 1)[0] not in settings]
    pairs += [f"{name}:{value}" for name, value in settings.items()]
    return url._replace(query=urlencode(parameters | {SESSION: ";".join(pairs)})).geturl()


class Rest:
    """A client of one Trino node's HTTP interface.

    Args:
        base: URL of the node, such as `http://127.0.0.1:8080`.
        user: Name of the user.
        password, token: Password of the user, or a token; None without one.
        trusted: File of certificates that are trusted, too; None without one.

    Attributes:
        headers: Headers of each request.
    """

    def __init__(
        self,
        base: str,
        user: str,
        password: str | None,
        *,
        token: str | None = None,
        trusted: str | None = None,
    ) -> None:
        url = urlsplit(base)
        tls = _tls(trusted) if url.scheme == "https" else None
        self._line = HttpLine(url.hostname or HOST, url.port, PATIENCE_S, tls=tls)
        self.headers = {"X-Trino-User": user, "Accept": "application/json", **bearer(token)}
        if password is not None:
            pair = base64.b64encode(f"{user}:{password}".encode()).decode()
            self.headers["Authorization"] = f"Basic {pair}"

    @classmethod
    def of(cls, address: Address, base: str | None = None) -> Rest:
        """Return a client of a Trino node.

        Passwords and tokens are sent over TLS, or to a private cluster, which is on loopback.
        """
        properties, place = address["properties"], base or address["rest"]
        user, password, token = (properties.get(name) for name in ("user", "password", TOKEN))
        if place.startswith("https:"):
            return cls(place, user, password, token=token, trusted=address.get("trusted"))
        if "pids" not in address:
            return cls(place, user, None)
        client = cls(place, user, None, token=token)
        client.headers |= FORWARDED
        return client

    def get(self, path: str) -> Any:  # noqa: ANN401 - whatever the node tells
        """Return the Trino node's answer to a GET request, parsed from JSON.

        Raises:
            OSError: If the node does not answer, or answers with an error.
        """
        return self.ask("GET", path)

    def get_all(self, paths: Sequence[str]) -> list[Any]:
        """Return the answers to several GET requests, sent together.

        Raises:
            OSError: If a request has no answer, or its answer is not JSON with a Content-Length.
        """
        try:
            header_lines = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
            host = f"[{self._line.host}]" if ":" in self._line.host else self._line.host
            place = f"{host}:{self._line.port}"
            asked = [
                f"GET {path} HTTP/1.1\r\nHost: {place}\r\n{header_lines}\r\n" for path in paths
            ]
            # The buffered file is empty after the last answer.
            with self._line.send("".join(asked).encode()) as answers:
                return [_answer(answers, path) for path in paths]
        except (ValueError, RecursionError, OSError) as error:
            self._line.close()
            raise OSError(f"{self._line.host} does not tell its counters: {error}") from error

    def ask(
        self,
        method: str,
        path: str,
        body: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever the node tells
        """Return the Trino node's answer to any request, parsed from JSON.

        Raises `OSError`.
        """
        try:
            sent = None if body is None else body.encode()
            answer = self._line.ask(method, path, sent, self.headers | dict(headers or {}))
        except OSError as error:
            raise OSError(f"{self._line.host} does not answer: {error!r}") from error
        if answer.status >= http.client.BAD_REQUEST:
            raise OSError(f"{self._line.host} answers {path} with {answer.status} {answer.reason}")
        try:
            return json.loads(answer.body) if answer.body else None
        except (ValueError, RecursionError) as error:
            raise OSError(f"{self._line.host} answers {path} with what is no JSON") from error

    def close(self) -> None:
        """Close the connection to Trino."""
        self._line.close()


def _answer(answers: BinaryIO, path: str) -> Any:  # noqa: ANN401 - whatever the node tells
    """Return the next answer of several requests.

    Raises `ValueError` if the answer is not JSON with a known length.
    """
    status = answers.readline().split(None, 2)
    length = None
    while line := answers.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    if length is not None and not 0 <= length <= ANSWER_BYTES_MAX:
        raise ValueError(f"the answer to {path} has {length} bytes")
    if len(status) < 2 or status[1] != b"200" or length is None:  # noqa: PLR2004 - version and status
        raise ValueError(f"the request for {path} failed with HTTP status {status!r}")
    return json.loads(answers.read(length))


def _tls(trusted: str | None) -> ssl.SSLContext:
    """Return how to encrypt: with the host's trusted certificates and those of a file."""
    context = ssl.create_default_context()
    if trusted is not None:
        context.load_verify_locations(trusted)
    return context


def bean(name: str, attribute: str) -> str:
    """Return the HTTP path of one JMX counter of a Trino node."""
    return f"/v1/jmx/mbean/{quote(name, safe='')}/{quote(attribute, safe='')}"
