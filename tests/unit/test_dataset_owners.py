"""A kept data set is its owner's alone: nobody else reads or replaces its files."""

from __future__ import annotations

import hashlib
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay.model.errors import RunFailedError
from assay.running.data.datasets import DatasetCache, DatasetKey
from assay.running.server.instances import directory_mode

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = DatasetKey("tpch", "c0ffee", 0.01, "postgresql", "16")
CONTENT = {"main.db": b"loaded rows", "deep/index": b"entries"}
SECRET = b"only root may read this"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="files of two users need root")

# Keeps the data directory open, as a process that outlives its server, and at a line on its input
# puts a link in the place of a file.
OUTLIVING = """
import os, sys
directory = os.open(sys.argv[1], os.O_RDONLY)
print("ready", flush=True)
sys.stdin.readline()
try:
    os.symlink(sys.argv[2], "link", dir_fd=directory)
    os.rename("link", "main.db", src_dir_fd=directory, dst_dir_fd=directory)
except OSError as error:
    print(type(error).__name__, flush=True)
else:
    print("replaced", flush=True)
"""


@pytest.fixture
def shared() -> Iterator[Path]:
    """A directory that every user reaches, as tmp_path is not."""
    directory = Path(tempfile.mkdtemp(prefix="assay-"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def place(shared: Path) -> Path:
    return shared / "cache" / KEY.name


@pytest.fixture
def secret(shared: Path) -> Path:
    file = shared / "secret"
    file.write_bytes(SECRET)
    file.chmod(0o600)
    return file


class Maker:
    """Loads the data, as a server of another user does if one is named; counts its loads."""

    def __init__(self, user: str | None = None) -> None:
        self.user = user
        self.asked = 0

    def __call__(self, data: Path) -> dict[str, Any]:
        self.asked += 1
        for name, content in CONTENT.items():
            (data / name).parent.mkdir(exist_ok=True)
            (data / name).write_bytes(content)
        if self.user is not None:
            give(data, self.user)
        return {"tables": {}}


def give(data: Path, user: str) -> None:
    for path in (*data.rglob("*"), data):
        shutil.chown(path, user)


def copied(shared: Path, make: Any, name: str = "run") -> dict[str, bytes]:
    """The files of a run's copy by name, without those behind links."""
    DatasetCache(shared / "cache").copy_to(KEY, shared / name, make)
    paths = [path for path in (shared / name).rglob("*") if path.is_file()]
    return {str(path.relative_to(shared / name)): path.read_bytes() for path in paths}


def modes(place: Path) -> set[int]:
    """The permissions of a data set's files and directories, without its own."""
    paths = (place / "data", *(place / "data").rglob("*"))
    return {path.stat().st_mode & 0o777 for path in paths}


def owners(place: Path) -> set[int]:
    return {path.lstat().st_uid for path in (place, *place.rglob("*"))}


class TestPermissions:
    @pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
    def test_only_the_owner_enters_the_data(self, shared: Path, place: Path, umask: int) -> None:
        during: list[int] = []

        def make(data: Path) -> dict[str, Any]:
            during.extend(path.stat().st_mode & 0o777 for path in (data.parent, data))
            return Maker()(data)

        before = os.umask(umask)
        try:
            assert copied(shared, make) == CONTENT
        finally:
            os.umask(before)
        assert during == [directory_mode(), 0o700]
        assert place.stat().st_mode & 0o777 == directory_mode()
        assert modes(place) == {0o600, 0o700}

    @pytest.mark.parametrize("by", ["the next copy", "the next run of anything"])
    def test_a_data_set_that_everybody_could_read_is_closed(
        self, shared: Path, place: Path, by: str
    ) -> None:
        make = Maker()
        copied(shared, make)
        for path in (place / "data", *(place / "data").rglob("*")):
            path.chmod(0o755)
        if by == "the next copy":
            assert copied(shared, make, "again") == CONTENT
        else:
            DatasetCache(shared / "cache").sweep()
        assert (make.asked, modes(place)) == (1, {0o600, 0o700})


@as_root
class TestAnotherUser:
    def test_a_process_that_outlives_its_server_cannot_replace_files(
        self, shared: Path, place: Path, secret: Path
    ) -> None:
        outliving: list[subprocess.Popen[str]] = []

        def make(data: Path) -> dict[str, Any]:
            facts = Maker("nobody")(data)
            command = [sys.executable, "-I", "-S", "-c", OUTLIVING, str(data), str(secret)]
            process = subprocess.Popen(
                ["setpriv", "--reuid=nobody", "--clear-groups", "--", *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd="/",
            )
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            outliving.append(process)
            return facts

        assert copied(shared, make) == CONTENT
        said, _ = outliving[0].communicate("now\n")
        assert said == "PermissionError\n"
        assert owners(place) == {0}
        assert modes(place) == {0o600, 0o700}

    @pytest.mark.parametrize("opened", [0o777, 0o700])
    def test_data_of_an_earlier_version_are_used_and_become_ours(
        self, shared: Path, place: Path, opened: int
    ) -> None:
        make = Maker("nobody")
        copied(shared, make)
        give(place / "data", "nobody")
        (place / "data" / "deep").chmod(opened)
        assert copied(shared, make, "again") == CONTENT
        assert (make.asked, owners(place), modes(place)) == (1, {0}, {0o600, 0o700})

    @pytest.mark.parametrize("name", ["main.db", "deep"])
    def test_a_link_that_was_put_in_the_place_of_a_file_is_not_followed(
        self,
        shared: Path,
        place: Path,
        secret: Path,
        name: str,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        make = Maker("nobody")
        copied(shared, make)
        elsewhere = shared / "elsewhere"
        elsewhere.mkdir()
        shutil.copy(secret, elsewhere / "index")
        (place / "data" / name).rename(place / "data" / f"{name}-before")
        (place / "data" / name).symlink_to(secret if name == "main.db" else elsewhere)
        pretend(place, "main.db" if name == "main.db" else "deep/index")
        give(place / "data" / f"{name}-before", "nobody")
        assert copied(shared, make, "again") == CONTENT
        assert make.asked == 2
        assert "was replaced" in caplog.text

    def test_a_file_of_somebody_else_is_made_again(
        self, shared: Path, place: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        make = Maker()
        copied(shared, make)
        shutil.chown(place / "data" / "main.db", "nobody")
        assert copied(shared, make, "again") == CONTENT
        assert make.asked == 2
        assert "main.db is not a regular file of the data set's owner" in caplog.text

    def test_a_server_keeps_no_file_of_somebody_else(self, shared: Path) -> None:
        def make(data: Path) -> dict[str, Any]:
            facts = Maker("nobody")(data)
            shutil.chown(data / "deep" / "index", "daemon")
            return facts

        whose = f"deep/index belongs to the user with the id {pwd.getpwnam('daemon').pw_uid}"
        with pytest.raises(RunFailedError, match=whose):
            copied(shared, make)
        assert list((shared / "cache").iterdir()) == []

    def test_a_server_keeps_no_second_name_of_our_files(self, shared: Path, secret: Path) -> None:
        secret.chmod(0o640)

        def make(data: Path) -> dict[str, Any]:
            facts = Maker("nobody")(data)
            (data / "linked").hardlink_to(secret)
            return facts

        with pytest.raises(RunFailedError, match="linked is a hard link to a file that the server"):
            copied(shared, make)
        assert secret.stat().st_mode & 0o777 == 0o640

    def test_a_server_may_give_its_own_files_two_names(self, shared: Path, place: Path) -> None:
        def make(data: Path) -> dict[str, Any]:
            facts = Maker("nobody")(data)
            (data / "again").hardlink_to(data / "main.db")
            return facts

        assert copied(shared, make) == CONTENT | {"again": CONTENT["main.db"]}
        assert owners(place) == {0}


def pretend(place: Path, name: str) -> None:
    """Write a manifest with the secret's digest, as if it had been hashed behind a link."""
    manifest = json.loads((place / "manifest.json").read_text(encoding="utf-8"))
    manifest["files"][name]["sha256"] = hashlib.sha256(SECRET).hexdigest()
    (place / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
