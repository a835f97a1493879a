"""The engine `doltgres` without a server: its program, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.engines.contract import EngineError, Product, Server, Wanted, tell_nobody
from assay.engines.discovery import find_engine
from assay.engines.doltgres.engine import DoltgresEngine
from assay.engines.doltgres.server import environment

ENGINE = DoltgresEngine(find_engine("doltgres").facts)


def a_product(tmp_path: Path, text: str) -> Product:
    file = tmp_path / "doltgres"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return Product("", tmp_path, {})


def test_it_is_a_server() -> None:
    assert isinstance(ENGINE, Server)


def test_a_server_that_runs_is_refused_with_why() -> None:
    with pytest.raises(EngineError, match="Leave --dsn out"):
        ENGINE.address("postgresql://user@host/database")


def test_a_setting_is_refused_with_why(tmp_path: Path) -> None:
    product = a_product(tmp_path, "")
    ENGINE.check_settings(product, {})
    with pytest.raises(
        EngineError,
        match=r"work_mem: Doltgres accepts PostgreSQL's settings but ignores .*remove --set",
    ):
        ENGINE.check_settings(product, {"work_mem": "1GB"})


@pytest.mark.parametrize("text", ["echo PostgreSQL 18", "exit 1"])
def test_another_program_is_refused(tmp_path: Path, text: str) -> None:
    a_product(tmp_path, text)
    with pytest.raises(EngineError, match="is not Doltgres:"):
        ENGINE.obtain(Wanted(tmp_path / "cache", None, bin_dir=tmp_path), tell_nobody)


def test_the_password_is_in_the_environment_alone(tmp_path: Path) -> None:
    variables = environment(tmp_path, "geheim")
    assert {name for name, value in variables.items() if value == "geheim"} == {"DOLTGRES_PASSWORD"}
    assert variables["DOLT_DISABLE_EVENT_FLUSH"] == "true"
