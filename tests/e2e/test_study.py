"""A study of one's own is run, killed, gone on with and told, whatever its runs come to."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from assay.record.reader import Run
from assay.record.studies import StudyRecord, list_studies, read_study
from tests.e2e.conftest import PATIENCE_S, Lab, wait_until

STUDY = """\
# Are two threads faster than one?

title = "Threads"
workload = "tpch"
scale = 0.01
min_time = "100ms"
plans = false
quick = { budget = "1s" }

[part.threads]
factor."set.threads" = [1, 2]

[part.engines]
factor.engine = [
  { name = "one thread", set = { threads = 1 } },
  { name = "gone", engine = "postgresql@16", bin_dir = "./nowhere" },
]

[[figure]]
name = "threads"
part = "threads"
kind = "operations"
title = "Queries by threads"
"""


@pytest.fixture
def file(lab: Lab) -> Path:
    folder = lab.root / "mine"
    folder.mkdir()
    (folder / "study.toml").write_text(STUDY)
    return folder / "study.toml"


def record(lab: Lab) -> StudyRecord:
    (directory,) = list_studies(lab.runs)
    return read_study(directory)


def begun(lab: Lab) -> list[str]:
    """Names of the runs that the study's file knows."""
    if not list((lab.runs / "studies").glob("*/study.toml")):
        return []
    ids = [run.path.name for run in record(lab).runs if run.path is not None]
    return list(dict.fromkeys(ids))


def test_it_is_killed_and_goes_on_and_a_level_that_cannot_be_had_holds_nothing_up(
    lab: Lab, file: Path
) -> None:
    first = killed_in_its_second_run(lab, file)
    result = lab.assay("study", str(file))
    assert result.returncode == 2, result.stderr
    assert ": 1 of 3 runs are there" in result.stderr
    assert "failed: " in result.stderr
    assert "nowhere" in result.stderr
    assert "some runs failed; the same command tries them again" in result.stderr
    assert "Threads" in result.stdout

    study = record(lab)
    assert study.status == "failed"
    assert study.reason == "1 of 3 runs failed"
    ids = {(run.part, run.variant): run.path.name for run in study.complete if run.path}
    assert ids["engines", "one thread"] == ids["threads", "threads=1"]
    assert first in ids.values()
    (missing,) = study.missing()
    assert (missing.variant, missing.status) == ("gone", "failed")
    assert Run(lab.runs / ids["threads", "threads=2"]).facts["request"]["settings"] == {
        "threads": "2"
    }
    assert_it_is_read_again(lab, study)
    assert_the_same_command_repeats_nothing(lab, file, len(study.complete))
    lab.assert_nothing_left()


def killed_in_its_second_run(lab: Lab, file: Path) -> str:
    """Returns the id of the first run, which had ended."""
    started = lab.begin("study", str(file))

    def second_is_driven() -> bool:
        assert started.poll() is None, started.communicate()
        ids = begun(lab)
        return len(ids) == 2 and Run(lab.runs / ids[1]).has("events")

    wait_until(second_is_driven, "no second run")
    started.send_signal(signal.SIGKILL)
    started.communicate(timeout=PATIENCE_S)
    lab.assert_nothing_left()
    study = record(lab)
    assert study.status == "running"
    assert [run.status for run in study.runs][-1] == "running"
    assert lab.assay("report", study.directory.name).returncode == 0
    return begun(lab)[0]


def assert_it_is_read_again(lab: Lab, study: StudyRecord) -> None:
    assert (study.directory / "article.html").is_file()
    shown = lab.document("show", study.directory.name)
    assert shown["status"] == "failed"
    assert [figure["name"] for figure in shown["figures"]] == ["threads"]
    assert shown["figures"][0]["says"]


def assert_the_same_command_repeats_nothing(lab: Lab, file: Path, complete: int) -> None:
    """What ended well stays; what failed is tried again."""
    before = begun(lab)
    document = lab.document("study", str(file), code=2)
    assert document["status"] == "failed"
    assert begun(lab) == before
    assert len(record(lab).complete) == complete


def test_a_budget_that_nothing_fits_into_is_kept_and_told(lab: Lab, file: Path) -> None:
    result = lab.assay("study", str(file), "--quick", "--only", "threads")
    assert result.returncode == 0, result.stderr
    assert "left out: 3 runs" in result.stderr
    assert "--budget" in result.stderr
    assert record(lab).status == "partial"
    assert begun(lab) == []
    shown = json.loads(lab.assay("studies", "show", str(file), "--json").stdout)
    assert len(shown["forms"]["whole"]["order"]) == 3
    assert shown["forms"]["quick"]["budget_s"] == 1.0


def test_a_setting_that_an_engine_refuses_is_told_before_anything_is_run(
    lab: Lab, file: Path
) -> None:
    file.write_text(STUDY.replace("set.threads", "set.threds"))
    result = lab.assay("study", str(file))
    assert result.returncode == 1
    assert "part.threads (threds=1)" in result.stderr
    assert not lab.runs.exists()
