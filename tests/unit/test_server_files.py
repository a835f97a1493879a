"""Files for a server's programs are not written through links that the server's user made."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

import assay.engines
from assay.engines.bridge import beside
from assay.engines.collecting import CollectionsReader
from assay.engines.contract import EngineError, Instance
from assay.engines.dolt import server as dolt_server
from assay.engines.lake import write_table
from assay.engines.mysql_family import configuration as mysql_configuration
from assay.engines.mysql_family import server as mysql_server
from assay.engines.postgresql import programs as postgresql_programs
from assay.engines.postgresql import server as postgresql_server
from assay.engines.server_files import read_server_file, write_server_file
from assay.engines.trino import loading as trino_loading
from assay.engines.trino import server as trino_server
from assay.engines.trino.credentials import Credentials
from assay.engines.virtuoso import activity as virtuoso_activity
from assay.engines.virtuoso import loading as virtuoso_loading
from assay.engines.virtuoso.server import LOADING

ENGINES = Path(assay.engines.__file__).parent
FOREIGN = "of another user"


NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="files of two users need root")


def launcher(scratch: Path) -> Any:
    """In place of a launcher that gives files to the server's user."""
    return SimpleNamespace(scratch=scratch, own=lambda _: None)


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """The directory of a server's user, who may put a link in the place of each entry."""
    place = tmp_path / "scratch"
    place.mkdir()
    return place


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A directory of another user, which has one file."""
    place = tmp_path / "foreign"
    place.mkdir()
    (place / "file").write_text(FOREIGN)
    return place


def unchanged(foreign: Path) -> bool:
    names = [path.name for path in foreign.iterdir()]
    return names == ["file"] and (foreign / "file").read_text() == FOREIGN


def replace_by_link(place: Path, target: Path) -> None:
    """Put a link in the place of a directory or a file, as the owner of its directory can."""
    if os.path.lexists(place):
        place.rename(place.with_name(f"{place.name}-before"))
    place.symlink_to(target)


def rows() -> pa.RecordBatchReader:
    batches = [pa.record_batch({"key": pa.array([number])}) for number in range(2)]
    return pa.RecordBatchReader.from_batches(batches[0].schema, batches)


def write_one(scratch: Path) -> None:
    write_server_file(scratch / "file", "ours")


def configure_postgresql(scratch: Path) -> None:
    postgresql_server._configure(scratch, {}, 5432, launcher(scratch))


def configure_mysql(scratch: Path) -> None:
    users = ENGINES / "mysql" / "conf" / "users.sql"
    address = {"password": "p", "port": 3306, "unix_socket": None}
    mysql_server._configure(scratch, {}, users, address, launcher(scratch))


@pytest.mark.parametrize(
    ("write", "names"),
    [
        (write_one, ["file"]),
        (
            configure_postgresql,
            [postgresql_server.HBA_FILE, postgresql_programs.CONFIGURATION_FILE],
        ),
        (configure_mysql, [mysql_server.INIT_FILE, mysql_server.CONFIGURATION_FILE]),
    ],
)
def test_a_link_in_the_place_of_a_file_is_replaced(
    write: Callable[[Path], None], names: list[str], tmp_path: Path
) -> None:
    foreign = tmp_path / "foreign"
    foreign.write_text(FOREIGN)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    for name in names:
        (scratch / name).symlink_to(foreign)
    write(scratch)
    assert foreign.read_text() == FOREIGN
    for name in names:
        assert not (scratch / name).is_symlink()
        assert (scratch / name).stat().st_mode & 0o777 == 0o600


def test_a_file_that_comes_back_at_once_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    foreign = tmp_path / "foreign"
    foreign.write_text(FOREIGN)
    monkeypatch.setattr(os, "unlink", lambda path, **_: path.symlink_to(foreign))
    with pytest.raises(FileExistsError):
        write_one(tmp_path)
    assert foreign.read_text() == FOREIGN


def test_a_text_of_earlier_is_replaced(tmp_path: Path) -> None:
    mysql_configuration.write_configuration(tmp_path / "c", {"a": "1" * 99})
    mysql_configuration.write_configuration(tmp_path / "c", {"a": "1"})
    assert (tmp_path / "c").read_text() == '[mysqld]\na = "1"\n'


@pytest.mark.parametrize("file", sorted(ENGINES.glob("*/server.py")), ids=lambda it: it.parent.name)
def test_servers_write_their_files_in_no_other_way(file: Path) -> None:
    text = file.read_text()
    assert ".write_text(" not in text
    assert ".write_bytes(" not in text
    assert "copyfile(" not in text


class TestBridge:
    def copied(self, scratch: Path, driver: Path) -> list[Path]:
        return beside._copied([driver], launcher(scratch))

    def test_jars_are_copied_with_directories_and_read_by_all(
        self, scratch: Path, tmp_path: Path
    ) -> None:
        driver = tmp_path / "driver"
        (driver / "inner").mkdir(parents=True)
        (driver / "inner" / "A.class").write_bytes(b"a")
        (driver / "B.class").symlink_to(driver / "inner" / "A.class")
        (place,) = self.copied(scratch, driver)
        assert place == scratch / beside.CLASSES / "0-driver"
        assert (place / "inner" / "A.class").read_bytes() == b"a"
        assert not (place / "B.class").is_symlink()
        assert (place / "B.class").stat().st_mode & 0o777 == 0o644
        assert (place / "inner").stat().st_mode & 0o777 == 0o755
        assert self.copied(scratch, driver) == [place]

    def test_a_link_in_the_place_of_the_directory_is_replaced(
        self, scratch: Path, foreign: Path, tmp_path: Path
    ) -> None:
        (scratch / beside.CLASSES).symlink_to(foreign)
        jar = tmp_path / "driver.jar"
        jar.write_bytes(b"jar")
        (copy,) = self.copied(scratch, jar)
        assert unchanged(foreign)
        assert copy.read_bytes() == b"jar"

    def test_a_link_that_comes_while_jars_are_copied_is_not_followed(
        self, scratch: Path, foreign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        jar = tmp_path / "driver.jar"
        jar.write_bytes(b"jar")
        place = scratch / beside.CLASSES
        monkeypatch.setattr(beside, "check_readable", lambda _: replace_by_link(place, foreign))
        self.copied(scratch, jar)
        assert unchanged(foreign)
        assert (scratch / "bridge-before" / "0-driver.jar").read_bytes() == b"jar"

    @as_root
    def test_a_directory_of_another_user_in_its_place_is_refused(
        self, scratch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        make = os.mkdir

        def make_as_nobody(path: str, mode: int, **more: Any) -> None:
            make(path, mode, **more)
            os.chown(path, NOBODY, NOBODY, **more)

        jar = tmp_path / "driver.jar"
        jar.write_bytes(b"jar")
        monkeypatch.setattr(os, "mkdir", make_as_nobody)
        with pytest.raises(EngineError, match="another user replaced this directory"):
            self.copied(scratch, jar)


class TestTrino:
    programs = SimpleNamespace(plugin=Path("/nowhere/hive"))

    def directory(self, settings: dict[str, str], scratch: Path) -> Path:
        secrets, ports = Credentials("a.b.c", "secret", scratch), trino_server.Ports(8080, 8443)
        return trino_server._directory("worker-1", ports, settings, launcher(scratch), secrets)

    def test_links_in_the_places_of_its_directories_are_replaced(
        self, scratch: Path, foreign: Path
    ) -> None:
        names = ["nodes", "worker-1", trino_server.PLUGINS, trino_server.CATALOGS]
        for name in names:
            (scratch / name).symlink_to(foreign)
        settings = {"workers": "1", "heap": "1GB"}
        trino_server._lay_out(self.programs, scratch / "lake", settings, launcher(scratch))  # type: ignore[arg-type]
        place = self.directory(settings, scratch)
        assert unchanged(foreign)
        assert place == scratch / "worker-1"
        assert sorted(path.name for path in place.iterdir()) == ["config.properties", "tmp"]
        assert "coordinator=false" in (place / "config.properties").read_text()
        assert (scratch / "plugin" / "hive").readlink() == self.programs.plugin
        assert "hive.metastore=file" in (scratch / "catalog" / "lake.properties").read_text()

    def test_files_of_an_earlier_node_are_removed(self, scratch: Path) -> None:
        (scratch / "worker-1" / "inner").mkdir(parents=True)
        place = self.directory({}, scratch)
        assert not (place / "inner").exists()

    def test_a_table_is_not_loaded_through_a_link(self, scratch: Path, foreign: Path) -> None:
        lake = scratch / "lake"
        lake.mkdir()
        (foreign / "orders").mkdir()
        (lake / "assay").symlink_to(foreign)
        instance = Instance({}, None, address={"lake": str(lake), "schema": "assay"})
        with pytest.raises(EngineError, match="orders cannot be written"):
            trino_loading.load(instance, "orders", rows())
        assert list((foreign / "orders").iterdir()) == []

    def test_rows_of_two_loads_are_in_the_table(self, scratch: Path) -> None:
        table = scratch / "lake" / "assay" / "orders"
        table.mkdir(parents=True)
        address = {"lake": str(scratch / "lake"), "schema": "assay"}
        for _ in range(2):
            trino_loading.load(Instance({}, None, address=address), "orders", rows())
        names = [file.name for file in sorted(table.iterdir())]
        assert names == ["part-00000.parquet", "part-00001.parquet"]
        assert [path.name for path in (scratch / "lake").iterdir()] == ["assay"]
        assert trino_loading.count(Instance({}, None, address=address), "orders") == 4


def test_tables_are_not_written_through_a_link_that_comes_meanwhile(
    scratch: Path, foreign: Path
) -> None:
    lake = scratch / "lake"
    lake.mkdir()

    def batches() -> Any:
        for batch in rows():
            if not (lake / "orders").is_symlink():
                replace_by_link(lake / "orders", foreign)
            yield batch

    reader = pa.RecordBatchReader.from_batches(rows().schema, batches())
    assert write_table(lake, "orders", reader, files=1) == 2
    assert unchanged(foreign)


class TestVirtuoso:
    def test_rows_are_not_written_through_a_link_that_comes_between_two_files(
        self, scratch: Path, foreign: Path
    ) -> None:
        (scratch / LOADING).mkdir()
        files: list[bytes] = []

        def run(_: str, bound: tuple[str]) -> None:
            file = Path(bound[0])
            files.append(file.read_bytes())
            assert file.stat().st_mode & 0o777 == 0o644
            replace_by_link(file, foreign / "file")

        link: Any = SimpleNamespace(run=run)
        virtuoso_loading._feed(link, {"scratch": str(scratch)}, "p", iter(rows()))
        assert unchanged(foreign)
        assert len(files) == 2
        assert all(files)

    def test_sums_of_activity_are_not_written_through_a_link(
        self, scratch: Path, foreign: Path
    ) -> None:
        (scratch / "sums").symlink_to(foreign / "file")
        with pytest.raises(OSError, match="symbolic links"):
            virtuoso_activity._held(scratch / "sums").__enter__()
        assert unchanged(foreign)


def test_dolts_own_configuration_is_not_written_through_a_link(
    scratch: Path, foreign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (scratch / dolt_server.HOME).mkdir()
    (scratch / dolt_server.HOME / ".dolt").symlink_to(foreign)
    monkeypatch.setattr(dolt_server, "find_program", lambda _: SimpleNamespace(file="dolt"))
    monkeypatch.setattr(dolt_server, "home_of", lambda _: None)
    served: list[Any] = []

    def serve(*arguments: Any) -> int:
        served.append(arguments)
        raise EngineError("served")

    place: Any = SimpleNamespace(data=scratch / "data")
    place.data.mkdir()
    ours = SimpleNamespace(scratch=scratch, own=lambda _: None, serve=serve)
    product: Any = SimpleNamespace(version="1.83.2")
    with pytest.raises(EngineError, match="served"):
        dolt_server.start_server(product, place, {}, ours)  # type: ignore[arg-type]
    assert unchanged(foreign)
    assert (scratch / dolt_server.HOME / ".dolt" / "config_global.json").is_file()


def read_text(log: Path) -> object:
    return read_server_file(log, log.parent)


def read_collections(log: Path) -> object:
    return CollectionsReader(log).read()


def read_trino_log(log: Path) -> object:
    address = {"scratch": str(log.parent), "logs": {"coordinator": "", "worker-1": str(log)}}
    return trino_server.properties_in_effect(address)


def read_postgresql_password(password: Path) -> object:
    return postgresql_server._address(password.parent, 5432, 1, launcher(password.parent))


READERS = {
    "any": (read_text, "log"),
    "collections": (read_collections, "log"),
    "trino": (read_trino_log, "log"),
    "postgresql": (read_postgresql_password, postgresql_server.PASSWORD_FILE),
}


@pytest.mark.parametrize("reader", READERS)
class TestFilesOfTheServersUser:
    @as_root
    def test_a_link_to_a_file_of_another_user_is_not_read(
        self, reader: str, scratch: Path, foreign: Path
    ) -> None:
        read, name = READERS[reader]
        os.chown(scratch, NOBODY, NOBODY)
        (scratch / name).symlink_to(foreign / "file")
        with pytest.raises((OSError, EngineError), match="does not belong to the server's user"):
            read(scratch / name)

    @as_root
    def test_a_second_name_of_a_file_of_another_user_is_not_read(
        self, reader: str, scratch: Path, foreign: Path
    ) -> None:
        read, name = READERS[reader]
        os.chown(scratch, NOBODY, NOBODY)
        (scratch / name).hardlink_to(foreign / "file")
        with pytest.raises((OSError, EngineError), match="does not belong to the server's user"):
            read(scratch / name)

    def test_a_pipe_is_not_waited_for(self, reader: str, scratch: Path) -> None:
        read, name = READERS[reader]
        os.mkfifo(scratch / name)
        with pytest.raises((OSError, EngineError), match="not a regular file"):
            read(scratch / name)

    def test_a_link_to_another_file_of_the_same_user_is_read(
        self, reader: str, scratch: Path
    ) -> None:
        read, name = READERS[reader]
        (scratch / "rotated").write_text("text")
        (scratch / name).symlink_to("rotated")
        read(scratch / name)
