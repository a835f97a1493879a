"""Several runs are made in one way: found again, gone on with, judged, and never begun in vain."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay.engines.contract import EngineError
from assay.model.errors import UsageError
from assay.record.studies import STUDIES_DIR, read_study
from assay.running.asked.request import RunRequest
from assay.study.series import Purpose, Series, documents_made_before, made_pilot
from assay.study.several import Terms
from assay.study.study_lock import only_process
from assay.study.variants import Part, Study, Variant
from assay.verbs.shared.watching import Logged

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
BASE = RunRequest(
    workload="tpch",
    engine="null",
    scale=0.01,
    operations=["q06"],
    min_time_s=0.0,
    probes=(),
    plans=False,
)
OTHER = BASE.changed(seed=2)
STUDY = Study("?", (Part("p", (Variant("a", BASE), Variant("b", OTHER)), 1),), 1)
PURPOSE = Purpose("test", "null", {"made_by": "a test"})


class Heard(Logged):
    """A watcher that remembers what it is told."""

    def __init__(self) -> None:
        self.remarks: list[str] = []
        self.one_part: list[bool] = []

    def remark(self, text: str) -> None:
        self.remarks.append(text)

    @contextmanager
    def making(self, directory: Path, *, one_part: bool) -> Iterator[Logged]:
        self.one_part.append(one_part)
        with super().making(directory, one_part=one_part) as teller:
            yield teller


def made(
    place: Path, study: Study = STUDY, purpose: Purpose = PURPOSE, *, again: bool = False
) -> tuple[Path, Heard]:
    heard = Heard()
    with Series(purpose, place, heard, Terms(), again) as series:
        directory = series.begin(study)
        series.make(study)
    return directory, heard


def test_runs_are_made_and_judged_each_with_its_document(tmp_path: Path) -> None:
    directory, heard = made(tmp_path)
    record = read_study(directory)
    assert [run.status for run in record.runs] == ["complete", "complete"]
    assert all((run.path / "derived" / "summary.json").is_file() for run in record.complete)
    assert heard.one_part == [True]
    assert list((tmp_path / STUDIES_DIR).absolute().iterdir()) == [directory]


def test_one_that_is_done_is_found_and_nothing_is_repeated(tmp_path: Path) -> None:
    first, _ = made(tmp_path)
    path, heard = made(tmp_path)
    assert path == first
    assert heard.remarks == ["all its runs are there, none is repeated (--again makes them anew)"]
    assert len(read_study(path).runs) == 2


def test_again_makes_them_anew(tmp_path: Path) -> None:
    first, _ = made(tmp_path)
    other, heard = made(tmp_path, again=True)
    assert other != first
    assert heard.remarks == []


def test_more_rounds_go_on_with_those_that_are_there(tmp_path: Path) -> None:
    first, _ = made(tmp_path)
    more = replace(STUDY, parts=(replace(STUDY.parts[0], repetitions=2),))
    path, heard = made(tmp_path, more)
    assert path == first
    assert heard.remarks == [f"going on with {first.name}: 2 of 4 runs are there"]
    assert len(read_study(path).complete) == 4


def test_one_that_grows_goes_on_with_more_parts(tmp_path: Path) -> None:
    growing = replace(PURPOSE, grows=True)
    more = replace(STUDY, parts=(*STUDY.parts, Part("q", (Variant("c", BASE.changed(seed=3)),), 1)))
    heard = Heard()
    with Series(growing, tmp_path, heard) as series:
        directory = series.begin(STUDY)
        series.make(STUDY)
        series.make(more)
    assert len(read_study(directory).complete) == 3
    assert heard.one_part == [False, False]
    path, heard = made(tmp_path, STUDY, growing)
    assert path == directory
    assert heard.remarks == [f"going on with {directory.name} (--again begins anew)"]


def test_what_would_be_refused_is_refused_before_the_first_run(tmp_path: Path) -> None:
    wrong = Variant("b", BASE.changed(operations=["nothing"]))
    study = replace(STUDY, parts=(Part("p", (STUDY.parts[0].variants[0], wrong), 1),))
    with pytest.raises(UsageError, match="nothing"):
        made(tmp_path, study)
    assert not (tmp_path / STUDIES_DIR).exists()
    with (
        pytest.raises(UsageError, match="nothing"),
        Series(PURPOSE, tmp_path, Heard()) as series,
    ):
        series.begin(STUDY, study)
    assert not (tmp_path / STUDIES_DIR).exists()


def test_an_engine_that_cannot_be_had_ends_it_where_all_are_needed(tmp_path: Path) -> None:
    gone = BASE.changed(engine="postgresql", bin_dir=str(tmp_path / "nowhere"))
    study = replace(STUDY, parts=(Part("p", (Variant("a", BASE), Variant("b", gone)), 1),))
    with pytest.raises(EngineError, match="nowhere"):
        made(tmp_path, study)
    heard = Heard()
    patient = replace(PURPOSE, all_engines=False)
    with Series(patient, tmp_path, heard, Terms(goes_on=True)) as series:
        directory = series.begin(study)
        series.make(study)
    assert sorted(run.status for run in read_study(directory).runs) == ["complete", "failed"]


def test_where_no_engine_can_be_had_nothing_is_begun(tmp_path: Path) -> None:
    gone = BASE.changed(engine="postgresql", bin_dir=str(tmp_path / "nowhere"))
    study = replace(STUDY, parts=(Part("p", (Variant("a", gone),), 2),))
    with (
        pytest.raises(EngineError, match="nowhere"),
        Series(replace(PURPOSE, all_engines=False), tmp_path, Heard()) as series,
    ):
        series.begin(study)
    assert not (tmp_path / STUDIES_DIR).exists()


BEGUN = """
from tests.unit.test_series import *
with Series(PURPOSE, Path(sys.argv[1]), Heard()) as series:
    series.begin(STUDY)
    print("begun", flush=True)
    sys.stdin.read()
