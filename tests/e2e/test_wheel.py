"""A wheel that is built, unpacked where no clone is, and used from there."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from assay.cli.shared.verbs import VERBS
from tests.style.sources import ROOT

BIN = Path(sys.executable).parent
BRIDGE = "assay/engines/bridge/bridge.jar"
# What maturin adds to the files of the package.
CORE = "assay/_core.abi3.so"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Links the core of this checkout, whose crates `make setup` has built."""
    out = tmp_path_factory.mktemp("dist")
    command = [BIN / "maturin", "build", "--quiet", "--release", "--locked"]
    options = ["--interpreter", sys.executable, "--out", out]
    subprocess.run([*command, *options], cwd=ROOT, capture_output=True, check=True)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    return place


def assay(unpacked: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command of the unpacked wheel, of a user without anything."""
    environment = {"HOME": str(home), "PATH": os.defpath, "PYTHONPATH": str(unpacked)}
    command = [sys.executable, "-c", "from assay.cli.main import main; main()", *arguments]
    return subprocess.run(
        command, cwd=home, env=environment, capture_output=True, text=True, check=False
    )


def test_it_has_every_file_of_the_package(unpacked: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "assay"],
        cwd=ROOT / "python",
        capture_output=True,
        text=True,
        check=True,
    )
    files = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*")}
    expected = set(listed.stdout.splitlines()) | {CORE}
    # Built only where there is a Java compiler.
    expected |= {BRIDGE} if (ROOT / "python" / BRIDGE).exists() else set()
    assert expected <= files


def test_it_is_for_every_python_and_says_what_it_needs(unpacked: Path) -> None:
    (information,) = unpacked.glob("*.dist-info")
    assert "Tag: cp311-abi3-" in (information / "WHEEL").read_text("utf-8")
    assert (information / "licenses" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    said = (information / "METADATA").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for name in ("duckdb", "pyarrow", "psycopg[binary]"):
        (needed,) = (text for text in project["dependencies"] if text.startswith(name))
        assert f"Requires-Dist: {needed}\n" in said
    assert "assay=assay.cli.main:main" in (information / "entry_points.txt").read_text("utf-8")
    scripts = {path.name for path in unpacked.glob("*.data/data/share/*/*/*assay*")}
    # Manual pages too, where `make wheel` has written them.
    assert scripts >= {"assay", "_assay", "assay.fish"}


def test_it_measures_where_no_clone_is(unpacked: Path, tmp_path: Path) -> None:
    listed = assay(unpacked, tmp_path, "--help")
    assert all(f"\n  {name} " in listed.stdout for name in VERBS)
    run = assay(unpacked, tmp_path, "run", "tpch", "--scale", "0.01", "--min-time", "1ms")
    assert "22 of 22 answers right" in run.stderr
    page = assay(unpacked, tmp_path, "report", "latest")
    assert Path(page.stdout.strip()).stat().st_size > 1 << 20
    loaded = "import assay._core; print(assay._core.__file__)"
    environment = {"PYTHONPATH": str(unpacked)}
    told = subprocess.run(
        [sys.executable, "-c", loaded], env=environment, capture_output=True, text=True, check=True
    )
    assert Path(told.stdout.strip()) == unpacked / CORE
