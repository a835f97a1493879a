"""Base class of private MySQL and MariaDB servers with a configuration file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from assay.engines.contract import EngineError
from assay.engines.mysql_family import capturing, loading, logs, preflight
from assay.engines.mysql_family.configuration import canonical, read_configuration
from assay.engines.mysql_family.constants import MysqlConstants
from assay.engines.mysql_family.engine import FamilyEngine
from assay.engines.mysql_family.server import buffer_pool, refuse_ours, serve
from assay.engines.mysql_family.watching import FamilyWatcher, WatchedPlans
from assay.engines.obtaining import obtain

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from assay.engines.checking import KnownTable, Trial, Tried
    from assay.engines.contract import (
        Address,
        Cached,
        CounterReader,
        Instance,
        Launcher,
        Place,
        Product,
        Tell,
        Wanted,
    )
    from assay.engines.mysql_family.explaining import CataloguePlans
    from assay.engines.mysql_family.programs import Program
    from assay.model.captured import Counted, ReadLog
    from assay.model.declared import DeclaredColumns

MAX_CONNECTIONS = "max_connections"


def default_settings(conf: Path) -> dict[str, str]:
    """Return the settings of an engine's `run.cnf`, and sizes computed from the host's memory."""
    return read_configuration(conf / "run.cnf") | buffer_pool()


class ConfiguredEngine(FamilyEngine):
    """A private MySQL or MariaDB server, started with a configuration file.

    Attributes:
        directory: Name of the server's directory below `place.data`.
        read_only_setting: Session setting that makes each transaction read only.
        guest_limits: Settings that keep sessions from waiting for other sessions.
    """

    directory: str
    read_only_setting: str
    guest_limits: ClassVar[Mapping[str, str]]

    @property
    def reads_only_by(self) -> str:
        """Return the read-only setting with its value."""
        return f"{self.read_only_setting}=1"

    def read_only(self, address: Address) -> Address:
        """Return the address with read-only sessions."""
        settings = {**address.get("settings", {}), self.read_only_setting: "1"}
        return {**address, "settings": settings}

    def try_statements(
        self, instance: Instance, operations: Sequence[Sequence[Trial]]
    ) -> list[list[Tried]]:
        """Prepare statements with PREPARE, and EXPLAIN them for the cost."""
        return preflight.try_statements(instance, operations, self.conf)

    def known_tables(self, instance: Instance) -> list[KnownTable]:
        """Return the tables of all databases that the account may see."""
        return preflight.known_tables(instance)

    def declared_tables(
        self, instance: Instance, names: Collection[str]
    ) -> dict[str, DeclaredColumns]:
        """Return the tables and views of the session's database."""
        return preflight.declared_tables(instance, names)

    def find_program(self, home: Path) -> Program:
        """Return the server's program below a product's home.

        Raises `EngineError`.
        """
        raise NotImplementedError

    def make_data(self, program: Program, data: Path, launcher: Launcher) -> None:
        """Make a data directory with the server's system tables."""
        raise NotImplementedError

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """Return the installed product with the version that its program reports."""
        product = obtain(self._facts, wanted, tell)
        return replace(product, version=self._program(product).version())

    def check_settings(self, product: Product, settings: Mapping[str, str]) -> None:
        """Have the server's program check the settings without starting a server."""
        refuse_ours(settings)
        self._program(product).check({**self._facts.settings, **settings})

    def connections_limit(self, settings: Mapping[str, str]) -> tuple[str, str]:
        """Return `max_connections` with its value of `--set` or of `run.cnf`."""
        given = {canonical(name): value for name, value in settings.items()}
        return MAX_CONNECTIONS, (read_configuration(self.conf / "run.cnf") | given)[MAX_CONNECTIONS]

    def read_logs(self, files: Sequence[Path]) -> ReadLog | None:
        """Read the slow log and the general log."""
        return logs.read_logs(files)

    def count_statements(self, dsn: str, seconds: float, sleep: Callable[[float], None]) -> Counted:
        """Count statements by their digests in Performance Schema, with samples of sessions."""
        return capturing.count_statements(self.address(dsn), seconds, sleep)

    def constants(self) -> MysqlConstants:
        """Return the syntax of constants in the engine's statements."""
        return MysqlConstants()

    def load_settings(self) -> Mapping[str, str]:
        """Return the settings for loading, from `conf/load.cnf`."""
        return read_configuration(self.conf / "load.cnf")

    def start(
        self, product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
    ) -> Address:
        """Start a private MySQL server, on new data if its directory is empty."""
        refuse_ours(settings)
        program, data = self._program(product), place.data / self.directory
        if not any(place.data.iterdir()):
            self.make_data(program, data, launcher)
        launcher.own(place.data)
        asked = {**self._facts.settings, **settings}
        given = {canonical(name): value for name, value in asked.items()}
        all_settings = default_settings(self.conf) | given
        return serve(program, data, all_settings, self.conf / "users.sql", launcher)

    def guest(self, dsn: str) -> Address:
        """Return the address of a running server with sessions that cannot write."""
        settings = {self.read_only_setting: "ON", **self.guest_limits}
        return self.address(self.with_settings(dsn, settings))

    def watcher(self, instance: Instance) -> FamilyWatcher:
        """Return a watcher of the statements of MySQL sessions, with its own connection."""
        return FamilyWatcher(instance.address, self.conf)

    def counters_beside(self, instance: Instance) -> CounterReader:
        """Return a reader of MySQL's counters, with its own connection to the server."""
        return self.counters(instance)

    def watched_plans(self, instance: Instance) -> WatchedPlans:
        """Return a plan reader that executes nothing, with its own connection."""
        return WatchedPlans(self.plan_reader(instance))

    def plan_reader(self, instance: Instance) -> CataloguePlans:
        """Return a reader of MySQL plans, with its own connection to the engine."""
        raise NotImplementedError

    def cached(self, instance: Instance) -> list[Cached]:
        """Return the pages in InnoDB's buffer pool by table and index."""
        return loading.cached(instance)

    def _program(self, product: Product) -> Program:
        if product.home is None:
            raise EngineError(
                f"{self._facts.title} is not installed: install it with `assay engines install`."
            )
        return self.find_program(product.home)
