"""Packages of Python's index: nothing of a file with another hash than the pinned one is executed.

The client is the real pip, and the index is a directory.
"""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from assay.engines.contract import EngineError, Product, Wanted, tell_nobody
from assay.engines.facts import EngineFacts
from assay.engines.obtaining import obtain
from assay.engines.providers.contract import UnavailableError

ARCHIVE, WHEEL = "acme-1.0.tar.gz", "acme-1.0-py3-none-any.whl"
PASSWORDS = ("PGPASSWORD", "MYSQL_PWD", "JDBC_PASSWORD", "SPARQL_PASSWORD", "AWS_SECRET_ACCESS_KEY")
# Of the client, for its registry.
OWN = ("PIP_A_PASSWORD", "UV_INDEX_A_PASSWORD")
METADATA = "Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n"
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
# The program of a source package that describes it: writes its environment beside the index.
BACKEND = """
import json, os, pathlib
pathlib.Path({executed!r}).write_text(json.dumps(dict(os.environ)))

def prepare_metadata_for_build_wheel(directory, settings=None):
    folder = pathlib.Path(directory, "acme-1.0.dist-info")
    folder.mkdir()
    (folder / "METADATA").write_text({metadata!r})
    return folder.name
"""


class Index:
    """A directory with the packages that pip finds, and the file that their program writes."""

    def __init__(self, root: Path) -> None:
        self.packages = root / "packages"
        self.packages.mkdir()
        self.cache = root / "cache"
        self.executed = root / "executed"

    def source(self) -> str:
        """Make a source package; return its SHA-256."""
        backend = BACKEND.format(executed=str(self.executed), metadata=METADATA)
        texts = {"PKG-INFO": METADATA, "pyproject.toml": PROJECT, "backend.py": backend}
        file = self.packages / ARCHIVE
        with tarfile.open(file, "w:gz") as archive:
            for name, text in texts.items():
                member = tarfile.TarInfo(f"acme-1.0/{name}")
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text.encode()))
        return sha256(file.read_bytes()).hexdigest()

    def wheel(self) -> str:
        """Make a wheel; return its SHA-256."""
        file = self.packages / WHEEL
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("bin/acme", "a program")
            archive.writestr("acme-1.0.dist-info/METADATA", METADATA)
            archive.writestr("acme-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\n")
            archive.writestr("acme-1.0.dist-info/RECORD", "")
        return sha256(file.read_bytes()).hexdigest()

    def obtain(self, package: str, pins: dict[str, str]) -> Product:
        product = {"version": "1.0", "provider": "pypi", "package": package, "sha256": pins}
        facts = {"name": "acme", "title": "Acme", "about": "x", "kind": "server", "session": "null"}
        facts |= {"obtained_from": "a test"}
        known = EngineFacts.model_validate({**facts, "products": [product]})
        return obtain(known, Wanted(self.cache), tell_nobody)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    made = Index(tmp_path)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(made.packages))
    # Without one on the PATH, it is pip of Assay's own environment.
    monkeypatch.setenv("PATH", "/usr/sbin:/sbin")
    return made


class TestPins:
    def test_a_source_package_of_another_hash_is_not_executed(self, index: Index) -> None:
        index.source()
        with pytest.raises(EngineError, match="SHA-256") as refused:
            index.obtain("acme==1.0 source", {ARCHIVE: "0" * 64})
        assert not isinstance(refused.value.__cause__, UnavailableError)
        assert not index.executed.exists()

    def test_the_pinned_source_package_is_unpacked(
        self, index: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in (*PASSWORDS, *OWN):
            monkeypatch.setenv(name, "a password")
        pins = {ARCHIVE: index.source()}
        product = index.obtain("acme==1.0 source", pins)
        assert product.home is not None
        assert (product.home / "acme-1.0" / "backend.py").is_file()
        environment = json.loads(index.executed.read_text())
        assert set(environment).isdisjoint(PASSWORDS)
        assert environment.keys() >= set(OWN)
        assert product.origin["sha256"] == pins

    @pytest.mark.parametrize("is_pinned", [True, False])
    def test_a_wheel_is_unpacked(self, index: Index, is_pinned: bool) -> None:
        digests = {WHEEL: index.wheel()}
        product = index.obtain("acme==1.0", digests if is_pinned else {})
        assert product.home is not None
        assert (product.home / "bin" / "acme").read_text() == "a program"
        assert product.origin["sha256"] == digests

    def test_a_wheel_of_another_hash_is_refused(self, index: Index) -> None:
        index.wheel()
        with pytest.raises(EngineError, match="does not have the expected SHA-256") as refused:
            index.obtain("acme==1.0", {WHEEL: "0" * 64})
        assert not isinstance(refused.value.__cause__, UnavailableError)

    def test_a_wheel_for_another_machine_is_none_for_this_one(self, index: Index) -> None:
        index.wheel()
        with pytest.raises(EngineError, match="no such wheel for this machine") as refused:
            index.obtain("acme==1.0", {"acme-1.0-cp311-cp311-linux_vax.whl": "0" * 64})
        assert isinstance(refused.value.__cause__, UnavailableError)
