"""The verbs of the command line are functions of Python, too, and mean the same."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest

import assay
from assay import verbs
from assay.cli.shared.verbs import VERBS, command_of, python_name
from assay.model.errors import UsageError
from assay.report.results.explain import ExplainedOperation, ExplainedRun

QUICK = {
    "engine": "null",
    "scale": 0.01,
    "operation": ["q06"],
    "min_time": "1ms",
    "probes": "none",
    "plans": False,
}
SEVERAL = ("compare", "durability", "plans", "study", "sweep", "try", "tune", "why")
# What exists and means the same on all verbs that make several runs.
OF_ALL = {"budget", "again", "runs", "watcher"}
# What is shown, and how the command ends.
SHOWN = {"all_operations", "as_json", "help", "strict", "whole"}
# What a person does at a terminal; a program has the password and gives it in `dsn`.
TYPED = {"ask_password"}
# Options that stand for a function of their own.
FUNCTIONS = {"doctor": {"restore"}, "try": {"history"}}
# Verbs with verbs of their own.
GROUPS = ("cache", "engines", "studies", "workloads")


def test_every_verb_of_the_command_line_is_a_function() -> None:
    assert {python_name(verb) for verb in VERBS} == set(verbs.names())
    for verb in verbs.names():
        assert inspect.getdoc(verbs.function_of(verb))


@pytest.mark.parametrize("verb", sorted(set(VERBS) - set(GROUPS)))
def test_a_function_takes_the_options_of_its_verb(verb: str) -> None:
    parameters = inspect.signature(verbs.function_of(python_name(verb))).parameters
    options = {one.name for one in command_of(verb).params if one.param_type_name == "option"}
    taken = options - SHOWN - TYPED - FUNCTIONS.get(verb, set())
    if not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values()):
        assert taken <= set(parameters)


@pytest.mark.parametrize("verb", SEVERAL)
def test_what_is_of_all_verbs_is_of_each(verb: str) -> None:
    function = verbs.function_of(python_name(verb))
    assert set(inspect.signature(function).parameters) >= OF_ALL
    shown = {option for one in command_of(verb).params for option in one.opts}
    assert shown >= {"--budget", "--again", "--runs", "--json"}


@pytest.mark.parametrize("verb", ["report", "study", "engines"])
def test_a_verb_by_whose_name_there_is_a_package_is_called_by_it(verb: str) -> None:
    code = (
        "import assay; from assay.report.build import build; from assay.engines import discovery;"
        " from assay.study import series; import assay.study.pace as pace;"
        f" print(callable(assay.{verb}), pace.__name__, assay.engines.discovery is discovery)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["True", "assay.study.pace", "True"]


def test_packages_by_whose_name_there_is_a_verb_are_named() -> None:
    packages = {module.name for module in iter_modules(assay.__path__) if module.ispkg}
    assert packages & set(verbs.names()) == assay.PACKAGES
    assert set(dir(assay)) >= {"load", *verbs.names()}


def test_a_package_calls_its_verb(tmp_path: Path) -> None:
    made = assay.run("tpch", runs=tmp_path, page=False, **QUICK)
    callables: Any = assay
    written = callables.report(str(made.run.dir), runs=tmp_path)
    assert Path(written["report"]).is_file()
    assert "null" in {facts.name for facts in callables.engines()}


def test_a_run_is_shown_listed_and_explained(tmp_path: Path) -> None:
    made = assay.run("tpch", runs=tmp_path, **QUICK)
    shown = assay.show(runs=tmp_path)
    assert shown["run"] == made.run.id
    assert [one["run"] for one in assay.runs(tmp_path)] == [made.run.id]
    whole, one = assay.explain(runs=tmp_path), assay.explain(operation="q06", runs=tmp_path)
    assert isinstance(whole, ExplainedRun)
    assert isinstance(one, ExplainedOperation)
    assert whole.document["operations"] == shown["operations"]
    assert one.document["operation"]["name"] == "q06"


def test_changes_are_supposed_in_the_order_of_their_names(tmp_path: Path) -> None:
    assay.run("tpch", runs=tmp_path, **QUICK)
    named = assay.whatif("latest", runs=tmp_path, operation_time="q06=1s", halve=["q06"])
    pairs = ("operation_time", "q06=1s"), ("halve", "q06")
    assert named.document == assay.whatif("latest", *pairs, runs=tmp_path).document
    changes = named.document["prediction"]["changes"]
    assert changes == ["q06 takes 1.00 s", "q06 takes 0.5 times as long"]
    with pytest.raises(UsageError, match="unknown change 'halves': did you mean 'halve'"):
        assay.whatif("latest", halves="q06", runs=tmp_path)


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
    with pytest.raises(AttributeError, match="its verbs are agent, answers, cache"):
        assay.measure  # noqa: B018 - the name is what is asked for


def test_a_wrong_option_is_refused_as_on_the_command_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--streams applies to a test"):
        assay.run("tpch", streams=2, runs=tmp_path, **QUICK)
    with pytest.raises(UsageError, match=r"'sclae' is no option of a run; did you mean 'scale'"):
        assay.run("tpch", sclae=2, runs=tmp_path)
    with pytest.raises(UsageError, match="seed: Input should be a valid integer"):
        assay.run("tpch", seed="seven", runs=tmp_path)
