"""A database of a run from outside: its processes, its files, and sessions of others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.engines.mysql_family.configuration import read_configuration
from assay.engines.mysql_family.connecting import opened
from assay.engines.mysql_family.programs import CONFIGURATION_FILE
from assay.engines.mysql_family.server import DATABASE as MYSQL_DATABASE
from assay.engines.postgresql.server import DATABASE, HOST, PASSWORD_FILE, USER
from assay.engines.sqlite.database import DATABASE_FILE

PID_FILE = "postmaster.pid"
# Lines of that file.
PID, PORT, STATE = 0, 3, 7
# Which a cell's sessions use on servers whose own password nobody can read; they are made by
# `prepare`, live as long as the run's copy of the data and are reached over a socket alone.
OUTSIDER_PASSWORD = "planted"  # noqa: S105
BUSY_MS = 10_000

# Executes one statement; gives rows away.
Execute = Callable[[str], None]


@dataclass(frozen=True)
class Reached:
    """A private database.

    Attributes:
        directory: Of its instance.
        pid: Its root process.
    """

    directory: Path
    pid: int

    @property
    def processes(self) -> list[int]:
        """Its processes, the root first."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        return [self.pid, *map(int, children.read_text(encoding="ascii").split())]

    @property
    def data(self) -> Path:
        """Where its files lie."""
        return self.directory / "data"

    @contextmanager
    def session(self, name: str) -> Iterator[Execute]:
        """A session of somebody else, under a name that the server shows."""
        cluster = self.data / "cluster"
        if cluster.is_dir():
            session = _postgresql(cluster, name)
        elif (self.data / DATABASE_FILE).is_file():
            session = _sqlite(self.data / DATABASE_FILE)
        else:
            session = _mysql(next(self.directory.rglob(CONFIGURATION_FILE)), name)
        with session as execute:
            yield execute


@contextmanager
def _postgresql(cluster: Path, name: str) -> Iterator[Execute]:
    import psycopg

    lines = (cluster / PID_FILE).read_text(encoding="utf-8").splitlines()
    password = (cluster.parent / PASSWORD_FILE).read_text(encoding="utf-8")
    where: dict[str, Any] = {"host": HOST, "port": lines[PORT], "dbname": DATABASE}
    connection = psycopg.connect(
        **where, user=USER, password=password, application_name=name, autocommit=True
    )
    with closing(connection):
        yield lambda text: _fetch(connection.execute(text.encode()))


@contextmanager
def _mysql(configuration: Path, name: str) -> Iterator[Execute]:
    settings = {key: text.strip('"') for key, text in read_configuration(configuration).items()}
    socket = settings["socket"]
    address = {
        "host": settings["bind_address"],
        "port": int(settings["port"]),
        "unix_socket": socket if socket.startswith("/") else None,
        "user": name,
        "password": OUTSIDER_PASSWORD,
        "database": MYSQL_DATABASE,
    }
    with (
        closing(opened(address, program_name=name)) as connection,
        closing(connection.cursor()) as cursor,
    ):

        def execute(text: str) -> None:
            cursor.execute(text)
            cursor.fetchall()

        yield execute


@contextmanager
def _sqlite(file: Path) -> Iterator[Execute]:
    import apsw

    with closing(apsw.Connection(str(file))) as connection:
        connection.set_busy_timeout(BUSY_MS)

        def execute(text: str) -> None:
            for _ in connection.execute(text):
                pass

        yield execute


def _fetch(cursor: Any) -> None:
    if cursor.description:
        cursor.fetchall()


def reached(instances: Path) -> Reached:
    """The one instance below a directory.

    Raises:
        LookupError: If there is none, or none of its processes is known.
    """
    for owner in instances.glob("*/owner.json"):
        if pids := _served(owner.parent):
            return Reached(owner.parent, pids[0])
    raise LookupError(f"no instance runs in {instances}")


def _served(directory: Path) -> list[int]:
    """Processes of an instance: the server that it started, or else the one that embeds it."""
    lines = directory / "data" / "cluster" / PID_FILE
    if lines.is_file():
        return [int(lines.read_text(encoding="utf-8").splitlines()[PID])]
    children = json.loads((directory / "children.json").read_text(encoding="utf-8"))
    return _numbers(children)


def _numbers(value: Any) -> list[int]:
    """Process ids in the guardian's list, in the order in which processes were started."""
    if isinstance(value, dict):
        if "pid" in value:
            return [int(value["pid"])]
        return [pid for part in value.values() for pid in _numbers(part)]
    return [pid for part in value for pid in _numbers(part)] if isinstance(value, list) else []
