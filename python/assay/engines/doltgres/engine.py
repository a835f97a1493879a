"""The engine Doltgres: how it is obtained, started and queried."""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from assay import _core
from assay.engines.contract import EngineError, Instance
from assay.engines.doltgres import loading
from assay.engines.doltgres.server import TITLE, environment, start_server
from assay.engines.obtaining import obtain
from assay.engines.own_tables import OwnTables
from assay.engines.postgres_family.connecting import connect
from assay.engines.programs import MEND, run_program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Address, Launcher, Place, Product, Tell, Wanted
    from assay.engines.facts import EngineFacts
    from assay.engines.loading import ArrowStream
    from assay.model.script import Script

# Paths of the program below a product's home: at the top, or in a build's `bin`.
PLACES = ("doltgres", "bin/doltgres")
ADMINISTRATION = "assay administration"
_VERSION = re.compile(r"^Doltgres version (\d[\w.-]*)", re.MULTILINE)


class DoltgresEngine(OwnTables):
    """The engine DoltgreSQL; implements `Server`, `BulkLoads`, `HasKeys`, `Prepares`.

    An instance's `handle` is a connection that belongs to one thread. The address of an instance
    has `dsn`, `pid` and `data`.
    """

    no_tables = (
        f"{TITLE} is started by Assay, and not asked where it runs already: it keeps no comment of"
        " a namespace that would tell ours from others'. Leave --dsn out."
    )

    def __init__(self, facts: EngineFacts) -> None:
        self._facts = facts

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """Return the installed product with the version that its program reports."""
        product = obtain(self._facts, wanted, tell)
        return replace(product, version=_version(_program(product)))

    def check_settings(self, product: Product, settings: Mapping[str, str]) -> None:
        """Raise an error for any setting: the server accepts PostgreSQL's names but ignores all."""
        del product
        if settings:
            raise EngineError(
                f"{next(iter(settings))}: {TITLE} accepts PostgreSQL's settings but ignores "
                "their values: remove --set."
            )

    def start(
        self, product: Product, place: Place, settings: Mapping[str, str], launcher: Launcher
    ) -> Address:
        """Start a private Doltgres server, on new data if its directory is empty."""
        self.check_settings(product, settings)
        return start_server(_program(product), place, launcher)

    def address(self, dsn: str) -> Address:
        """Raise `EngineError`: Assay cannot use a running Doltgres server."""
        self._refuse(dsn)

    def attach(self, address: Address) -> Instance:
        """Connect to the Doltgres server.

        Raises `EngineError` with the server's message.
        """
        return Instance({}, connect(address["dsn"], ADMINISTRATION, TITLE), address=dict(address))

    def detach(self, instance: Instance) -> None:
        """Close the connection to the Doltgres server."""
        instance.handle.close()

    def version(self, instance: Instance) -> str:
        """Return the server's version, such as `1.2.0`."""
        row = loading.execute(instance, loading.file_text("version.sql")).fetchone()
        return str(cast("tuple[str]", row)[0])

    def effective_settings(self, instance: Instance) -> dict[str, str]:
        """Return the settings in force that affect measurements."""
        rows = loading.execute(instance, loading.file_text("effective_settings.sql")).fetchall()
        return {str(name): str(value) for name, value in rows}

    def processes(self, instance: Instance) -> tuple[int, ...]:
        """Return the server's pid: its connections are goroutines of one process."""
        return (instance.address["pid"],)

    def run_script(self, instance: Instance, sql: str) -> None:
        """Run a script's statements on Doltgres one by one, each in its own transaction."""
        loading.run_script(instance, sql)

    def prepare(self, instance: Instance, sql: str) -> None:
        """Run SQL statements on Doltgres one by one."""
        loading.run_script(instance, sql)

    def settle(self, instance: Instance) -> None:
        """Raise an error if statements before a run left a Doltgres transaction open."""
        loading.refuse_open_transaction(instance)

    def load(self, instance: Instance, table: str, rows: ArrowStream, streams: int) -> None:
        """Copy rows as text over one connection."""
        del streams
        loading.load(instance, table, rows)

    def count(self, instance: Instance, table: str) -> int:
        """Return the number of rows of a table, counted by Doltgres."""
        return loading.count(instance, table)

    def make_keys(self, instance: Instance, sql: str, streams: int, tell: Tell) -> None:
        """Create the keys and indexes of Doltgres tables one after another."""
        del streams
        loading.make_keys(instance, sql, tell)

    def finish_load(self, instance: Instance) -> None:
        """Gather statistics, commit the data to the history, and collect garbage."""
        loading.finish(instance)

    def sessions(self, instance: Instance, script: Script, seed: int, clients: int) -> list[object]:
        """Return one Doltgres session per client."""
        return self.share_of_sessions(instance, script, seed, range(clients))

    def share_of_sessions(
        self, instance: Instance, script: Script, seed: int, numbers: range
    ) -> list[object]:
        """Return the Doltgres sessions with the given numbers out of all clients' sessions."""
        dsn, facts = instance.address["dsn"], json.dumps(script.facts())
        return [_core.PostgresSession(dsn, facts, seed, number) for number in numbers]


def _program(product: Product) -> Path:
    if product.home is None:
        raise EngineError(f"{TITLE} is not installed: install it with `assay engines install`.")
    for place in PLACES:
        if (product.home / place).is_file():
            return product.home / place
    raise EngineError(
        f"{product.home} has no program `doltgres`: name its directory with --bin-dir."
    )


def _version(program: Path) -> str:
    with tempfile.TemporaryDirectory(prefix="assay-") as directory:
        home = Path(directory)
        completed = run_program([str(program), "-version"], environment(home, ""), program, home)
    match = _VERSION.search(completed.stdout)
    if match is None:
        said = (completed.stderr or completed.stdout).strip()
        raise EngineError(f"{program} does not run on this host, or is not {TITLE}: {said}. {MEND}")
    return match[1]


def engine(facts: EngineFacts) -> DoltgresEngine:
    """Return the engine `doltgres`, with the facts of its `engine.toml`."""
    return DoltgresEngine(facts)
