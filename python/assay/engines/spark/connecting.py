"""How Spark is asked over JDBC, and SQL of files with names and texts in it."""

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
FORM = (
    "write it as hive2://HOST:PORT/DATABASE for a running Thrift server, settings of its sessions"
    f" behind a question mark, and user and password in {USER_VARIABLE} and {PASSWORD_VARIABLE}"
)


def url_of(host: str, port: int, database: str = DATABASE) -> str:
    """The JDBC URL of a Thrift server."""
    return f"jdbc:hive2://{host}:{port}/{database}"


def read_dsn(dsn: str) -> Address:
    """The address that `hive2://HOST:PORT/DATABASE?SETTING=VALUE` names.

    Raises:
        EngineError: If it is none; it is not quoted.
    """
    try:
        told = urlsplit(dsn)
        port = told.port or PORT_HIVE2
    except ValueError as error:
        raise EngineError(f"the DSN cannot be read: {FORM}.") from error
    if told.scheme == "spark":
        raise EngineError(
            "a master that runs already is asked through a Thrift server on its cluster: start one"
            f" (sbin/start-thriftserver.sh --master spark://...), and {FORM}."
        )
    database = told.path.strip("/") or DATABASE
    if told.scheme != "hive2" or not told.hostname or told.username or ";" in database:
        raise EngineError(f"the DSN cannot be read: {FORM}.")
    settings = parse_qsl(told.query, keep_blank_values=True)
    address = read_url(url_of(told.hostname, port, database))
    return {**address, "setup": [set_statement(*one) for one in settings], "ours": False}


def set_statement(name: str, value: str) -> str:
    """What gives a session a setting. Raises `EngineError` for what would be another statement."""
    if not _SETTING.fullmatch(name) or ";" in value or "\n" in value:
        raise EngineError(f"{name}={value}: a setting is a name and a value without semicolons.")
    return filled("set.sql", name=name, value=value)


def file_text(name: str) -> str:
    """The SQL of a file in `conf/`."""
    return (CONF / name).read_text(encoding="utf-8").strip()


def filled(file: str, /, **parts: str) -> str:
    """The SQL of a file in `conf/` with its fields filled as they are."""
    return with_fields(file_text(file), parts)


def name_of(name: str) -> str:
    """A name, quoted."""
    return "`" + name.replace("`", "``") + "`"


def text_of(text: str) -> str:
    """A text, quoted."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def run(link: Link, statement: str) -> None:
    """Executes a statement. Raises `EngineError` with it."""
    execute(link, statement, "Spark")
