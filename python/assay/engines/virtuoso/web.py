"""Closes the web server of a private Virtuoso server to requests without a password.

Virtuoso's web server has many pages, most of them without a password, and serves the files of its
directory. In a closed database, the list of allowed requests has the SPARQL page only, and this
page needs the password.
"""

from __future__ import annotations

import http.client
import secrets
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.network.http_line import HttpLine
from assay.engines.server_files import read_server_file, write_server_file
from assay.engines.sparql_family.addresses import basic_authorization
from assay.engines.virtuoso.connecting import HOST, PAGE, file_text, run

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engines.bridge.link import Link

USER = "assay"
# File beside the data, which exists if the database is closed.
PASSWORD_FILE = "web-password"  # noqa: S105 - where it is, not what it is
REFUSED = (http.client.UNAUTHORIZED, http.client.FORBIDDEN)
# Requests that an open web server answers: a query, and the page of a directory.
STRANGERS = (f"{PAGE}?query=ask%7B%7D", f"{PAGE}-graph-crud", "/")
PATIENCE_S = 60.0


def authorization(link: Link, data: Path, port: int) -> str:
    """Return the header field that the web server of a database requires.

    A database that is still open is closed first, and gets a password.

    Raises:
        EngineError: If somebody else sent a request before the database was closed, or if the web
            server still answers requests without a password.
    """
    file = data / PASSWORD_FILE
    if file.is_file():
        password = read_server_file(file, data.parent)
    else:
        password = secrets.token_hex(16)
        _close(link, basic_authorization(USER, password))
        write_server_file(file, password)
    check_closed(port)
    return basic_authorization(USER, password)


def _close(link: Link, accepted: str) -> None:
    link.run(file_text("web/authorization.sql"), (accepted,))
    for name in ("allowed", "remove", "define", "allow", "refuse"):
        run(link, file_text(f"web/{name}.sql"))
    ((requests,),) = link.text(file_text("web/requests.sql"))
    if requests != "0":
        raise EngineError(
            f"another program used Virtuoso's new web server ({requests} requests) before it had a "
            "password: end that program, and try again."
        )
    run(link, file_text("checkpoint.sql"))


def check_closed(port: int) -> None:
    """Check that the web server refuses requests without a password.

    Raises `EngineError` if it answers one.
    """
    line = HttpLine(HOST, port, PATIENCE_S)
    try:
        for target in STRANGERS:
            # The server ends a connection with a refusal.
            line.close()
            status = line.ask("GET", target, None, {}).status
            if status not in REFUSED:
                page = target.partition("?")[0]
                raise EngineError(
                    f"Virtuoso answers {page} without a password (HTTP {status}): use the version "
                    "of Virtuoso that Assay installs."
                )
    except OSError as error:
        raise EngineError(
            f"Virtuoso's web server does not answer on port {port}: {error}. Try again while the "
            "host is less busy."
        ) from error
    finally:
        line.close()
