"""Who imports whom, and what a short command must not wait for."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp

from tests.style.sources import ROOT

# Importing these takes longer than printing a help text should.
HEAVY = {"polars", "pyarrow", "duckdb", "altair", "pydantic"}
IMPORTED = re.compile(r"^import time:[^|]*\|[^|]*\|\s*(\S+)", re.MULTILINE)


def imported_by(code: str) -> set[str]:
    """Top-level packages that a new interpreter imports while it runs the code."""
    command = [sys.executable, "-X", "importtime", "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert result.returncode == 0, result.stderr[-2000:]
    return {name.partition(".")[0] for name in IMPORTED.findall(result.stderr)}


def test_help_waits_for_no_heavy_library() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    module, _, function = project["scripts"]["assay"].partition(":")
    code = f"""
import sys
sys.argv = ["assay", "--help"]
from {module} import {function}
try:
    code = {function}()
except SystemExit as ended:
    code = ended.code
sys.exit(code)
"""
    imported = imported_by(code)
    assert "typer" in imported
    assert imported & HEAVY == set()


def test_the_package_alone_imports_nothing_heavy() -> None:
    imported = imported_by("import assay")
    assert "assay" in imported
    assert imported & (HEAVY | {"typer", "rich"}) == set()


def test_a_heavy_import_would_be_seen() -> None:
    assert imported_by("import pyarrow") & HEAVY == {"pyarrow"}


def test_each_layer_imports_only_what_is_below_it() -> None:
    """Oracle: import-linter, with the contracts of pyproject.toml."""
    command = [Path(sys.executable).parent / "lint-imports", "--no-cache"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-1000:]
    assert "kept, 0 broken" in result.stdout


def test_engines_know_neither_each_other_nor_are_they_known_by_what_they_share() -> None:
    """Engines are those with a manifest, so that a new one is held to it without being named."""
    folder = ROOT / "python" / "assay" / "engines"
    engines = {f"assay.engines.{path.parent.name}" for path in folder.glob("*/engine.toml")}
    assert len(engines) > 1
    graph = grimp.build_graph("assay", cache_dir=None)
    owner = {
        module: engine for engine in engines for module in (engine, *graph.find_descendants(engine))
    }
    edges = {
        (module, imported)
        for module in graph.find_descendants("assay.engines")
        for imported in graph.find_modules_directly_imported_by(module)
        if imported in owner and owner.get(module) != owner[imported]
    }
    assert edges == set()
