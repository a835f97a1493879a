"""An option has one name: on the command line, in files of defaults and in the environment."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import run_command
from assay.cli.shared.verbs import VERBS, command_of

USAGE = 1


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory without variables of commands, in which no run can be made."""
    for name in list(os.environ):
        if name.startswith(tuple(f"ASSAY_{verb.upper()}_" for verb in VERBS)):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("ASSAY_RUNS", str(tmp_path / "runs"))
    return tmp_path


def commands() -> Iterator[tuple[str, Any]]:
    """Yield each command and subcommand after the words that call it."""
    for verb in VERBS:
        command = command_of(verb)
        yield verb, command
        for name, part in getattr(command, "commands", {}).items():
            yield f"{verb} {name}", part


def test_the_variable_of_an_option_has_its_long_name() -> None:
    for typed, command in commands():
        for option in command.params:
            longs = [name[2:] for name in option.opts if name.startswith("--")]
            names = [f"assay {typed} {name}" for name in longs]
            expected = [name.upper().replace(" ", "_").replace("-", "_") for name in names]
            assert option.envvar == (expected or None), typed


@pytest.mark.parametrize(
    ("variable", "value", "arguments", "message"),
    [
        ("ASSAY_RUN_SET", "nonsense", ["run", "tpch"], "--set nonsense: write it as --set name"),
        ("ASSAY_RUN_SORTED", "nosuch", ["run", "tpch"], "--sorted nosuch: write it like"),
        ("ASSAY_CEILING_DIR", "/no/such", ["ceiling"], "/no/such"),
        ("ASSAY_GENERATE_FORMAT", "xml", ["generate", "tpch", "--out", "o"], "xml"),
        ("ASSAY_CACHE_PRUNE_KEEP", "x", ["cache", "prune"], "--keep x"),
    ],
)
def test_a_variable_sets_its_option(
    variable: str,
    value: str,
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(variable, value)
    assert run_command(arguments) == USAGE
    assert message in capsys.readouterr().err


def test_a_listing_is_a_document_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_RUNS_JSON", "1")
    assert run_command(["runs"]) == 0
    assert capsys.readouterr().out == "[]\n"


@pytest.mark.parametrize(
    ("variable", "arguments", "nearest"),
    [
        ("ASSAY_RUN_SETTINGS", ["run", "tpch"], "ASSAY_RUN_SET"),
        ("ASSAY_RUN_AS_JSON", ["run", "tpch"], "ASSAY_RUN_JSON"),
        ("ASSAY_RUNS_AS_JSON", ["runs"], "ASSAY_RUNS_JSON"),
        ("ASSAY_CACHE_PRUNE_AS_JSON", ["cache", "prune"], "ASSAY_CACHE_PRUNE_JSON"),
    ],
)
def test_a_variable_that_names_no_option_of_the_command_is_refused(
    variable: str,
    arguments: list[str],
    nearest: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    place: Path,
) -> None:
    monkeypatch.setenv(variable, "1")
    assert run_command(arguments) == USAGE
    told = capsys.readouterr().err
    assert f"variable {variable} names no option of `assay {arguments[0]}`" in told
    assert f"did you mean '{nearest}'?" in told
    assert list(place.iterdir()) == []


def test_other_variables_are_left_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("ASSAY_CACHE_KEEP", "1GB")
    monkeypatch.setenv("ASSAY_RUN_NOSUCH", "of another command")
    monkeypatch.setenv("ASSAY_CACHE_NOTHING", "")
    monkeypatch.setenv("ASSAY_VERSION", "0.1")
    assert run_command(["cache"]) == 0
    assert run_command(["run", "--help"]) == 0
    assert capsys.readouterr().err == ""


def test_a_key_of_a_file_is_the_long_name(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = place / "assay.toml"
    file.write_text('[run]\nset = ["nonsense"]\n', "utf-8")
    assert run_command(["run", "tpch"]) == USAGE
    assert "--set nonsense: write it as --set name=value" in capsys.readouterr().err
    file.write_text('[run]\nsettings = ["a=1"]\n', "utf-8")
    assert run_command(["run", "tpch"]) == USAGE
    assert "[run] unknown key 'settings'" in capsys.readouterr().err
