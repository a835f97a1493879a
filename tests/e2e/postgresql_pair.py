"""A PostgreSQL primary and a standby that replicates from it, both on this host's loopback."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from assay.engines.contract import Place, Product, Wanted, tell_nobody
from assay.engines.discovery import find_engine
from assay.engines.postgresql.engine import PostgresEngine
from assay.engines.postgresql.programs import find_programs
from assay.record.writer import new_run_id
from assay.running.processes.launcher import Guardian
from assay.running.server.serving import ServerLauncher
from tests.e2e.conftest import POSTGRESQL, wait_until

HOST, DATABASE = "127.0.0.1", "postgres"
PROMOTION_MAX_S = 60.0
SETTINGS = {
    "fsync": "off",
    "max_connections": "40",
    "max_wal_senders": "4",
    "shared_buffers": "32MB",
    "wal_level": "replica",
}
TABLE = "create table items as select n as id, n * 2 as twice from generate_series(1, 1000) as n"
REPLICAS = "select count(*) from pg_stat_replication where state = 'streaming'"


@dataclass(frozen=True)
class Node:
    """One server: its process, its port, and how its superuser connects."""

    pid: int
    port: int
    password: str
    administration: str

    @property
    def address(self) -> str:
        """The server as records name it."""
        return f"{HOST}:{self.port}"

    def ask(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a statement, as the superuser."""
        with psycopg.connect(self.administration, autocommit=True) as connection:
            cursor = connection.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []

    def sessions(self, application: str) -> int:
        """The number of connections whose client gave this name."""
        count = "select count(*) from pg_stat_activity where application_name = %s"
        return int(self.ask(count, application)[0][0])


@dataclass(frozen=True)
class Pair:
    """A primary and its standby, which have the same data and the same password.

    `promote` makes the standby a primary, as an administrator would.
    """

    primary: Node
    standby: Node
    promote: Callable[[], None]

    def dsn(self, *nodes: Node, **keywords: Any) -> str:
        """Keywords for a list of servers over TCP, in the given order."""
        listed = {
            "host": ",".join(HOST for _ in nodes),
            "port": ",".join(str(node.port) for node in nodes),
            "user": "assay",
            "password": self.primary.password,
            "dbname": DATABASE,
        }
        return make_conninfo("", **(listed | keywords))


@contextmanager
def pair_of_servers(cache: Path, folder: Path) -> Iterator[Pair]:
    """Start a primary with a table, and a standby that is a copy of it and streams its log."""
    engine = find_engine("postgresql").engine()
    assert isinstance(engine, PostgresEngine)
    wanted = Wanted(cache / "assay" / "engines", POSTGRESQL.partition("@")[2])
    product = engine.obtain(wanted, tell_nobody)
    with ExitStack() as stack:
        first, second = (_Machine(engine, product, folder, name, stack) for name in ("a", "b"))
        primary = first.start({})
        primary.ask(TABLE)
        first.launcher.stop()
        shutil.copytree(first.data, second.data, dirs_exist_ok=True)
        primary = first.start({})
        with (first.launcher.scratch / "hba.conf").open("a") as hba:
            hba.write("local replication all trust\n")
        primary.ask("select pg_reload_conf()")
        (second.data / "cluster" / "standby.signal").touch()
        source = make_conninfo(primary.administration, dbname="replication")
        standby = second.start({"primary_conninfo": source})
        wait_until(lambda: primary.ask(REPLICAS) == [(1,)], "the standby does not stream")
        yield Pair(primary, standby, second.promote)


class _Machine:
    """The place of one server, which can be started several times."""

    def __init__(
        self, engine: PostgresEngine, product: Product, folder: Path, name: str, stack: ExitStack
    ) -> None:
        run_id = new_run_id(f"pair-{name}", "postgresql")
        guardian = stack.enter_context(Guardian(run_id, folder / f"instances-{name}"))
        self._engine, self._product = engine, product
        self.launcher = ServerLauncher(guardian, folder / f"server-{name}.log")
        stack.callback(self.launcher.stop)
        self.data = guardian.directory / "data"
        self.data.mkdir(mode=0o700)
        self.launcher.own(self.data)

    def promote(self) -> None:
        """Promote the server, and wait until it takes writes."""
        programs = find_programs(self._product.home or Path())
        command = [str(programs.bin_dir / "pg_ctl"), "promote", "-D", str(self.data / "cluster")]
        self.launcher.run([*command, "-w"], programs.environment, PROMOTION_MAX_S)

    def start(self, settings: dict[str, str]) -> Node:
        place = Place(self.data, self.launcher.scratch)
        address = self._engine.start(self._product, place, SETTINGS | settings, self.launcher)
        over_tcp = conninfo_to_dict(address["dsn_tcp"])
        port, password = int(over_tcp["port"]), str(over_tcp["password"])
        return Node(address["pid"], port, password, address["dsn"])
