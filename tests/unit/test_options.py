"""Options of the command line and keys of study files are the same, understood in one place."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from assay.cli.run import run
from assay.model.errors import UsageError
from assay.running.asked.options import RunOptions, option_names, request_of

# Parameters of the command that say nothing of the run itself.
OF_THE_COMMAND = {"context", "runs", "all_operations", "strict", "as_json"}
# Where files say it otherwise than the command line.
OTHERWISE = {name: {} for name in ("settings", "limit", "slow")} | dict.fromkeys(
    ("prepare", "sorted_by", "driver", "operation", "remove", "without"), ()
)


def parameters() -> dict[str, inspect.Parameter]:
    told = inspect.signature(run).parameters
    return {name: one for name, one in told.items() if name not in OF_THE_COMMAND}


def test_every_option_of_a_run_is_a_key_and_every_key_an_option() -> None:
    assert set(parameters()) == set(RunOptions.model_fields)


@pytest.mark.parametrize("name", sorted(set(parameters()) - {"workload"}))
def test_what_is_left_out_means_the_same_on_both_sides(name: str) -> None:
    default = RunOptions.model_fields[name].get_default(call_default_factory=True)
    assert default == OTHERWISE.get(name, parameters()[name].default)


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
    with pytest.raises(UsageError, match="--streams is of a test"):
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
