"""`--ask-password`: which commands have it, when it is refused, and where the password goes."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from assay.cli.main import run_command
from assay.cli.shared.verbs import VERBS, command_of
from assay.engines.contract import EngineError
from assay.engines.discovery import find_engine
from assay.engines.typed_password import keep_typed, typed_password
from tests.terminal import AT_TERMINAL, Terminal

TYPED = "p@ss: w%rd'\\ é"
PATIENCE_S = 60.0
DSN = "postgresql://nobody@127.0.0.1:1/none"
ASK = "--ask-password"


def address(engine: str, dsn: str) -> dict[str, Any]:
    return find_engine(engine).engine().address(dsn)


def of_postgresql(read: dict[str, Any]) -> object:
    return conninfo_to_dict(read["dsn"])["password"]


def of_sparql(read: dict[str, Any]) -> object:
    text = base64.b64decode(read["authorization"].removeprefix("Basic ")).decode()
    return text.partition(":")[2]


ADDRESSES: list[tuple[str, str, str, Callable[[dict[str, Any]], object]]] = [
    ("postgresql", "postgresql://me@db/shop", "PGPASSWORD", of_postgresql),
    ("postgresql", "host=db,other user=me", "PGPASSWORD", of_postgresql),
    ("mysql", "mysql://me@db/shop", "MYSQL_PWD", lambda read: read["password"]),
    ("mariadb", "mariadb://me@db/shop", "MYSQL_PWD", lambda read: read["password"]),
    ("jdbc", "jdbc:x://db/shop", "JDBC_PASSWORD", lambda read: read["properties"]["password"]),
    ("spark", "hive2://db/shop", "JDBC_PASSWORD", lambda read: read["properties"]["password"]),
    ("trino", "trino://me@db/a/b", "TRINO_PASSWORD", lambda read: read["properties"]["password"]),
    ("sparql", "http://me@127.0.0.1/ds", "SPARQL_PASSWORD", of_sparql),
]


@pytest.mark.parametrize(
    ("engine", "dsn", "variable", "password"), ADDRESSES, ids=[dsn for _, dsn, *_ in ADDRESSES]
)
def test_the_typed_password_is_in_the_address_and_not_in_the_environment(
    engine: str,
    dsn: str,
    variable: str,
    password: Callable[[dict[str, Any]], object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(variable, "other")
    with keep_typed(TYPED):
        assert password(address(engine, dsn)) == TYPED
        assert TYPED not in "".join(os.environ.values())
    assert typed_password() is None


@pytest.mark.parametrize(
    ("engine", "dsn"),
    [
        ("postgresql", "postgresql://me:other@db/shop"),
        ("postgresql", "host=db user=me password=other"),
        ("mysql", "mysql://me:other@db/shop"),
        ("mysql", "mysql://me:@db/shop"),
        ("jdbc", "jdbc:postgresql://db/shop?user=me&password=other"),
        ("jdbc", "jdbc:sqlserver://db;user=me;Password=other"),
        ("trino", "trino://me:other@db/a/b"),
        ("sparql", "http://me:other@127.0.0.1/ds"),
    ],
)
def test_a_second_password_is_refused_unquoted(engine: str, dsn: str) -> None:
    address(engine, dsn)
    with keep_typed(TYPED), pytest.raises(EngineError, match=f"{ASK}.*remove one") as refused:
        address(engine, dsn)
    assert not any(secret in str(refused.value) for secret in (TYPED, "other"))


@pytest.mark.parametrize("engine", ["postgresql", "mysql"])
def test_an_address_with_session_settings_can_be_read_again(engine: str) -> None:
    behaviour = find_engine(engine).engine()
    with keep_typed(TYPED):
        extended = behaviour.with_settings(f"{engine}://me@db/shop", {"a": "1"})
        assert behaviour.address(extended) is not None


def test_a_password_without_a_user_is_refused_for_sparql(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARQL_USER", raising=False)
    with keep_typed(TYPED), pytest.raises(EngineError, match="SPARQL_USER"):
        address("sparql", "http://127.0.0.1/ds")


def test_every_command_that_uses_running_servers_can_ask() -> None:
    options = {
        verb: {option for parameter in command_of(verb).params for option in parameter.opts}
        for verb in VERBS
    }
    with_dsn = {verb for verb, of_verb in options.items() if "--dsn" in of_verb}
    assert {"run", "observe", "diagnose", "try", "capture", "answers", "compare"} <= with_dsn
    assert {verb for verb, of_verb in options.items() if ASK in of_verb} == with_dsn | {"study"}


@pytest.mark.parametrize(
    ("arguments", "sentences"),
    [
        (["run", "tpch", ASK], ["--ask-password needs --dsn"]),
        (["capture", "--log", "x", "--out", "y", ASK], ["--ask-password needs --dsn"]),
        (["run", "tpch", "--dsn", DSN, ASK], ["no terminal"]),
        (["observe", "--dsn", DSN, ASK], ["no terminal"]),
        (["study", "tpch-profile", ASK], ["no terminal"]),
        (["try", "latest", "1", ASK], ["no terminal"]),
    ],
    ids=lambda value: value[0],
)
def test_it_is_one_error_without_a_server_or_a_terminal(
    arguments: list[str], sentences: list[str], tmp_path: Path
) -> None:
    places = {"ASSAY_RUNS": str(tmp_path / "runs"), "XDG_STATE_HOME": str(tmp_path / "state")}
    ended = subprocess.run(
        [sys.executable, "-m", "assay.cli.main", *arguments],
        env=os.environ | places,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        start_new_session=True,
    )
    assert ended.returncode == 1, ended.stderr
    assert all(sentence in ended.stderr for sentence in sentences), ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_default_of_the_environment_asks_only_for_running_servers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_RUN_ASK_PASSWORD", "yes")
    assert run_command(["run", "nosuch-workload", "--runs", str(tmp_path / "runs")]) == 1
    assert "nosuch-workload" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "code", "sentence"),
    [
        ("\x03", 2, "stopped by Ctrl-C"),
        ("\x04", 1, "no password was typed"),
        ("\n", 1, "no password was typed"),
        (f"{TYPED}\n", 1, "nothing listens there"),
    ],
    ids=["ctrl-c", "ctrl-d", "empty", "typed"],
)
def test_the_prompt_shows_nothing_and_leaves_no_record(
    typed: str, code: int, sentence: str, tmp_path: Path
) -> None:
    arguments = ["run", "tpch", "--dsn", DSN, ASK, "--runs", str(tmp_path / "runs")]
    with Terminal() as terminal:
        started = subprocess.Popen(
            [sys.executable, "-m", "assay.cli.main", *arguments],
            stdin=terminal.side,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **AT_TERMINAL,
        )
        terminal.answer("Password of the server: ", typed)
        printed, errors = started.communicate(timeout=PATIENCE_S)
        shown = terminal.shown()
    assert started.returncode == code, errors
    assert sentence in errors
    assert TYPED not in printed + errors + shown
    assert list(tmp_path.iterdir()) == []
