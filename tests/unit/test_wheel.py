"""What goes into a wheel: files of the package, licences, and what it says of itself.

`tests/e2e/test_wheel.py` builds one.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pytest

from tests.style.sources import ROOT

sys.path.insert(0, str(ROOT / "wheels"))

import licences

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
# What is built and no file of the package: the core, which maturin adds itself, and bytecode.
ADDED = {".so", ".pyc"}


def listed(*options: str) -> set[str]:
    """Files of the package as git lists them."""
    command = ["git", "ls-files", "--exclude-standard", *options, "python/assay"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return set(told.stdout.splitlines())


def test_no_file_of_the_package_is_left_out() -> None:
    """Maturin leaves out what git ignores; what is built and needed is named in `include`."""
    assert listed("--cached", "--ignored") == set()
    built = {file for file in listed("--others", "--ignored") if Path(file).suffix not in ADDED}
    included = {entry["path"] for entry in PROJECT["tool"]["maturin"]["include"]}
    assert built <= included
    assert included == {"python/assay/engines/bridge/bridge.jar"}


def test_it_says_what_it_is() -> None:
    said = metadata("assay")
    assert said["Summary"] == PROJECT["project"]["description"]
    assert said["License-Expression"] == "Apache-2.0"
    assert "LICENSE" in said.get_all("License-File")
    assert said["Description"].startswith("# Assay\n")
    assert said["Requires-Python"] == ">=3.11"


@pytest.fixture(scope="module")
def crates() -> list[dict[str, Any]]:
    return licences.linked_crates(licences.metadata())


def test_licences_are_of_all_that_is_linked(crates: list[dict[str, Any]]) -> None:
    names = {crate["name"] for crate in crates}
    assert names >= {"arrow-array", "ring", "rusqlite", "io-uring"}
    # For tests, for building, for macros: none of them is in the core.
    assert names & {"proptest", "tempfile", "pyo3-build-config", "serde_derive", "syn"} == set()
    assert not any(name.startswith("assay-") for name in names)


def test_each_crate_has_a_text_of_its_licence(crates: list[dict[str, Any]]) -> None:
    for crate in crates:
        chapter = licences.chapter(crate)
        assert f"{crate['name']} {crate['version']}\nLicence: {crate['license']}" in chapter
        text = chapter.partition("By: ")[2].lower()
        assert any(word in text for word in ("copyright", "(c)", "licen"))


def test_a_crate_without_a_text_is_refused(tmp_path: Path) -> None:
    crate = {
        "name": "x",
        "version": "1.0.0",
        "license": "MIT",
        "authors": ["A"],
        "repository": None,
        "manifest_path": str(tmp_path / "Cargo.toml"),
    }
    with pytest.raises(SystemExit, match="x: no text of its licence, MIT"):
        licences.chapter(crate)
    (tmp_path / "LICENSE-MIT").write_text("Permission is hereby granted", encoding="utf-8")
    assert licences.chapter(crate).endswith("By: A\n\nPermission is hereby granted")
