"""`assay compare`: what of a command line becomes a study, and what is refused before any run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import run_command
from assay.study.compare import CompareAsked, comparison_study
from assay.study.declared.expanding import Wanted, expanded
from assay.study.variants import Study, Variant

USAGE = 1


def study(**options: Any) -> Study:
    return expanded(comparison_study(CompareAsked("tpcc", **options)), Wanted()).study


def sides(**options: Any) -> tuple[Variant, ...]:
    return study(**options).parts[0].variants


class TestStudy:
    def test_two_versions_run_in_turns(self) -> None:
        declared_study = study(engines=("dolt@1.83.2", "dolt@2.2.0"), repetitions=2)
        first, second = declared_study.parts[0].variants
        assert (first.name, second.name) == ("dolt@1.83.2", "dolt@2.2.0")
        assert (first.request.engine_version, second.request.engine_version) == ("1.83.2", "2.2.0")
        order = [run.stands_for[0].variant for run in declared_study.order()]
        assert order[2:] == order[:2][::-1]
        assert [figure.kind for figure in declared_study.figures] == ["compare"]

    def test_a_setting_is_of_one_side_or_of_both(self) -> None:
        first, second = sides(engines=("postgresql",), vary=("work_mem=4MB,64MB",))
        assert (first.name, second.name) == ("work_mem=4MB", "work_mem=64MB")
        assert first.request.settings == {"work_mem": "4MB"}
        assert second.request.settings == {"work_mem": "64MB"}
        off = ("enable_indexscan=off",)
        first, second = sides(engines=("postgresql",), second=off, keys={"set": {"a": "1"}})
        assert (first.name, second.name) == ("postgresql", "enable_indexscan=off")
        assert first.request.settings == {"a": "1"}
        assert second.request.settings == {"a": "1", "enable_indexscan": "off"}

    def test_options_of_a_run_differ_too(self) -> None:
        first, second = sides(engines=("postgresql",), second=("clients=8",))
        assert (first.request.clients, second.request.clients) == (1, 8)
        many = ("a=1", "b=2", "c=3")
        assert sides(engines=("postgresql",), second=many)[1].name == "a=1 and 2 more"

    def test_the_same_twice_is_two_runs_a_round(self) -> None:
        declared_study = study(engines=("postgresql",), alike=True, repetitions=2)
        assert [variant.name for variant in declared_study.parts[0].variants] == ["first", "second"]
        assert len(declared_study.order()) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--engine", "postgresql"],
            "both sides of the comparison are the same: name two engines or versions",
        ),
        (["--engine", "mysql", "--engine", "mysql"], "To measure the noise, add --alike"),
        (["--engine", "a", "--engine", "b", "--engine", "c"], "--engine is given 3 times"),
        (["--engine", "postgresql", "--engine", "postgrsql"], "unknown engine 'postgrsql'"),
        (["--vary", "work_mem=1,2,3"], "--vary work_mem has 3 values: a comparison needs two,"),
        (["--b", "work_mem"], "--b work_mem: write it as --b KEY=VALUE"),
        (["--clients", "2", "--b", "clients=4"], "clients is given for one side and for both"),
        (
            ["--alike", "--engine", "mysql", "--engine", "mariadb"],
            "differ (mysql and mariadb): remove",
        ),
        (
            ["--alike", "--a", "clients=2"],
            "--alike uses the same engine and settings on both sides",
        ),
        (["--alike", "--vary", "clients=1,2"], "differ (clients=1 and clients=2): remove --alike"),
        (
            ["--a", "clients=1", "--a", "clients=2", "--b", "clients=3"],
            "--a clients is given twice",
        ),
        (["--b", "min-time=1s", "--b", "min_time=2s"], "--b min-time is given twice"),
        (["--b", "work_mem=1", "--b", "set.work_mem=2"], "--b work_mem is given twice"),
        (["--b", "limit.cpu=1", "--b", "limit.cpu=2"], "--b limit.cpu is given twice"),
        (
            ["--vary", "x_y=1,2", "--b", "x_y=3"],
            "x_y is given with --vary and with --b: remove one",
        ),
        (
            ["--engine", "a", "--a", "engine=b"],
            "engine is given with --engine and with --a: remove",
        ),
        (
            ["--engine", "postgresql", "--vary", "durability=full,none"],
            "durability differs (full and none)",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    assert run_command(["compare", "tpcc", *arguments, "--runs", str(runs)]) == USAGE
    assert message in " ".join(capsys.readouterr().err.split())
    assert not runs.exists()
