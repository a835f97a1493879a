"""JSON that a file or the environment asks for is printed for errors, too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli.main import run_command

USAGE = 1


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory, with runs and caches below it."""
    monkeypatch.chdir(tmp_path)
    for name in ("ASSAY_RUNS", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    return tmp_path


ASKED = [
    ("[show]\njson = true", {}, ["show", "nosuch"]),
    ("[show]\njson = true", {}, ["show", "--nope"]),
    ("[cache]\njson = true", {}, ["cache", "nosuch"]),
    ("", {"ASSAY_SHOW_JSON": "1"}, ["show", "nosuch"]),
    ("[show]\njson = false", {"ASSAY_SHOW_JSON": "yes"}, ["show", "nosuch"]),
    ("", {"ASSAY_CACHE_PRUNE_JSON": "on"}, ["cache", "prune", "--keep", "x"]),
]
NOT_ASKED = [
    ("[show]\njson = true", {}, ["report", "nosuch"]),
    ("[show]\njson = true", {"ASSAY_SHOW_JSON": "0"}, ["show", "nosuch"]),
    ("[cache]\njson = true", {}, ["cache", "prune", "--keep", "x"]),
    ("", {"ASSAY_CACHE_PRUNE_JSON": "on"}, ["cache", "nosuch"]),
]


@pytest.mark.parametrize(
    ("file", "variables", "arguments", "is_asked"),
    [*((*case, True) for case in ASKED), *((*case, False) for case in NOT_ASKED)],
)
def test_an_error_is_a_document_if_json_was_asked_for(
    file: str,
    variables: dict[str, str],
    arguments: list[str],
    is_asked: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    place: Path,
) -> None:
    (place / "assay.toml").write_text(file, "utf-8")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert run_command(arguments) == USAGE
    told = capsys.readouterr()
    assert told.err.startswith("assay: ")
    assert (told.out != "") == is_asked
    if is_asked:
        assert json.loads(told.out)["exit_code"] == USAGE


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--json", "runs"], "write it after the command, as in: assay runs --json"),
        (["--json"], "write it after the command, as in: assay runs --json"),
        (["cache", "--json", "prune"], "as in: assay cache prune --json"),
        (["engines", "--json", "show", "duckdb"], "as in: assay engines show --json"),
        (["workloads", "--json", "show", "tpch"], "as in: assay workloads show --json"),
        (["studies", "--json", "figures"], "as in: assay studies figures --json"),
    ],
)
def test_json_before_a_command_is_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(arguments) == USAGE
    told = capsys.readouterr()
    assert message in told.err
    assert len(told.err.splitlines()) == 1
    assert json.loads(told.out)["exit_code"] == USAGE


def test_a_default_of_a_group_is_not_for_its_subcommands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_CACHE_JSON", "1")
    assert run_command(["cache", "prune"]) == 0
    assert not capsys.readouterr().out.startswith("{")
