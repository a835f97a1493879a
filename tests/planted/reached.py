"""A server of ours from outside: where it listens, its processes, its files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from psycopg.conninfo import make_conninfo

from assay.engines.postgresql.server import DATABASE, HOST, PASSWORD_FILE, USER

PID_FILE = "postmaster.pid"
# Lines of that file.
PID, PORT, STATE = 0, 3, 7


@dataclass(frozen=True)
class Reached:
    """A private PostgreSQL server that answers.

    Attributes:
        pid: Its root process.
        dsn: Over loopback, as the user that owns everything.
        cluster: Its data directory.
    """

    pid: int
    dsn: str = field(repr=False)
    cluster: Path

    @property
    def processes(self) -> list[int]:
        """All its processes, the root first."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        return [self.pid, *map(int, children.read_text(encoding="ascii").split())]


def reached(cluster: Path) -> Reached | None:
    """The server on a data directory; None until it answers."""
    try:
        lines = (cluster / PID_FILE).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    if len(lines) <= STATE or lines[STATE].strip() != "ready":
        return None
    password = (cluster.parent / PASSWORD_FILE).read_text(encoding="utf-8")
    where = {"host": HOST, "port": lines[PORT], "dbname": DATABASE}
    dsn = make_conninfo("", **where, user=USER, password=password)
    return Reached(int(lines[PID]), dsn, cluster)
