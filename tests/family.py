"""A private server of MySQL's kin, started for a test as a run starts one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.engines.contract import Address, Instance, Place
from assay.engines.discovery import find_engine
from assay.running.processes.launcher import Guardian
from assay.running.server.serving import ServerLauncher
from tests.products import obtained
from tests.views import assert_is_written_out


class Started:
    """One server, its launcher and its guardian."""

    def __init__(self, root: Path, name: str, run_id: str = "run") -> None:
        self.engine: Any = find_engine(name).engine()
        self.product = obtained(name, engine=self.engine)
        self.guardian = Guardian(run_id, root / "instances")
        self.log = root / f"{run_id}.log"
        self.launcher = ServerLauncher(self.guardian, self.log)
        self.place = Place(self.guardian.directory / "data", self.guardian.directory / "scratch")
        self.place.data.mkdir()
        self.address: Address = {}

    def start(self, settings: dict[str, str] | None = None) -> Address:
        self.address = self.engine.start(self.product, self.place, settings or {}, self.launcher)
        return self.address

    def attach(self) -> Instance:
        made: Instance = self.engine.attach(dict(self.address))
        return made

    @property
    def dsn(self) -> str:
        address = self.address
        scheme = self.engine.conf.parent.name
        return (
            f"{scheme}://{address['user']}:{address['password']}@127.0.0.1:{address['port']}/assay"
        )


DECLARED = """
    create table notes (
        id int unsigned primary key, code varchar(20) not null, price decimal(10, 2) unique,
        title text, unique (code(5))...
    );
    create table pairs (a int not null, b int not null, unique (b, a));
    create table `Same` (id int primary key);
    create table same (id int primary key);
    create view seen as select id, code from notes;
    create table part (id int not null primary key) engine = myisam;
    create table merged (id int not null primary key) engine = merge union = (part);
"""


def assert_schema_is_read(shared: Started, instance: Instance, more: str = "") -> None:
    """Check the columns and keys of tables that sessions find without a schema.

    Args:
        shared: The server.
        instance: Connection to an empty database.
        more: Further constraints of the first table.
    """
    shared.engine.run_script(instance, DECLARED.replace("...", more))
    names = ("notes", "pairs", "same", "seen", "part", "merged", "user")
    tables = shared.engine.declared_tables(instance, names)
    # The table user is in another database.
    assert set(tables) == {"notes", "pairs", "seen", "part", "merged"}
    notes = tables["notes"]
    assert list(notes.types) == ["id", "code", "price", "title"]
    # MariaDB adds the width.
    assert notes.types["id"] in {"int unsigned", "int(10) unsigned"}
    assert notes.types["code"] == "varchar(20)"
    assert notes.required == {"id", "code"}
    assert set(notes.keys) == {("id",), ("price",)}
    assert not notes.unique_in(["price"])
    assert tables["pairs"].keys == (("b", "a"),)
    assert (set(tables["seen"]), tables["seen"].required) == ({"id", "code"}, frozenset())
    assert tables["seen"].keys == ()
    assert_is_written_out(tables, "mysql")
    reader = shared.engine.plan_reader(instance)
    keys = {index.columns for index in reader.indexes() if index.table == "notes"}
    reader.close()
    # An index of the beginnings of texts does not serve as one of the texts.
    assert {("id",), ("price",), ("code(5)",)} <= keys
    # Two of the tables that are merged may have the same value.
    assert tables["part"].unique_in(["id"])
    assert (tables["merged"].required, tables["merged"].keys) == (frozenset(), ())
