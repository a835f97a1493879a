"""Options of the command line and keys of study files are the same, understood in one place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assay.cli.main import app
from assay.cli.shared.run_options import run_parameters
from assay.cli.shared.verbs import VERBS, command_of
from assay.model.errors import UsageError
from assay.model.request_keys import DURATION, ENGINE, INCIDENTAL
from assay.running.asked.declaring import LETTERS, Group, as_keys, declared
from assay.running.asked.options import RunOptions, option_names, options_of
from assay.running.asked.plain_options import PlainOptions
from assay.running.asked.reference import options_page
from assay.running.asked.request import RunRequest
from assay.running.asked.understanding import request_of


def test_every_field_of_a_run_is_declared_as_an_option_but_the_workload() -> None:
    undeclared = [name for name, field in RunOptions.model_fields.items() if not declared(field)]
    assert undeclared == ["workload"]
    assert {one.name for one in run_parameters()} == set(RunOptions.model_fields) - {"workload"}


def test_what_the_command_line_leaves_out_is_as_a_study_leaves_it_out() -> None:
    defaults = {one.name: one.default for one in run_parameters() if one.default is not None}
    assert options_of({"workload": "tpch", **defaults}) == RunOptions(workload="tpch")


def test_plain_options_mean_the_same_in_the_request() -> None:
    changed = {"seed": 7, "foreign_keys": True, "block_trace": True, "plans": False}
    request = request_of(RunOptions.model_validate({"workload": "tpch", **changed}), [])
    assert set(PlainOptions.model_fields) < set(RunRequest.model_fields)
    assert {name: getattr(request, name) for name in changed} == changed


def test_keys_that_are_no_setting_are_those_of_a_request() -> None:
    assert {*INCIDENTAL, *DURATION, *ENGINE} <= set(RunRequest.model_fields)


def test_help_says_of_files_what_their_keys_are() -> None:
    assert as_keys("With --fleet-tls and --dsn: x.") == "With fleet_tls and dsn: x."
    schema = RunOptions.model_json_schema(by_alias=True)["properties"]
    assert "With dsn:" in schema["keep_data"]["description"]
    assert schema["test"]["enum"] == ["power", "throughput", "full", "steady", None]


def test_the_page_of_options_is_made_of_their_declarations() -> None:
    page = Path(__file__).parents[2] / "docs/reference/options.md"
    assert page.read_text("utf-8") == options_page()


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_is_of_eighty_columns_and_has_examples(verb: str) -> None:
    shown = CliRunner().invoke(app, [verb, "--help"], terminal_width=80).stdout
    assert shown.startswith(f"Usage: assay {verb}")
    wide = [line for line in shown.splitlines() if len(line) > 80]
    # An example or a value's form may be one long word.
    assert not [line for line in wide if len(line.split()) > 2], wide
    assert shown.count(f"\n    assay {verb} ") <= 8


def test_options_are_listed_by_group() -> None:
    shown = CliRunner().invoke(app, ["run", "--help"], terminal_width=80).stdout
    titles = [line[:-1] for line in shown.splitlines() if line[:-1] in tuple(Group)]
    assert titles == [group for group in Group if group != Group.RUNS]
    assert "[env var" not in shown


def parts_of(name: str) -> list[tuple[str, Any]]:
    """A verb, or the verbs below it, with what is typed for each."""
    command = command_of(name)
    below = getattr(command, "commands", {})
    return [(f"{name} {part}", made) for part, made in below.items()] or [(name, command)]


@pytest.mark.parametrize("verb", VERBS)
def test_a_letter_is_of_every_verb_that_has_its_option(verb: str) -> None:
    for _, command in parts_of(verb):
        for parameter in command.params:
            letters = [letter for name, letter in LETTERS.items() if name in parameter.opts]
            assert [name for name in parameter.opts if name in LETTERS.values()] == letters


def test_the_letter_works_where_results_are_looked_at(tmp_path: Path) -> None:
    told = CliRunner().invoke(app, ["explain", "latest", "-o", "q1", "--runs", str(tmp_path)])
    assert "no runs in" in str(told.exception)


@pytest.mark.parametrize("verb", VERBS)
def test_help_tells_once_where_the_environment_has_defaults(verb: str) -> None:
    for typed, _ in parts_of(verb):
        shown = CliRunner().invoke(app, [*typed.split(), "--help"], terminal_width=80).stdout
        assert "env var" not in shown
        told = " ".join(shown.split())
        assert told.count("in the environment, as ASSAY_") == 1, typed


def test_a_list_of_verbs_imports_none_of_them() -> None:
    listing = "import sys; from assay.cli.main import run_command; run_command(['--help'])"
    command = [sys.executable, "-c", f"{listing}; print('pydantic' in sys.modules)"]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert told.stdout.splitlines()[-1] == "False"
    assert all(f"\n  {name} " in told.stdout for name in VERBS)


def test_every_verb_is_there() -> None:
    assert [command_of(name).name for name in VERBS] == list(VERBS)


def test_settings_have_the_name_of_the_option() -> None:
    assert "set" in option_names()
    assert "settings" not in option_names()


def asked(given: list[str], folder: Path = Path(), **keys: Any) -> Any:
    return request_of(RunOptions.model_validate({"workload": "tpch", **keys}), given, folder)


def test_settings_are_texts_as_engines_have_them() -> None:
    keys = {"set": {"threads": 2, "jit": True, "ratio": 0.5, "name": "x"}}
    assert asked([], **keys).settings == {
        "threads": "2",
        "jit": "true",
        "ratio": "0.5",
        "name": "x",
    }


def test_a_default_is_for_whatever_it_fits_and_what_was_asked_for_is_refused() -> None:
    assert asked([], streams=3).streams == 3
    with pytest.raises(UsageError, match="--streams applies to a test"):
        asked(["streams"], streams=3)


def test_a_pass_is_repeated_in_a_cold_state_only_if_that_was_asked_for() -> None:
    keys = {"engine": "duckdb", "state": "cold", "min_time": "3s"}
    assert asked([], **keys).min_time_s == 0.0
    assert asked(["min_time"], **keys).min_time_s == 3.0


def test_files_and_folders_are_relative_to_the_folder(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "q.sql").write_text("select 1")
    (tmp_path / "a.sql").write_text("analyze;")
    request = asked(["prepare"], tmp_path, workload="./w", prepare=["a.sql"], bin_dir="bin")
    assert request.workload == str(tmp_path / "w")
    assert request.prepare == {"a.sql": "analyze;"}
    assert request.bin_dir == str(tmp_path / "bin")
    assert asked([], tmp_path).workload == "tpch"


def test_operations_are_listed_once_each() -> None:
    assert asked([], operation="q06").operations == ["q06"]
    assert asked([], operation=["q06", "q01", "q06"]).operations == ["q06", "q01"]


def test_a_run_without_a_workload_is_refused() -> None:
    with pytest.raises(UsageError, match="no workload is named"):
        asked([], workload=None)
