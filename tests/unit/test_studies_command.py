"""`assay studies`: what is told of a study before it is run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli.main import run_command
from assay.engines.contract import EngineError
from assay.model.errors import UsageError
from assay.running.asked.request import RunRequest
from assay.study.preparing import considered_all, prepared
from assay.study.several import Terms
from assay.study.variants import Part, Study, Variant


class Silent:
    """A teller that tells nobody."""

    def ignored(self, *events: object) -> None:
        pass

    record = phase = amount = ignored


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_RUNS", str(tmp_path / "runs"))
    assert run_command(["studies", "new", "mine"]) == 0
    return "mine"


def test_a_new_one_says_what_to_do_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command(["studies", "new", "mine"]) == 0
    assert "assay study ./mine/study.toml" in capsys.readouterr().out
    assert run_command(["studies", "new", "mine"]) == 1


def test_it_is_told_what_would_be_run_and_how_long_it_takes(
    example: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run_command(["studies", "show", example]) == 0
    output = capsys.readouterr().out
    assert "threads: 2 x 2 runs" in output
    assert "little, os-warm" in output
    assert "plenty, os-warm" not in output
    assert "in all: 10 runs, about " in output
    assert "budget 5 min" in output
    assert "--quick: 2 runs, about " in output
    assert "left out: memory: --quick leaves it out" in output


def test_the_short_form_and_other_engines_are_told_by_themselves(
    example: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    command = ["studies", "show", example, "--quick", "--engine", "sqlite", "--engine", "duckdb"]
    assert run_command([*command, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert list(document["forms"]) == ["quick"]
    (part,) = document["forms"]["quick"]["parts"]
    assert [variant["name"] for variant in part["variants"]] == [
        "sqlite, threads=1",
        "sqlite, threads=2",
        "duckdb, threads=1",
        "duckdb, threads=2",
    ]


def test_the_schema_is_json_and_figures_have_their_options(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_command(["studies", "schema"]) == 0
    assert json.loads(capsys.readouterr().out)["additionalProperties"] is False
    assert run_command(["studies", "figures"]) == 0
    assert "  metric: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "treads"], "has no such part; did you mean 'threads'?"),
        (["--quick", "--only", "memory"], "--only memory: --quick leaves it out"),
        (["--budget", "soon"], "--budget 'soon': write it like"),
    ],
)
def test_what_cannot_be_is_refused(
    example: str, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run_command(["study", example, *arguments]) == 1
    assert message in capsys.readouterr().err
    assert not Path("runs").exists()


def test_what_is_refused_of_parts_that_are_not_wanted_is_no_problem() -> None:
    fine = Part("fine", (Variant("a", RunRequest(workload="tpch", engine="null", scale=0.01)),), 1)
    wrong = Part(
        "wrong", (Variant("b", RunRequest(workload="nothing", engine="null", scale=0.01)),), 1
    )
    study = Study("?", (fine, wrong))
    with pytest.raises(UsageError, match="nothing"):
        considered_all(study)
    asked_runs = considered_all(study, Terms(parts=frozenset({"fine"})).wants)
    assert [asked_run.request.workload for asked_run in asked_runs] == ["tpch"]


def test_an_engine_that_cannot_be_had_is_asked_for_once(tmp_path: Path) -> None:
    gone = RunRequest(workload="tpch", engine="postgresql", scale=0.01, bin_dir=str(tmp_path))
    study = Study("?", (Part("p", (Variant("gone", gone),), 2),))
    ready = prepared(study.order(), considered_all(study), Silent())
    made: list[RunRequest] = []

    def run_one(request: RunRequest, runs: Path, teller: object) -> Path:
        made.append(request)
        return runs

    wrapped = ready.wrapping(run_one)
    with pytest.raises(EngineError, match=str(tmp_path)):
        wrapped(gone, tmp_path, Silent())
    fine = RunRequest(workload="tpch", engine="null", scale=0.01)
    wrapped(fine, tmp_path, Silent())
    assert made == [fine]
