"""The verbs of the command line are functions of Python, too, and mean the same."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import assay
from assay import verbs
from assay.cli.verbs import MEASURE, VERBS, command_of
from assay.model.errors import UsageError

QUICK = {
    "engine": "null",
    "scale": 0.01,
    "operation": ["q06"],
    "min_time": "1ms",
    "probes": "none",
    "plans": False,
}
# What exists and means the same on all verbs that make several runs.
OF_ALL = {"budget", "again", "runs", "watcher"}


@pytest.mark.parametrize("name", sorted(set(verbs.__all__) - {"run", "answers"}))
def test_what_is_of_all_verbs_is_of_each(name: str) -> None:
    assert set(inspect.signature(getattr(verbs, name)).parameters) >= OF_ALL
    shown = {option for one in command_of(name.rstrip("_")).params for option in one.opts}
    assert shown >= {"--budget", "--again", "--runs", "--json"}


def test_every_verb_that_measures_is_a_function_but_the_look_at_the_host() -> None:
    measuring = {name for name, verb in VERBS.items() if verb.section == MEASURE}
    assert measuring - {"ceiling"} == set(verbs.__all__) - {"try_", "why"}


def test_a_run_is_made_and_opened(tmp_path: Path) -> None:
    made = assay.run("tpch", runs=tmp_path, **QUICK)
    assert made.document["verdict"] == "unknown"
    assert made.run.facts["workload"]["name"] == "tpch"
    assert made.run.dir.parent == tmp_path


def test_a_sweep_is_made_and_opened_and_found_again(tmp_path: Path) -> None:
    asked = {**QUICK, "scale": [0.01, 0.02], "engine": ["null"]}
    made = assay.sweep("tpch", repeat=1, runs=tmp_path, **asked)
    assert len(made.document["runs"]) == 2
    assert assay.sweep("tpch", repeat=1, runs=tmp_path, **asked).directory == made.directory


def test_what_is_no_verb_is_told_with_those_there_are() -> None:
    with pytest.raises(AttributeError, match="its verbs are answers"):
        assay.measure  # noqa: B018 - the name is what is asked for


def test_a_wrong_option_is_refused_as_on_the_command_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--streams is of a test"):
        assay.run("tpch", streams=2, runs=tmp_path, **QUICK)
    with pytest.raises(UsageError, match=r"'sclae' is no option of a run; did you mean 'scale'"):
        assay.run("tpch", sclae=2, runs=tmp_path)
    with pytest.raises(UsageError, match="seed: Input should be a valid integer"):
        assay.run("tpch", seed="seven", runs=tmp_path)
