"""A study's runs are carried out in its order, and its file says at every moment how far it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from assay.model.errors import RunFailedError
from assay.record.studies import STUDY_FILE, read_study_file
from assay.study.request import RunRequest
from assay.study.several import Begun, begun_in, carry_out, unfinished
from assay.study.telling import Teller
from assay.study.variants import Study, Variant

BASE = RunRequest("w", "e", 1.0)
STUDY = Study("?", BASE, (Variant("a"), Variant("b", {"seed": 2})), 3, 1)
ORDER = [(one.round, one.variant) for one in STUDY.order()]


class Told:
    """A teller that remembers."""

    def __init__(self) -> None:
        self.runs: list[tuple[int, int, str]] = []
        self.left: list[float | None] = []

    def run(self, number: int, of: int, variant: str, left_s: float | None) -> None:
        self.runs.append((number, of, variant))
        self.left.append(left_s)

    def record(self, directory: Path) -> None:
        pass

    def phase(self, name: str, begun_s: float | None = None) -> None:
        pass

    def amount(self, done: float, expected: float | None, unit: str) -> None:
        pass


class Laboratory:
    """Stands for what carries out one run; `ends` makes one of them end otherwise."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.asked: list[RunRequest] = []
        self.ends: Callable[[int], None] = lambda number: None
        self.seen: list[list[Begun]] = []

    def __call__(self, request: RunRequest, runs: Path, teller: Teller) -> Path:
        self.asked.append(request)
        directory = runs / f"run-{len(self.asked)}"
        teller.record(directory)
        self.seen.append(begun_in(self.place))
        self.ends(len(self.asked))
        return directory


@pytest.fixture
def lab(tmp_path: Path) -> Laboratory:
    return Laboratory(tmp_path / "study")


def carried_out(lab: Laboratory, told: Told | None = None) -> list[Begun]:
    return carry_out(STUDY, lab.place, lab.place.parent, told or Told(), run_one=lab)


def status(lab: Laboratory) -> str:
    return str(read_study_file(lab.place / STUDY_FILE)["status"])


def raising(at: int, error: BaseException) -> Callable[[int], None]:
    def ends(number: int) -> None:
        if number == at:
            raise error

    return ends


def test_every_run_is_asked_for_in_the_order_of_the_study(lab: Laboratory) -> None:
    told = Told()
    done = carried_out(lab, told)
    assert [(one.round, one.variant) for one in done] == ORDER
    assert [one.id for one in done] == [f"run-{number}" for number in range(1, 7)]
    assert lab.asked == [STUDY.request(variant) for _, variant in ORDER]
    assert told.runs == [(at, 6, variant) for at, (_, variant) in enumerate(ORDER, 1)]
    assert begun_in(lab.place) == done
    assert status(lab) == "complete"


def test_a_run_is_named_from_the_moment_that_it_has_a_record(lab: Laboratory) -> None:
    carried_out(lab)
    for number, seen in enumerate(lab.seen, 1):
        assert [one.status for one in seen] == ["complete"] * (number - 1) + ["running"]


def test_how_long_it_takes_is_known_from_the_first_run_on(lab: Laboratory) -> None:
    told = Told()
    carry_out(STUDY, lab.place, lab.place.parent, told, expected_run_s=10.0, run_one=lab)
    assert told.left[0] == 60.0
    assert all(left is not None and left < 10 for left in told.left[1:])
    again = Told()
    (lab.place / STUDY_FILE).unlink()
    carried_out(lab, again)
    assert again.left[0] is None


@pytest.mark.parametrize(
    ("error", "word"),
    [(KeyboardInterrupt(), "interrupted"), (RunFailedError("the disk is full"), "failed")],
)
def test_what_ends_early_says_so_and_goes_on_where_it_ended(
    lab: Laboratory, error: BaseException, word: str
) -> None:
    lab.ends = raising(4, error)
    with pytest.raises(type(error)):
        carried_out(lab)
    assert status(lab) == word
    assert [one.status for one in begun_in(lab.place)] == ["complete"] * 3 + [word]
    document = read_study_file(lab.place / STUDY_FILE)
    assert document["reason"]
    assert unfinished(lab.place.parent, STUDY, {}) == lab.place
    lab.ends = lambda number: None
    told = Told()
    done = carried_out(lab, told)
    assert [(one.round, one.variant) for one in done] == ORDER
    assert [number for number, _, _ in told.runs] == [4, 5, 6]
    assert status(lab) == "complete"
    assert unfinished(lab.place.parent, STUDY, {}) is None


def test_only_the_same_study_goes_on(lab: Laboratory) -> None:
    lab.ends = raising(2, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        carried_out(lab)
    studies = lab.place.parent
    assert unfinished(studies, replace(STUDY, repetitions=4), {}) is None
    assert unfinished(studies, replace(STUDY, base=replace(BASE, scale=2.0)), {}) is None
    assert unfinished(studies, STUDY, {"run": "another"}) is None
    (studies / "torn").mkdir()
    (studies / "torn" / STUDY_FILE).write_text("schema = [")
    assert unfinished(studies, STUDY, {}) == lab.place


def test_what_was_killed_is_not_taken_for_done(lab: Laboratory) -> None:
    lab.ends = raising(2, RunFailedError("x"))
    with pytest.raises(RunFailedError):
        carried_out(lab)
    file = lab.place / STUDY_FILE
    file.write_text(file.read_text().replace('status = "failed"', 'status = "running"'))
    lab.ends = lambda number: None
    assert len(carried_out(lab)) == 6
    assert [one.status for one in begun_in(lab.place)].count("running") == 1


def test_a_request_that_is_refused_leaves_no_run(lab: Laboratory) -> None:
    def refuse(request: RunRequest, runs: Path, teller: Teller) -> Path:
        raise RunFailedError("no such engine")

    with pytest.raises(RunFailedError):
        carry_out(STUDY, lab.place, lab.place.parent, Told(), run_one=refuse)
    assert begun_in(lab.place) == []
    assert status(lab) == "failed"


def test_a_place_that_cannot_be_written_is_told_with_the_mend(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFailedError, match="name another place with --runs"):
        carry_out(STUDY, tmp_path / "file" / "study", tmp_path, Told())
