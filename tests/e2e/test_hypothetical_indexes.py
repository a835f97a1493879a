"""Without permission to change a server, its optimiser is asked about indexes that do not exist."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.engines.contract import Wanted, tell_nobody
from assay.engines.discovery import find_engine
from tests.e2e.conftest import reachable_directory, server_laboratory
from tests.e2e.server import RunningServer, running_server
from tests.e2e.test_diagnose import INDEXES, MAKE_ORDERS
from tests.e2e.test_running_server import folder_of, url_of

# Debian has the extension for the version of its own release.
VERSION, PACKAGE = "15", "postgresql-15-hypopg"
BY_CUSTOMER = "select order_id from trade.orders where customer_id = 4711"
KEY = "missing-index:by_customer"


def programs_with_hypopg(cache: Path, folder: Path) -> Path:
    """A copy of PostgreSQL from Debian, with the extension."""
    engine = find_engine("postgresql").engine()
    product = engine.obtain(Wanted(cache / "assay" / "engines", VERSION), tell_nobody)
    packages = folder / "packages"
    packages.mkdir()
    command = ["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", PACKAGE]
    subprocess.run(command, cwd=packages, check=True, capture_output=True)
    home = folder / "postgresql"
    shutil.copytree(product.home, home, symlinks=True)
    for package in packages.glob("*.deb"):
        subprocess.run(["dpkg-deb", "--extract", str(package), str(home)], check=True)
    return home


@pytest.fixture(scope="module")
def with_hypopg(server_place: Path) -> Iterator[RunningServer]:
    if shutil.which("apt-get") is None:
        pytest.skip("the extension hypopg is a Debian package, and this host has no apt-get")
    with reachable_directory() as folder:
        programs = programs_with_hypopg(server_place / "cache", folder)
        with running_server(server_place / "cache", folder, programs) as server:
            for statement in MAKE_ORDERS:
                server.asked(statement)
            yield server


def untried_of(
    server: RunningServer, server_place: Path, tmp_path: Path, statement: str = BY_CUSTOMER
) -> dict[str, Any]:
    folder = folder_of(tmp_path, by_customer=statement)
    given = ("diagnose", str(folder), "--dsn", url_of(server), "--min-time", "200ms")
    with server_laboratory(server_place) as lab:
        document = json.loads(lab.assay(*given, "--json").stdout)
        lab.assert_nothing_left()
    assert server.asked(INDEXES) == []
    (untried,) = [cause for cause in document["steps"][0]["cannot_be_tried"] if cause["key"] == KEY]
    return dict(untried)


def test_an_extension_that_the_database_lacks_is_named(
    with_hypopg: RunningServer, server_place: Path, tmp_path: Path
) -> None:
    untried = untried_of(with_hypopg, server_place, tmp_path)
    assert "create the extension hypopg" in untried["why"]


@pytest.fixture
def with_extension(with_hypopg: RunningServer) -> Iterator[RunningServer]:
    """The extension lies in a schema that is not searched."""
    with_hypopg.asked("create schema tools")
    with_hypopg.asked("create extension hypopg schema tools")
    with_hypopg.asked("grant usage on schema tools to owner")
    yield with_hypopg
    with_hypopg.asked("drop schema tools cascade")


def test_the_estimated_cost_with_an_index_is_shown_and_nothing_is_changed(
    with_extension: RunningServer, server_place: Path, tmp_path: Path
) -> None:
    untried = untried_of(with_extension, server_place, tmp_path)
    assert untried["change"] == "hypothetical index of orders (customer_id)"
    assert "estimated plans would use the index: their cost falls from" in untried["why"]
    assert "--allow-changes" in untried["why"]


def test_an_index_that_the_extension_cannot_assume_has_its_reason(
    with_extension: RunningServer, server_place: Path, tmp_path: Path
) -> None:
    with_extension.asked(
        "create table if not exists trade.tagged as select i as order_id,"
        " jsonb_build_object('customer', i % 20000) as facts from generate_series(1, 100000) as i"
    )
    with_extension.asked("alter table trade.tagged owner to owner")
    with_extension.asked("analyze trade.tagged")
    tagged = """select order_id from trade.tagged where facts @> '{"customer": 4711}'"""
    untried = untried_of(with_extension, server_place, tmp_path, tagged)
    assert "the optimiser could not assume the index" in untried["why"]
    assert "gin" in untried["why"]
