"""The documentation as a site: it is built without a warning, and loads nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import ROOT

LOADED = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*?(?:src|href)="(https?:[^"]+)""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` does: dead links and pages outside the menu are errors."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(folder)]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    pages = {page: page.read_text("utf-8") for page in site.rglob("*.html")}
    assert len(pages) > 150
    loaded = {page.name: LOADED.findall(text) for page, text in pages.items()}
    assert {name: urls for name, urls in loaded.items() if urls} == {}


def test_every_page_leads_home_and_is_found_by_search(site: Path) -> None:
    index = (site / "search" / "search_index.json").read_text("utf-8")
    for page in site.rglob("*.html"):
        place = page.relative_to(site).as_posix()
        if place == "404.html" or place.startswith("source/"):
            continue
        assert 'class="md-header__button md-logo"' in page.read_text("utf-8"), place
        assert f'"location":"{place}"' in index or f'"location":"{place}#' in index, place
