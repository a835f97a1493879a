"""A study's runs are carried out in its order, and its file says at every moment how far it is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from assay.engines.contract import EngineError
from assay.model.errors import RunFailedError, UsageError
from assay.record.layout import SCHEMA_VERSION
from assay.record.studies import STUDY_FILE, read_study, read_study_file
from assay.running.asked.request import RunRequest
from assay.running.telling import Teller
from assay.study.earlier import same
from assay.study.several import (
    Begun,
    Means,
    Outcome,
    Terms,
    begun_in,
    carry_out,
    remaining,
)
from assay.study.variants import Part, Planned, Study, Variant

BASE = RunRequest(workload="w", engine="e", scale=1.0)
SEED_2 = BASE.changed(seed=2)
PART = Part("p", (Variant("a", BASE), Variant("b", SEED_2)), 3)
STUDY = Study("?", (PART,), 1)
ORDER = [run.stands_for[0] for run in STUDY.order()]
OTHER = Part("other", (Variant("same", SEED_2), Variant("c", BASE.changed(seed=3))), 2)
SHARING = Study("?", (PART, OTHER), 1)
RUN_S = 10.0


class Told:
    """A teller that remembers."""

    def __init__(self) -> None:
        self.runs: list[tuple[int, int, Planned]] = []
        self.left: list[float | None] = []
        self.budget: list[float | None] = []
        self.failures: list[str] = []

    def run(
        self, number: int, of: int, planned: Planned, left_s: float | None, budget_s: float | None
    ) -> None:
        self.runs.append((number, of, planned))
        self.left.append(left_s)
        self.budget.append(budget_s)

    def failed(self, reason: str) -> None:
        self.failures.append(reason)

    def record(self, directory: Path) -> None:
        pass

    def phase(self, name: str, begun_s: float | None = None) -> None:
        pass

    def amount(self, done: float, expected: float | None, unit: str) -> None:
        pass


def left(lab: Laboratory, study: Study = STUDY) -> int | None:
    """How many runs are left of the newest of the same studies; None: there is none."""
    newest = next(same(lab.place.parent, study, {}), None)
    return None if newest is None else len(remaining(study, begun_in(newest)))


class Laboratory:
    """Stands for what carries out one run, on a clock of its own; `ends` makes one end otherwise.

    With `obtains` no run has a record before it ends.
    """

    def __init__(self, place: Path) -> None:
        self.place = place
        self.asked: list[RunRequest] = []
        self.ends: Callable[[int], None] = lambda number: None
        self.seen: list[list[Begun]] = []
        self.now_s = 100.0
        self.takes_s: Callable[[RunRequest], float] = lambda request: RUN_S
        self.has_record = True

    def __call__(self, request: RunRequest, runs: Path, teller: Teller) -> Path:
        self.asked.append(request)
        directory = runs / f"run-{len(self.asked)}"
        if self.has_record:
            directory.mkdir(parents=True, exist_ok=True)
            facts = {"schema": SCHEMA_VERSION, "id": directory.name, "status": "complete"}
            (directory / "run.json").write_text(json.dumps(facts))
            teller.record(directory)
        self.seen.append(begun_in(self.place))
        self.now_s += self.takes_s(request)
        self.ends(len(self.asked))
        return directory


@pytest.fixture
def lab(tmp_path: Path) -> Laboratory:
    return Laboratory(tmp_path / "studies" / "study")


def carried_out(
    lab: Laboratory,
    teller: Told | None = None,
    study: Study = STUDY,
    terms: Terms | None = None,
    expected_s: float | None = None,
) -> Outcome:
    means = Means(lab, lambda _: expected_s, lambda: lab.now_s)
    runs = lab.place.parent.parent
    return carry_out(study, lab.place, runs, teller or Told(), terms=terms, means=means)


def document(lab: Laboratory) -> dict[str, object]:
    return read_study_file(lab.place / STUDY_FILE)


def raising(at: int, error: BaseException) -> Callable[[int], None]:
    def ends(number: int) -> None:
        if number == at:
            raise error

    return ends


class TestInItsOrder:
    def test_every_run_is_asked_for(self, lab: Laboratory) -> None:
        teller = Told()
        outcome = carried_out(lab, teller)
        assert [run.planned for run in outcome.complete] == ORDER
        assert [run.id for run in outcome.complete] == [f"run-{number}" for number in range(1, 7)]
        assert lab.asked == [run.request for run in STUDY.order()]
        assert teller.runs == [(at, 6, planned) for at, planned in enumerate(ORDER, 1)]
        assert tuple(begun_in(lab.place)) == outcome.complete
        assert outcome.status == document(lab)["status"] == "complete"
        assert "reason" not in document(lab)

    @pytest.mark.parametrize("damage", ["gone", "torn"])
    def test_a_run_whose_record_is_lost_is_made_again(self, lab: Laboratory, damage: str) -> None:
        outcome = carried_out(lab)
        lost = lab.place.parent.parent / str(outcome.complete[2].id)
        (lost / "run.json").write_text("{")
        if damage == "gone":
            shutil.rmtree(lost)
        carried_out(lab)
        assert len(lab.asked) == len(ORDER) + 1
        assert lab.asked[-1] == lab.asked[2]
        assert document(lab)["status"] == "complete"

    def test_a_run_is_named_from_the_moment_that_it_has_a_record(self, lab: Laboratory) -> None:
        carried_out(lab)
        for number, seen in enumerate(lab.seen, 1):
            assert [begun_run.status for begun_run in seen] == ["complete"] * (number - 1) + [
                "running"
            ]

    def test_how_long_it_takes_is_known_from_the_first_run_on(self, lab: Laboratory) -> None:
        teller = Told()
        carried_out(lab, teller, expected_s=4.0)
        assert teller.left == [24.0, 50.0, 40.0, 30.0, 20.0, 10.0]

    def test_where_nothing_is_known_nothing_is_told(self, lab: Laboratory) -> None:
        teller = Told()
        carried_out(lab, teller)
        assert teller.left[:2] == [None, 50.0]
        assert teller.budget == [None] * 6

    def test_a_run_of_two_parts_is_made_once_and_is_of_both(self, lab: Laboratory) -> None:
        outcome = carried_out(lab, study=SHARING)
        assert len(lab.asked) == 8
        assert len(outcome.complete) == 10
        by_planned = {run.planned: run.id for run in outcome.complete}
        for number in (1, 2):
            shared = by_planned[Planned("other", "same", number)]
            assert shared == by_planned[Planned("p", "b", number)]
        (same_1, *_) = [run for run in read_study(lab.place).complete if run.variant == "same"]
        assert same_1.part == "other"


class TestEndedEarly:
    @pytest.mark.parametrize(
        ("error", "word", "reason"),
        [
            (KeyboardInterrupt(), "interrupted", "stopped by Ctrl-C"),
            (RunFailedError("the disk is full"), "failed", "the disk is full"),
        ],
    )
    def test_it_says_so_and_goes_on_where_it_ended(
        self, lab: Laboratory, error: BaseException, word: str, reason: str
    ) -> None:
        lab.ends = raising(4, error)
        with pytest.raises(type(error)):
            carried_out(lab)
        assert (document(lab)["status"], document(lab)["reason"]) == (word, reason)
        begun = begun_in(lab.place)
        assert [begun_run.status for begun_run in begun] == ["complete"] * 3 + [word]
        assert begun[3].reason == reason
        assert left(lab)
        lab.ends = lambda number: None
        teller = Told()
        outcome = carried_out(lab, teller)
        assert [run.planned for run in outcome.complete] == ORDER
        assert [number for number, _, _ in teller.runs] == [4, 5, 6]
        assert outcome.status == "complete"
        assert left(lab) == 0

    def test_what_was_killed_is_not_taken_for_done(self, lab: Laboratory) -> None:
        lab.ends = raising(2, RunFailedError("x"))
        with pytest.raises(RunFailedError):
            carried_out(lab)
        file = lab.place / STUDY_FILE
        file.write_text(file.read_text().replace('status = "failed"', 'status = "running"'))
        lab.ends = lambda number: None
        assert len(carried_out(lab).complete) == 6
        assert [begun_run.status for begun_run in begun_in(lab.place)].count("running") == 1

    def test_one_that_is_refused_before_it_has_a_record_has_none(self, lab: Laboratory) -> None:
        lab.has_record, lab.ends = False, raising(1, RunFailedError("no such engine"))
        with pytest.raises(RunFailedError):
            carried_out(lab)
        (begun,) = begun_in(lab.place)
        assert (begun.id, begun.status, begun.reason) == (None, "failed", "no such engine")
        assert read_study(lab.place).runs[0].path is None

    def test_a_place_that_cannot_be_written_is_told_with_the_mend(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(UsageError, match="name another directory with --runs"):
            carry_out(STUDY, tmp_path / "file" / "study", tmp_path, Told())


class TestGoingOn:
    TERMS = Terms(goes_on=True)

    @pytest.mark.parametrize(
        ("error", "reason"),
        [
            (EngineError("no such server"), "no such server"),
            (
                ZeroDivisionError("by zero"),
                "this is a defect of Assay (ZeroDivisionError: by zero)",
            ),
        ],
    )
    def test_a_run_that_fails_is_noted_and_the_others_are_made(
        self, lab: Laboratory, error: Exception, reason: str
    ) -> None:
        lab.ends = raising(2, error)
        teller = Told()
        outcome = carried_out(lab, teller, terms=self.TERMS)
        assert len(lab.asked) == 6
        assert len(outcome.complete) == 5
        assert teller.failures == [reason]
        assert outcome.status == "failed"
        assert document(lab)["reason"] == "1 of 6 runs failed"
        (missing,) = read_study(lab.place).missing()
        assert (missing.status, missing.reason) == ("failed", reason)

    def test_it_is_tried_again_by_the_same_command(self, lab: Laboratory) -> None:
        lab.ends = raising(2, EngineError("no such server"))
        carried_out(lab, terms=self.TERMS)
        assert carried_out(lab, terms=self.TERMS).status == "complete"
        assert len(lab.asked) == 7
        assert read_study(lab.place).missing() == []
        assert "reason" not in document(lab)

    def test_ctrl_c_ends_it_all_the_same(self, lab: Laboratory) -> None:
        lab.ends = raising(2, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            carried_out(lab, terms=self.TERMS)
        assert len(lab.asked) == 2


class TestBudget:
    @pytest.mark.parametrize(("budget_s", "made"), [(19.0, 0), (20.0, 2)])
    def test_a_comparison_is_not_begun_if_only_half_of_it_fits(
        self, lab: Laboratory, budget_s: float, made: int
    ) -> None:
        names = ("as it is", "changed")
        variants = tuple(Variant(name, BASE.changed(seed=at)) for at, name in enumerate(names))
        study = Study("Which?", (Part("round 1", variants, 1, apart=True),))
        terms = Terms(budget_s, frozenset({"round 1"}), compared=names)
        outcome = carried_out(lab, study=study, terms=terms, expected_s=RUN_S)
        assert len(lab.asked) == made
        assert len(outcome.left_out) == len(names) - made

    def test_no_run_is_begun_that_would_end_after_it(self, lab: Laboratory) -> None:
        teller = Told()
        outcome = carried_out(lab, teller, terms=Terms(45.0), expected_s=RUN_S)
        assert len(lab.asked) == 4
        assert teller.budget == [45.0, 35.0, 25.0, 15.0]
        assert [run.stands_for[0] for run in outcome.left_out] == ORDER[4:]
        assert outcome.needs_s == 60.0
        assert outcome.status == "partial"
        assert document(lab)["reason"] == "a budget of 45 s leaves out 2 of 6 runs"
        assert document(lab)["spent_s"] == 40.0
        assert {run.status for run in read_study(lab.place).missing()} == {"left out"}

    def test_a_run_that_fits_is_made_though_one_before_it_did_not(self, lab: Laboratory) -> None:
        lab.takes_s = lambda request: 30.0 if request.seed == 2 else 1.0
        outcome = carried_out(lab, terms=Terms(50.0), expected_s=1.0)
        assert [run.variant for run in outcome.complete].count("a") == 3
        assert [run.variant for run in outcome.complete].count("b") == 1

    def test_what_it_took_before_counts_and_a_larger_one_goes_on(self, lab: Laboratory) -> None:
        carried_out(lab, terms=Terms(25.0), expected_s=RUN_S)
        assert len(lab.asked) == 2
        lab.now_s += 1000
        carried_out(lab, terms=Terms(25.0), expected_s=RUN_S)
        assert len(lab.asked) == 2
        assert carried_out(lab, terms=Terms(60.0), expected_s=RUN_S).status == "complete"
        assert len(lab.asked) == 6

    def test_nothing_is_run_where_not_even_the_first_fits(self, lab: Laboratory) -> None:
        outcome = carried_out(lab, terms=Terms(5.0), expected_s=RUN_S)
        assert (lab.asked, outcome.complete, len(outcome.left_out)) == ([], (), 6)


class TestParts:
    def test_only_those_that_are_wanted_are_made(self, lab: Laboratory) -> None:
        teller = Told()
        only = Terms(parts=frozenset({"other"}))
        outcome = carried_out(lab, teller, SHARING, only)
        assert len(lab.asked) == 4
        assert {planned.part for _, _, planned in teller.runs} == {"other"}
        assert outcome.status == "partial"
        assert document(lab)["reason"] == "only other was asked for, which leaves out 4 of 8 runs"
        assert carried_out(lab, study=SHARING).status == "complete"
        assert len(lab.asked) == 8


class TestTheSameStudy:
    def test_only_the_same_goes_on(self, lab: Laboratory) -> None:
        lab.ends = raising(2, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            carried_out(lab)
        studies = lab.place.parent
        larger = Variant("a", BASE.changed(scale=2.0))
        assert left(lab, Study("?", (replace(PART, variants=(larger,)),))) is None
        assert left(lab, replace(STUDY, seed=3)) is None
        assert next(same(studies, STUDY, {"run": "another"}), None) is None
        (studies / "torn").mkdir()
        (studies / "torn" / STUDY_FILE).write_text("schema = [")
        assert list(same(studies, STUDY, {})) == [lab.place]
        assert left(lab) == 5

    def test_words_figures_and_repetitions_may_differ(self, lab: Laboratory) -> None:
        carried_out(lab)
        more = Study("?!", (replace(PART, repetitions=4, about="More."),), 1, "A title")
        assert list(same(lab.place.parent, more, {})) == [lab.place]
        assert left(lab, more) == 2
        assert len(carried_out(lab, study=more).complete) == 8
        assert len(lab.asked) == 8
        assert read_study(lab.place).title == "A title"