"""


@contextmanager
def begun_elsewhere(place: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process, which has begun the same study and has made no run of it yet."""
    command = [sys.executable, "-c", BEGUN, str(place)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == "begun\n"
            yield other
        finally:
            other.kill()


def lock_files(runs: Path) -> list[Path]:
    return list((runs / STUDIES_DIR).glob(".*.lock"))


@pytest.mark.parametrize("again", [False, True])
def test_one_that_another_process_executes_is_refused(tmp_path: Path, *, again: bool) -> None:
    """Before its file is written, too; another study goes on beside it."""
    with begun_elsewhere(tmp_path) as other:
        refusal = f"another process is executing this study .process {other.pid}.: wait until"
        with pytest.raises(UsageError, match=refusal):
            made(tmp_path, again=again)
        made(tmp_path, replace(STUDY, seed=2))
        assert len(lock_files(tmp_path)) == 2
    # The lock of a killed process is free, though its file is still there until the next study.
    assert len(lock_files(tmp_path)) == 2
    made(tmp_path, replace(STUDY, seed=3))
    assert lock_files(tmp_path) == []
    directory, _ = made(tmp_path, again=again)
    assert [run.status for run in read_study(directory).runs] == ["complete", "complete"]


def test_a_directory_has_one_writer_whatever_the_command_asks_for(tmp_path: Path) -> None:
    directory, _ = made(tmp_path)
    with (
        only_process(tmp_path / STUDIES_DIR, directory.name),
        pytest.raises(UsageError, match=f"process {os.getpid()}"),
    ):
        made(tmp_path)


def test_a_run_before_a_series_is_made_by_one_process(tmp_path: Path) -> None:
    about = {"made_by": "a test"}
    names: list[str] = []

    class Second(Heard):
        def obtaining(self) -> AbstractContextManager[Logged]:
            names.extend(path.name for path in (tmp_path / STUDIES_DIR).iterdir())
            with pytest.raises(UsageError, match="another process"):
                made_pilot(BASE, tmp_path, Heard(), about)
            return super().obtaining()

    pilot = made_pilot(BASE, tmp_path, Second(), about)
    assert len(names) == 1
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == [pilot.dir]


def test_runs_that_cannot_be_written_are_refused_with_the_reason(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(UsageError, match="Too many levels of symbolic links"):
        made(loop)


def test_what_was_made_before_is_found_by_what_it_was_made_for(tmp_path: Path) -> None:
    made(tmp_path)
    (earlier,) = documents_made_before(tmp_path, {"made_by": "a test"})
    assert earlier["about"]["workloads"].keys() == {"tpch"}
    assert list(documents_made_before(tmp_path, {"made_by": "another"})) == []
