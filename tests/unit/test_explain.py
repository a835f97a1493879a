"""`assay explain`: what it refuses with which mend, and what its documents hold."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import run_command
from assay.record.seal import write_seal
from assay.record.writer import write_json
from tests.plans import tpch_plans, with_plans
from tests.records import truncate_run, write_run
from tests.sampled import as_sampled

OTHER = "20261121T101500Z-tpch-duckdb-def456"
RULES = """
[[rules]]
work = "filter"
symbols = ["Filter"]
says = "Keeps some rows."
"""


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    place = tmp_path / "runs"
    as_sampled(write_run(place))
    return place


def explained(
    capsys: pytest.CaptureFixture[str], runs: Path, *options: str
) -> tuple[int, str, str]:
    code = run_command(["explain", *options, "--runs", str(runs)])
    out, err = capsys.readouterr()
    return code, out, err


def as_document(capsys: pytest.CaptureFixture[str], runs: Path, *options: str) -> dict[str, Any]:
    code, out, _ = explained(capsys, runs, *options, "--json")
    assert code == 0
    document: dict[str, Any] = json.loads(out)
    return document


def test_the_latest_run_is_explained(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = explained(capsys, runs)
    assert (code, err) == (0, "")
    assert "HashTable<*>::Probe" in out
    assert "\x1b" not in out


def test_a_whole_run_is_told_with_findings_and_causes(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = explained(capsys, runs)
    document = as_document(capsys, runs)
    assert document["findings"]
    for finding in document["findings"]:
        assert finding["claim"] in " ".join(out.split())
    assert "Computing, and waiting for a CPU" in out
    assert sum(share or 0.0 for share in document["where"]["shares"].values()) == pytest.approx(1)
    assert document["profile"]["samples"] == 908


def test_the_document_holds_what_is_shown(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = as_document(capsys, runs, "latest", "--operation", "q02")["profile"]
    assert profile["operation"] == "q02"
    assert [row["operation"] for row in profile["operations"]] == ["q02"]
    assert sum(row["samples"] for row in profile["work"]) == profile["samples"]
    assert sum(row["samples"] for row in profile["symbols"]) == profile["samples"]


def test_rules_of_ones_own_come_first(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "my.toml"
    file.write_text(RULES, encoding="utf-8")
    before = as_document(capsys, runs)["profile"]
    after = as_document(capsys, runs, "latest", "--operations", str(file))["profile"]
    works = [{row["work"]: row["samples"] for row in rules["work"]} for rules in (before, after)]
    assert works[1]["filter"] > 0
    assert works[1]["unclassified"] == works[0]["unclassified"] - works[1]["filter"]


def test_what_no_rule_knows_is_listed(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = as_document(capsys, runs, "latest", "--unclassified")["unclassified"]
    assert "Filter" in {row["symbol"] for row in missing}
    _, out, _ = explained(capsys, runs, "latest", "--unclassified")
    assert 'symbols = ["Filter"]' in out


def test_a_run_against_another(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    as_sampled(write_run(runs, run_id=OTHER), slower="Probe")
    page = tmp_path / "difference.html"
    document = as_document(capsys, runs, OTHER, "--against", "abc123", "--html", str(page))
    assert document["against"].endswith("abc123")
    rows = {row["work"]: row for row in document["difference"]["work"]}
    assert rows["hash probe"]["is_noise"] is False
    assert rows["hash probe"]["low_s"] > 0
    assert all(row["is_noise"] for work, row in rows.items() if work != "hash probe")
    assert "What changed in CPU time" in page.read_text(encoding="utf-8")


def test_runs_of_unequal_durability_are_compared_only_where_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planned = tmp_path / "planned"
    with_plans(write_run(planned), tpch_plans())
    first = planned / "20261120T101500Z-tpch-duckdb-abc123"
    second = with_plans(write_run(planned, run_id=OTHER), tpch_plans())
    for run, level in ((first, "full"), (second, "none")):
        facts = json.loads((run / "run.json").read_text())
        write_json(run / "run.json", facts | {"durability": {"level": level}})
        write_seal(run)
    code, out, err = explained(capsys, planned, OTHER, "--against", "abc123")
    assert (code, out) == (1, "")
    assert "durability differs: none in" in " ".join(err.split())
    allowed = (OTHER, "--against", "abc123", "--unequal-durability")
    code, out, _ = explained(capsys, planned, *allowed)
    assert code == 0
    assert out.startswith("durability differs: none in")


@pytest.mark.parametrize(
    ("options", "mend"),
    [
        (["latest", "--operation", "q0"], "did you mean 'q0"),
        (["latest", "--style", "artikle"], "article"),
        (["latest", "--html", "x.html"], "--against"),
        (
            ["latest", "--unclassified", "--against", "latest"],
            "--unclassified has no effect with --against: remove one of the two",
        ),
        (
            ["latest", "--style", "article", "--against", "latest"],
            "--style article has no effect with --against: remove one of the two",
        ),
        (
            ["latest", "--open-families", "--unclassified"],
            "--open-families has no effect with --unclassified: remove one of the two",
        ),
        (["latest", "--operations", "/nowhere/my.toml"], "/nowhere/my.toml"),
        (["latest", "--against", "latest", "--html", "/nowhere/x.html"], "cannot write"),
    ],
)
def test_wrong_usage_names_the_mend(
    runs: Path, capsys: pytest.CaptureFixture[str], options: list[str], mend: str
) -> None:
    code, out, err = explained(capsys, runs, *options)
    assert (code, out) == (1, "")
    assert mend in err


@pytest.mark.parametrize("options", [["--style", "article"], ["--open-families"]])
def test_what_a_document_does_not_know_is_refused(
    runs: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    code, out, _ = explained(capsys, runs, "latest", *options, "--json")
    assert code == 1
    assert "has no effect with --json" in json.loads(out)["error"]


def test_a_run_under_way_is_said_to_be_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = write_run(tmp_path)
    facts = json.loads((directory / "run.json").read_text(encoding="utf-8"))
    facts |= {"status": "running"}
    facts["request"] |= {"profile_hz": 499}
    (directory / "run.json").write_text(json.dumps(facts), encoding="utf-8")
    (directory / "SEAL").unlink()
    code, out, _ = explained(capsys, tmp_path)
    assert code == 0
    assert "no operation was measured yet: the run is in progress" in " ".join(out.split())
    assert "damaged" not in out


def test_a_run_without_samples_says_how_to_take_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path)
    code, out, err = explained(capsys, tmp_path)
    assert (code, err) == (0, "")
    assert "assay run tpch --engine duckdb --scale 1 --profile" in " ".join(out.split())
    document = as_document(capsys, tmp_path)
    assert document["profile"] is None
    assert {"where", "findings", "plans"} <= set(document)
    assert [operation["name"] for operation in document["operations"]] == ["q01", "q02", "q03"]


def test_a_machine_that_allowed_no_samples_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = write_run(tmp_path)
    facts = json.loads((directory / "run.json").read_text(encoding="utf-8"))
    facts["probes"]["profile"] = {"error": "perf_event_paranoid is 4", "cost": "samples"}
    (directory / "run.json").write_text(json.dumps(facts), encoding="utf-8")
    write_seal(directory)
    code, out, _ = explained(capsys, tmp_path)
    assert code == 0
    assert "perf_event_paranoid is 4" in out
    assert "assay doctor" in out


def test_a_killed_run_is_explained_as_far_as_it_came(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = truncate_run(as_sampled(write_run(tmp_path)))
    (directory / "raw" / "symbols.arrows").unlink()
    code, out, _ = explained(capsys, tmp_path)
    assert code == 0
    assert "functions were not named" in out
    assert "libengine.so+0x" in out


def test_a_server_that_is_elsewhere_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = write_run(tmp_path)
    facts = json.loads((directory / "run.json").read_text(encoding="utf-8"))
    facts["request"]["profile_hz"] = 499
    (directory / "run.json").write_text(json.dumps(facts), encoding="utf-8")
    _, out, _ = explained(capsys, tmp_path)
    assert "measure where the server runs" in " ".join(out.split())


def test_a_document_of_an_older_version_is_made_anew(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run,) = runs.iterdir()
    (run / "derived").mkdir(exist_ok=True)
    older = {"schema": 1, "operations": [{"name": "q01", "where": {"cpu_wait": 0.1}}]}
    (run / "derived" / "summary.json").write_text(json.dumps(older), encoding="utf-8")
    code, out, err = explained(capsys, runs)
    assert (code, err) == (0, "")
    assert "not accounted for" in " ".join(out.split())


class TestPlans:
    """What is told of plans, with CPU samples and without."""

    @pytest.fixture
    def planned(self, tmp_path: Path) -> Path:
        place = tmp_path / "planned"
        with_plans(write_run(place), tpch_plans())
        return place

    def test_a_run_without_samples_is_explained_by_its_plans(
        self, planned: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        code, out, err = explained(capsys, planned)
        assert (code, err) == (0, "")
        assert "CPU samples   not measured, this run took no CPU samples" in out
        assert "48 % TABLE_SCAN lineitem" in out
        assert "--operation NAME" in out
        document = as_document(capsys, planned)
        assert document["profile"] is None
        assert set(document["plans"]) == {"q01", "q02", "q03"}

    def test_one_operation_has_its_plan(
        self, planned: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        _, out, _ = explained(capsys, planned, "latest", "--operation", "q03")
        assert "Plan of q03: execution" in out
        assert "TABLE_SCAN lineitem" in out
        assert "Plan of q01" not in out
        document = as_document(capsys, planned, "latest", "--operation", "q03")
        assert [plan["operation"] for plan in document["plans"]] == ["q03"]

    def test_an_operation_without_a_plan_says_why(
        self, runs: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        code, out, _ = explained(capsys, runs, "latest", "--operation", "q03")
        assert code == 0
        assert "Plan          not measured, the record is older than plans are" in out

    def test_plans_of_two_runs_are_compared(
        self, planned: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        first, second, third = tpch_plans()
        other = replace(third, root=replace(third.root, native="ORDER_BY", operator="sort"))
        with_plans(write_run(planned, run_id=OTHER), [first, second, other])
        code, out, err = explained(capsys, planned, "latest", "--against", "abc123")
        assert (code, err) == (0, "")
        assert "CPU samples: not compared" in out
        assert "executed in another way in 1 of 3 operations" in out
        assert "ORDER_BY, not TOP_N" in " ".join(out.split())
        arguments = ("latest", "--against", "abc123", "--operation", "q03")
        _, out, _ = explained(capsys, planned, *arguments)
        assert "* ORDER_BY" in out
        document = as_document(capsys, planned, *arguments)
        assert document["difference"] is None
        (plans,) = document["plans"]
        assert (plans["operation"], plans["changed"], plans["ours_s"]) == ("q03", True, 0.2)
        assert [change["kind"] for change in plans["changes"]] == ["method"]

    def test_a_run_without_plans_is_not_compared_by_them(
        self, runs: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with_plans(as_sampled(write_run(runs, run_id=OTHER)), tpch_plans())
        code, out, _ = explained(capsys, runs, "latest", "--against", "abc123")
        assert code == 0
        assert "20261120T101500Z-tpch-duckdb-abc123 has none" in " ".join(out.split())

    @pytest.mark.parametrize(
        "options",
        [
            ("latest", "--unclassified"),
            ("latest", "--style", "article"),
            ("latest", "--open-families"),
            ("latest", "--against", "latest", "--html", "x.html"),
        ],
    )
    def test_what_is_of_samples_alone_needs_them(
        self, planned: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
    ) -> None:
        code, out, err = explained(capsys, planned, *options)
        assert (code, out) == (1, "")
        assert "--profile" in err
        assert not Path("x.html").exists()

    def test_an_operation_that_is_not_there_is_refused(
        self, planned: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for options in (("--operation", "q04"), ("--operation", "q04", "--against", "latest")):
            code, _, err = explained(capsys, planned, "latest", *options)
            assert code == 1
            assert "'q04'" in err
            assert "did you mean" in err

    def test_damaged_plans_leave_everything_else(
        self, runs: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        directory = with_plans(as_sampled(write_run(runs, run_id=OTHER)), tpch_plans())
        (directory / "raw" / "plans" / "plans.json").write_text("{", encoding="utf-8")
        code, out, err = explained(capsys, runs, "latest", "--operation", "q01")
        assert code == 3
        assert "is not as it was sealed: raw/plans/plans.json" in " ".join(err.split())
        assert "plans.json cannot be read" in " ".join(out.split())
        assert "of CPU time in" in out
