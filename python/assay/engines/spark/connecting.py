"""Connects to Spark over JDBC, and fills names and texts into SQL files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from assay.engines.bridge.addresses import PASSWORD_VARIABLE, USER_VARIABLE
from assay.engines.bridge.addresses import read_dsn as read_url
from assay.engines.bridge.statements import execute
from assay.engines.contract import EngineError
from assay.engines.sql_text import with_fields

if TYPE_CHECKING:
    from assay.engines.bridge.link import Link
    from assay.engines.contract import Address

CONF = Path(__file__).parent / "conf"
DATABASE = "default"
PORT_HIVE2 = 10000
_SETTING = re.compile(r"[\w.-]+")
# Default port of a driver's web interface.
PORT_UI = 4040
UI = "ui"
# Key of an address with the token for the web pages of a private cluster.
TOKEN = "pages_token"  # noqa: S105 - where it is, not what it is
FORM = (
    "write it as hive2://HOST:PORT/DATABASE for a running Thrift server; behind a question mark"
    f" {UI}=HOST:{PORT_UI} for its driver's pages, which tell of its nodes, and settings of its"
    f" sessions; user and password in {USER_VARIABLE} and {PASSWORD_VARIABLE}"
)


def url_of(host: str, port: int, database: str = DATABASE) -> str:
    """Return the JDBC URL of a Thrift server."""
    return f"jdbc:hive2://{host}:{port}/{database}"


def read_dsn(dsn: str) -> Address:
    """Return the Spark address in `hive2://HOST:PORT/DATABASE?ui=HOST:PORT&SETTING=VALUE`.

    Raises:
        EngineError: If the text is not a valid DSN. The error message does not quote it.
    """
    try:
        url = urlsplit(dsn)
        port = url.port or PORT_HIVE2
    except ValueError as error:
        raise EngineError(f"the DSN cannot be read: {FORM}.") from error
    if url.scheme == "spark":
        raise EngineError(_of_a_master(url.netloc))
    database = url.path.strip("/") or DATABASE
    if url.scheme != "hive2" or not url.hostname or url.username or ";" in database:
        raise EngineError(f"the DSN cannot be read: {FORM}.")
    settings = dict(parse_qsl(url.query, keep_blank_values=True))
    pages = {UI: _place(settings.pop(UI))} if UI in settings else {}
    setup = [set_statement(*setting) for setting in settings.items()]
    address = read_url(url_of(url.hostname, port, database))
    return {**address, **pages, "setup": setup, "ours": False}


def _place(place: str) -> list[str | int]:
    """Return host and port of a driver's web interface.

    Raises `EngineError`.
    """
    host, port = place.rsplit(":", 1) if ":" in place else (place, str(PORT_UI))
    if not host or "/" in place or not port.isdecimal():
        raise EngineError(
            f"{UI}={place}: write the host and the port of the driver's web interface, such as "
            f"{UI}=spark.example:{PORT_UI}"
        )
    return [host, int(port)]


def _of_a_master(place: str) -> str:
    """Return advice if the address is a standalone master's, which answers no queries."""
    return (
        "a standalone master gives out workers and answers no query: a Thrift server on its cluster"
        " does. Start one with the cluster's own Spark:\n"
        f"  sbin/start-thriftserver.sh --master spark://{place}\n"
        "tell it of the tables (it has those of its metastore), and name it:\n"
        f"  --dsn 'hive2://HOST:{PORT_HIVE2}/{DATABASE}?{UI}=HOST:{PORT_UI}'\n"
        "where HOST is where it was started. Or leave --dsn out: Assay starts a cluster of its own"
        " on this host."
    )


def set_statement(name: str, value: str) -> str:
    """Return the statement that changes a setting. Raises `EngineError` for unsafe values."""
    if not _SETTING.fullmatch(name) or ";" in value or "\n" in value:
        raise EngineError(
            f"{name}={value}: a name or a value of a setting cannot contain a semicolon."
        )
    return filled("set.sql", name=name, value=value)


def file_text(name: str) -> str:
    """Return the SQL of a file in Spark's `conf/`."""
    return (CONF / name).read_text(encoding="utf-8").strip()


def filled(file: str, /, **parts: str) -> str:
    """Return the SQL text of a file in Spark's `conf/` folder, with fields filled in unquoted."""
    return with_fields(file_text(file), parts)


def name_of(name: str) -> str:
    """Return a name quoted for Spark's SQL."""
    return "`" + name.replace("`", "``") + "`"


def text_of(text: str) -> str:
    """Return text quoted for Spark's SQL."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def run(link: Link, statement: str) -> None:
    """Execute a statement on Spark.

    Raises `EngineError` with the statement.
    """
    execute(link, statement, "Spark")
