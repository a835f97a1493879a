"""A browser and Node.js, in which other people's tools open what we export."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import playwright
import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.known_profile import a_source

INSTALLED = Path(sys.prefix) / "receivers" / "node_modules"
NODE = Path(playwright.__file__).parent / "driver" / "node"
SECONDS_MAX = 60


@pytest.fixture(scope="session")
def installed() -> Path:
    assert INSTALLED.is_dir(), (
        "the tools that open exports are not installed: `make receivers` installs them"
    )
    return INSTALLED


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium")
    assert path, "chromium is not installed: `make browser` installs it"
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def exported(module: ModuleType, place: Path, operation: str | None = None) -> Path:
    """The known profile, written by a format into a directory."""
    out = io.BytesIO()
    module.write(a_source(operation), out)
    path = place / f"known{module.SUFFIX}"
    path.write_bytes(out.getvalue())
    return path


def unpacked(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())


def node(*arguments: str | Path, **variables: str) -> str:
    """What Node.js prints."""
    command = [str(NODE), *map(str, arguments)]
    ended = subprocess.run(
        command, env=variables, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def node_json(*arguments: str | Path, **variables: str) -> Any:
    return json.loads(node(*arguments, **variables))
