"""Several runs are made in one way: found again, gone on with, judged, and never begun in vain."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from assay.engines.contract import EngineError
from assay.model.errors import UsageError
from assay.record.studies import STUDIES_DIR, read_study
from assay.running.asked.request import RunRequest
from assay.study.series import Purpose, Series, documents_made_before
from assay.study.several import Terms
from assay.study.variants import Part, Study, Variant
from assay.verbs.shared.watching import Logged

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
    series = Series(purpose, place, heard, Terms(), again)
    directory = series.begin(study)
    series.make(study)
    return directory, heard


def test_runs_are_made_and_judged_each_with_its_document(tmp_path: Path) -> None:
    directory, heard = made(tmp_path)
    record = read_study(directory)
    assert [run.status for run in record.runs] == ["complete", "complete"]
    assert all((run.path / "derived" / "summary.json").is_file() for run in record.complete)
    assert heard.one_part == [True]
    assert directory.parent == (tmp_path / STUDIES_DIR).absolute()


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
    series = Series(growing, tmp_path, heard)
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
    with pytest.raises(UsageError, match="nothing"):
        Series(PURPOSE, tmp_path, Heard()).begin(STUDY, study)


def test_an_engine_that_cannot_be_had_ends_it_where_all_are_needed(tmp_path: Path) -> None:
    gone = BASE.changed(engine="postgresql", bin_dir=str(tmp_path / "nowhere"))
    study = replace(STUDY, parts=(Part("p", (Variant("a", BASE), Variant("b", gone)), 1),))
    with pytest.raises(EngineError, match="nowhere"):
        made(tmp_path, study)
    heard = Heard()
    series = Series(replace(PURPOSE, all_engines=False), tmp_path, heard, Terms(goes_on=True))
    directory = series.begin(study)
    series.make(study)
    assert sorted(run.status for run in read_study(directory).runs) == ["complete", "failed"]


def test_what_was_made_before_is_found_by_what_it_was_made_for(tmp_path: Path) -> None:
    made(tmp_path)
    (earlier,) = documents_made_before(tmp_path, {"made_by": "a test"})
    assert earlier["about"]["workloads"].keys() == {"tpch"}
    assert list(documents_made_before(tmp_path, {"made_by": "another"})) == []
