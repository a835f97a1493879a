"""Files for a server's programs are not written through links that the server's user made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import assay.engines
from assay.engines.mysql_family import configuration as mysql_configuration
from assay.engines.mysql_family import server as mysql_server
from assay.engines.postgresql import programs as postgresql_programs
from assay.engines.postgresql import server as postgresql_server
from assay.engines.server_files import write_server_file

ENGINES = Path(assay.engines.__file__).parent
FOREIGN = "of another user"


def launcher(scratch: Path) -> Any:
    """In place of a launcher that gives files to the server's user."""
    return SimpleNamespace(scratch=scratch, own=lambda _: None)


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
    monkeypatch.setattr(Path, "unlink", lambda path, **_: path.symlink_to(foreign))
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
