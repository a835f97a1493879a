"""Parts of a study: looks at the host, plans that are expected, and what a person has to allow."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assay.checks.expected_plan import expected_plan
from assay.cli.main import app
from assay.model.errors import UsageError
from assay.model.verdict import Verdict
from assay.record.reader import Run
from assay.record.studies import read_study, write_study
from assay.report.study.document import study_document
from assay.study.ceiling.trials import CeilingRequest
from assay.study.declared.expanding import Expanded, Wanted, expanded
from assay.study.declared.reading import find_declared, read_declared
from assay.study.pace import looked_s
from assay.study.preparing import considered_all
from tests.disk_runs import SCAN, Reading, scan_plan, write_ceiling, write_reading
from tests.plans import with_plans
from tests.records import write_run

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root sets the read-ahead of disks")
HEAD = '# Which?\ntitle = "T"\nworkload = "tpch"\nscale = 0.01\nengine = "duckdb"\n'
DISK = '[part.disk]\nkind = "ceiling"\n'
PLAIN = "[part.plain]\n"
AHEAD = '[part.ahead]\nfactor.read_ahead = ["0", "8KiB"]\n'


def study(folder: Path, text: str, **wanted: Any) -> Expanded:
    file = folder / "study.toml"
    file.write_text(HEAD + text, encoding="utf-8")
    return expanded(read_declared(file), Wanted(**wanted))


class TestCeilings:
    def test_a_look_at_the_host_is_a_run_like_others(self, tmp_path: Path) -> None:
        expansion = study(tmp_path, f"repetitions = 3\n{DISK}{PLAIN}")
        order = expansion.study.order()
        assert isinstance(order[0].request, CeilingRequest)
        assert [run.stands_for[0].part for run in order] == ["disk", "plain", "plain", "plain"]
        assert expansion.study.parts[0].kind == "ceiling"
        assert [asked_run.request for asked_run in considered_all(expansion.study)] == [
            order[1].request
        ]

    def test_a_short_one_has_all_sizes_and_shorter_trials(self, tmp_path: Path) -> None:
        requests = [
            study(tmp_path, DISK + PLAIN, quick=quick).study.order()[0].request
            for quick in (False, True)
        ]
        whole, short = (request for request in requests if isinstance(request, CeilingRequest))
        assert not short.quick
        assert short.size_bytes < whole.size_bytes
        assert looked_s(short) < looked_s(whole) / 2

    @pytest.mark.parametrize(
        "key", ['state = "cold"', "factor.scale = [1, 2]", 'expects.plan = ["sort"]']
    )
    def test_what_means_something_of_runs_only_is_refused(self, tmp_path: Path, key: str) -> None:
        with pytest.raises(UsageError, match="part of kind ceiling looks at the host"):
            study(tmp_path, f"{DISK}{key}\n{PLAIN}")

    def test_its_record_is_a_part_of_the_study_and_no_engines_run(self, tmp_path: Path) -> None:
        runs = {"disk": write_ceiling(tmp_path), "plain": write_reading(tmp_path, Reading())}
        document = study_document(read_study(written_study(tmp_path, runs)))
        assert [run_entry["engine"] for run_entry in document["runs"]] == [None, "DuckDB 2.0.0"]
        assert [part["runs"] for part in document["parts"]] == [1, 1]
        sizes, reads = document["figures"]
        assert sizes["measures"]
        assert reads["subjects"] == ["DuckDB"]


class TestPermission:
    def test_without_it_parts_that_others_notice_are_left_out(self, tmp_path: Path) -> None:
        expansion = study(tmp_path, PLAIN + AHEAD)
        assert [part.name for part in expansion.study.parts] == ["plain"]
        assert "--allow-host-changes takes it in" in expansion.without["ahead"]

    def test_with_it_they_are_taken_in_and_runs_may_do_it(self, tmp_path: Path) -> None:
        expansion = study(tmp_path, PLAIN + AHEAD, allow_host_changes=True)
        requests = [run.request.facts() for run in expansion.study.order()]
        assert {request["read_ahead_bytes"] for request in requests} == {None, 0, 8192}
        assert all(request["allow_host_changes"] for request in requests)

    def test_a_study_of_ones_own_may_allow_it(self, tmp_path: Path) -> None:
        expansion = study(tmp_path, f"allow_host_changes = true\n{PLAIN}{AHEAD}")
        assert not expansion.without

    def test_what_was_left_out_is_said_in_the_report(self, tmp_path: Path) -> None:
        runs = {"plain": write_reading(tmp_path, Reading())}
        directory = written_study(tmp_path, runs, without={"ahead": "nobody allowed it"})
        shown = study_document(read_study(directory))["not_shown"]
        assert {"what": "part ahead", "why": "nobody allowed it"} in shown

    @needs_root
    def test_the_command_says_how_to_take_them_in(self) -> None:
        runner, arguments = CliRunner(), ["studies", "show", "q1-index-scan", "--json"]
        form = json.loads(runner.invoke(app, arguments).stdout)["forms"]["whole"]
        assert "--allow-host-changes" in form["without"]["read-ahead"]
        allowed = runner.invoke(app, [*arguments, "--allow-host-changes"])
        assert not json.loads(allowed.stdout)["forms"]["whole"]["without"]


class TestExpectedPlans:
    def test_the_expected_one_is_valid(self, tmp_path: Path) -> None:
        run = Run(write_reading(tmp_path, Reading()))
        for steps in (["aggregate", SCAN], ["aggregate", "index scan lineitem"]):
            assert expected_plan(run, steps).verdict is Verdict.VALID

    @pytest.mark.parametrize(
        "steps",
        [
            ["sort", "aggregate", SCAN],
            ["aggregate"],
            ["aggregate", "scan lineitem"],
            ["aggregate", "index scan line"],
            ["aggregate", "index scan lineitem another_idx"],
        ],
    )
    def test_another_one_is_invalid_and_both_are_told(
        self, tmp_path: Path, steps: list[str]
    ) -> None:
        check_result = expected_plan(Run(write_reading(tmp_path, Reading())), steps)
        assert check_result.verdict is Verdict.INVALID
        assert f"aggregate over {SCAN}, and not {' over '.join(steps)}" in check_result.reason

    def test_one_that_nobody_saw_is_unknown(self, tmp_path: Path) -> None:
        check_result = expected_plan(Run(write_run(tmp_path)), ["sort"])
        assert check_result.verdict is Verdict.UNKNOWN
        assert "older than plans" in check_result.reason

    def test_the_study_says_which_runs_prove_nothing(self, tmp_path: Path) -> None:
        runs = {"plain": write_reading(tmp_path, Reading())}
        directory = written_study(tmp_path, runs, expects=["aggregate", "scan lineitem"])
        document = study_document(read_study(directory))
        assert document["verdict"] == "invalid"
        assert any(doubt_entry["check"] == "plan" for doubt_entry in document["doubts"])
        (reads,) = (figure for figure in document["figures"] if figure["kind"] == "series")
        assert any("prove nothing" in note for note in reads["notes"])


@needs_root
def test_ours_is_the_articles_query_over_the_data_of_tpch() -> None:
    declared = find_declared("q1-index-scan")
    expansion = expanded(declared, Wanted(quick=True, allow_host_changes=True))
    asked = considered_all(expansion.study)
    assert {asked_run.workload.data.facts.name for asked_run in asked} == {"tpch"}
    assert {asked_run.request.state for asked_run in asked} == {"cold"}
    assert [part.expects[-1] for part in expansion.study.parts if part.kind == "run"] == [SCAN] * 3
    assert scan_plan().root.operator == "aggregate"


def written_study(
    runs: Path,
    made: dict[str, Path],
    expects: list[str] | None = None,
    without: dict[str, str] | None = None,
) -> Path:
    """A study of one run a part, whose first figure is of looks at the disk."""
    directory = runs / "studies" / "20261122T110000000Z-study-disk-abc123"
    parts = [
        {
            "name": name,
            "repetitions": 1,
            "kind": "ceiling" if name == "disk" else "run",
            "expects": {"plan": expects} if expects else None,
            "variants": [{"name": name, "levels": {}, "request": {}}],
        }
        for name in made
    ]
    figures = [
        {"name": kind, "kind": kind, "parts": list(made), "options": {}}
        for kind in ("read_sizes", "series")
    ]
    entries = [
        {"part": name, "variant": name, "round": 1, "status": "complete", "id": path.name}
        for name, path in made.items()
    ]
    document = {"schema": 2, "question": "Which?", "seed": 1, "status": "complete"}
    declaration = {"parts": parts, "figures": figures, "runs": entries, "without": without}
    write_study(directory, {**document, **declaration})
    return directory


def test_a_run_written_for_these_tests_has_its_plan(tmp_path: Path) -> None:
    again = with_plans(write_run(tmp_path), [scan_plan("other_idx")])
    assert expected_plan(Run(again), ["aggregate", SCAN]).verdict is Verdict.INVALID
