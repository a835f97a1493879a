"""Steps of a diagnosis on made-up runs: which causes get a verdict, and what each run is given."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import polars as pl
import pytest

from assay.analysis.diagnose.judging import ALPHA, Judgement
from assay.analysis.diagnose.way import Untried
from assay.analysis.try_.calibration import Calibration, Record
from assay.model.finding import Advice, Finding
from assay.record.layout import STATUS_COMPLETE
from assay.record.reader import Run, took_s
from assay.record.seal import write_seal
from assay.report.diagnosis.document import diagnose_document, verdict_words
from assay.running.asked.request import RunRequest
from assay.study.diagnosing import racing, shortage, stages
from assay.study.diagnosing.candidates import Candidate, Slowing, candidates_of
from assay.study.diagnosing.stages import Diagnosing
from assay.study.several import Begun, Terms
from assay.study.variants import Planned
from tests.conftest import write_stream
from tests.records import OPERATIONS, write_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.diagnose.way import Step, Way
    from assay.report.documents.diagnose import Experimented
    from assay.study.variants import Study

REQUEST = RunRequest(workload="tpch", engine="duckdb", scale=0.01)
HISTORY = Calibration(Record(0, 0, 0, 0, None), {})
CHANGE = "threads=1"
DECLARED: dict[str, Experimented] = {
    "setting": {
        "kind": "setting",
        "changes": "a setting",
        "set_up": "",
        "undo": "",
        "stays": True,
        "gain_means": None,
    }
}


def cause(operation: str, method: str = "spill", advice: Advice | None = None) -> Finding:
    return Finding("It waits", 0.4, None, (), method, operations=(operation,), advice=advice)


def candidate(*causes: Finding, **request: Any) -> Candidate:
    first, *also = causes
    changed = REQUEST.changed(**(request or {"settings": {"threads": "1"}}))
    return Candidate(
        first, CHANGE, "setting", changed, by_plan=False, stays=True, expected=0.4, also=tuple(also)
    )


@dataclass
class Runs:
    """Makes the runs of a study: with a change, operations take some factor of their time.

    A change in `noisy` takes this factor longer in every other round.
    """

    place: Path
    factors: dict[str, float]
    noisy: dict[str, float] = field(default_factory=dict)
    run_s: float | None = None
    terms: Terms = field(default_factory=Terms)
    begun: list[Begun] = field(default_factory=list)
    compared: list[tuple[str, ...]] = field(default_factory=list)
    requests: dict[str, list[RunRequest]] = field(default_factory=dict)
    by_change: dict[str, dict[str, float]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    told_at: list[int] = field(default_factory=list)

    @property
    def directory(self) -> Path:
        return self.place

    @property
    def watcher(self) -> Any:
        return SimpleNamespace(remark=self.remark)

    def remark(self, text: str) -> None:
        self.remarks.append(text)
        self.told_at.append(len(self.begun))

    def begin(self, study: Study) -> None:
        """The study needs no directory."""

    def make(self, study: Study, terms: Terms) -> Any:
        part = next(part for part in study.parts if part.name in (terms.parts or ()))
        self.compared.append(terms.compared)
        seconds = (self.run_s or 0.0) * (len(self.begun) + len(part.variants))
        if self.terms.budget_s is not None and seconds > self.terms.budget_s:
            planned = SimpleNamespace(stands_for=(Planned(part.name, "", 1),))
            return SimpleNamespace(left_out=(planned,))
        for variant in part.variants:
            run_id = f"run-{len(self.begun)}"
            factors = self.by_change.get(variant.name, self.factors)
            factors = {} if variant == part.variants[0] else factors
            before = len(self.requests.get(variant.name, ()))
            noise = 0.001 * (len(self.begun) % 3) + self.noisy.get(variant.name, 0.0) * (before % 2)
            stretched(write_run(self.place, run_id=run_id), factors, noise)
            row = Begun(part.name, variant.name, 1, STATUS_COMPLETE, run_id, seconds=self.run_s)
            self.begun.append(row)
            self.requests.setdefault(variant.name, []).append(cast("RunRequest", variant.request))
        return SimpleNamespace(left_out=())


def stretched(directory: Path, factors: dict[str, float], noise: float) -> None:
    events = Run(directory).table("events")
    took = pl.col("finished_ns") - pl.col("started_ns")
    names = pl.col("operation").cast(pl.String)
    factor = names.replace_strict(factors, default=1.0, return_dtype=pl.Float64) * (1 + noise)
    rows = events.with_columns(
        (pl.col("started_ns") + (took * factor).round().cast(pl.Int64)).alias("finished_ns"),
        pl.col("phase", "operation", "outcome", "error").cast(pl.String),
    )
    write_stream(directory / "raw" / "events.arrows", rows.to_dicts())
    write_seal(directory)


def first_step(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    factors: dict[str, float],
    *able: Candidate,
    budget_s: float | None = None,
    noisy: dict[str, float] | None = None,
    run_s: float | None = None,
) -> tuple[Step, Runs]:
    """The first step of a diagnosis with these candidates, and its runs."""
    more = {"budget_s": budget_s, "noisy": noisy, "run_s": run_s}
    way, runs = whole_way(place, monkeypatch, factors, [list(able)], **more)
    return way.steps[0], runs


def whole_way(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    factors: dict[str, float],
    steps: list[list[Candidate]],
    *,
    budget_s: float | None = None,
    noisy: dict[str, float] | None = None,
    run_s: float | None = None,
    further: Sequence[Candidate] = (),
    slowed: Candidate | None = None,
    by_change: dict[str, dict[str, float]] | None = None,
    ends_s: float | None = None,
) -> tuple[Way, Runs]:
    """A diagnosis with these candidates of each step, and its runs."""
    runs = Runs(place, factors, noisy or {}, run_s, Terms(ends_s), by_change=by_change or {})
    monkeypatch.setattr(stages, "summarise", lambda _: SimpleNamespace(findings=(), time=None))
    monkeypatch.setattr(stages, "slowed_candidate", lambda *_: slowed)
    left = list(further)
    monkeypatch.setattr(stages, "further_candidates", lambda *_: [left.pop()] if left else [])
    monkeypatch.setattr(stages, "begun_in", lambda _: runs.begun)
    monkeypatch.setattr(
        stages, "candidates_of", lambda *_, **__: (steps.pop(0) if steps else [], [])
    )
    pilot = Run(write_run(place, run_id="pilot"))
    series = cast("Any", runs)
    way = Diagnosing(REQUEST, pilot, series, HISTORY, budget_s=budget_s).carry_out()
    return way, runs


def test_each_cause_of_a_change_gets_a_verdict_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = candidate(cause("q01"), cause("q03"))
    step, runs = first_step(tmp_path, monkeypatch, {"q03": 0.5}, both)
    verdicts = {tried.cause.key: tried.judgement.verdict for tried in step.tried}
    assert verdicts == {"spill:q01": "refuted", "spill:q03": "confirmed"}
    assert step.kept is not None
    assert step.kept.cause.key == "spill:q03"
    assert {tried.change for tried in step.tried} == {CHANGE}
    # Both causes are judged by the same runs.
    rounds = max(len(tried.rounds) for tried in step.tried)
    assert len(runs.requests[CHANGE]) == rounds


def test_causes_of_one_change_are_one_candidate(tmp_path: Path) -> None:
    run = Run(write_run(tmp_path))
    advice = Advice("named-setting", "threads", {"value": "1"}, 0.2)
    causes = [cause(name, advice=advice) for name in ("q01", "q02")]
    able, unable = candidates_of(run, causes, REQUEST, HISTORY)
    assert unable == []
    assert [[each.key for each in one.causes] for one in able] == [["spill:q01", "spill:q02"]]
    assert able[0].expected == pytest.approx(0.4)


def test_a_change_that_can_be_kept_is_tried_before_one_that_cannot(tmp_path: Path) -> None:
    """The durability of commits is only measured, so it must save twice as much to come first."""
    run = Run(write_run(tmp_path))
    request = RunRequest(workload="tpcc", engine="mariadb", durability="full", scale=1)
    kept = Advice("named-setting", "threads", {"value": "1"}, 0.2)
    measured = Advice("durability", "relaxed", {}, 0.3)
    causes = [
        replace(cause("q01", advice=measured), effect_share=0.3),
        replace(cause("q02", advice=kept), effect_share=0.2),
    ]
    able, _ = candidates_of(run, causes, request, HISTORY)
    assert [one.kind for one in able] == ["named-setting", "durability"]
    larger = [replace(causes[0], effect_share=0.6), causes[1]]
    able, _ = candidates_of(run, larger, request, HISTORY)
    assert able[0].kind == "durability"


def test_each_run_reverts_what_a_killed_run_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run without a change would otherwise be measured with a leftover index."""
    indexed = candidate(
        cause("q01", "missing-index"), changes={"index": "create"}, undo={"index": "drop"}
    )
    _, runs = first_step(tmp_path, monkeypatch, {"q01": 0.5}, indexed)
    for request in (*runs.requests[stages.BASELINE], *runs.requests[CHANGE]):
        assert request.undo == {"index": "drop"}
    assert {len(request.changes) for request in runs.requests[stages.BASELINE]} == {0}


def test_causes_that_a_kept_change_precedes_are_left_to_the_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The budget is not over, so it is no reason."""
    able = [candidate(cause("q01"))]
    able += [replace(candidate(cause("q02", f"other-{n}")), change=f"threads={n}") for n in (2, 3)]
    noisy = {"q01": 0.5, "q02": 0.98}
    step, _ = first_step(tmp_path, monkeypatch, noisy, *able, budget_s=1.0)
    assert step.kept is not None
    assert {untried.why for untried in step.left_out} == {stages.NEXT_STEP}


def test_a_change_that_makes_operations_fail_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(racing, "spoiled_by_change", lambda _: "operations fail with the change")
    step, _ = first_step(tmp_path, monkeypatch, {"q01": 0.5}, candidate(cause("q01")))
    assert [tried.judgement.verdict for tried in step.tried] == ["confirmed"]
    assert step.kept is None


def two_causes(operation: str) -> list[Candidate]:
    other = candidate(cause(operation, "stalls"))
    return [candidate(cause("q01")), replace(other, change="threads=2")]


def test_a_trial_without_a_verdict_in_sight_pauses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its runs would delay the verdict of the other, which is near."""
    noisy = {CHANGE: 0.35, "threads=2": 1.0}
    factors = {"q01": 0.5, "q02": 0.7}
    step, runs = first_step(tmp_path, monkeypatch, factors, *two_causes("q02"), noisy=noisy)
    verdicts = {tried.cause.key: tried.judgement.verdict for tried in step.tried}
    assert verdicts == {"spill:q01": "confirmed", "stalls:q02": "undecided"}
    assert len(runs.requests["threads=2"]) == racing.ROUNDS_TO_PREDICT
    assert len(runs.requests[CHANGE]) > racing.ROUNDS_TO_PREDICT


def test_a_trial_that_seems_to_gain_nothing_pauses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noisy = {CHANGE: 0.2, "threads=2": 0.6}
    factors = {"q01": 0.7, "q02": 1.0}
    step, runs = first_step(tmp_path, monkeypatch, factors, *two_causes("q02"), noisy=noisy)
    assert step.kept is not None
    assert len(runs.requests["threads=2"]) == racing.ROUNDS_MIN


def test_a_trial_that_takes_three_times_as_long_pauses_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slower, both = {"threads=2": {"q02": 5.0}}, [two_causes("q02")]
    noisy = {CHANGE: 0.1, "threads=2": 0.3}
    way, runs = whole_way(tmp_path, monkeypatch, {"q01": 0.7}, both, noisy=noisy, by_change=slower)
    assert way.steps[0].kept is not None
    assert len(runs.requests["threads=2"]) == 1


def test_what_cannot_be_tried_is_named_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    way, _ = whole_way(tmp_path, monkeypatch, {}, [[]])
    left = diagnose_document(way, [], DECLARED, HISTORY, 5.0)["left"]
    assert left.startswith("no known cause is left above noise. ")
    large, small = replace(cause("q01"), effect_share=0.4), replace(cause("q02"), effect_share=0.01)
    untried = tuple(Untried(each, "by hand") for each in (large, small))
    step = replace(way.steps[0], untriable=untried)
    left = diagnose_document(replace(way, steps=(step,)), [], DECLARED, HISTORY, 5.0)["left"]
    assert "above noise, apart from what cannot be tried: spill:q01 (40 %). " in left


def test_trials_without_a_verdict_in_sight_go_on_if_there_are_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noisy = {CHANGE: 1.0, "threads=2": 1.0}
    step, runs = first_step(tmp_path, monkeypatch, {}, *two_causes("q02"), noisy=noisy)
    assert step.kept is None
    assert {len(requests) for requests in runs.requests.values()} == {racing.TRIED_ROUNDS_MAX}


def test_a_step_with_a_confirmed_cause_does_not_wait_for_a_far_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next step tries the other cause with the change kept, where its share is larger."""
    step, runs = first_step(
        tmp_path, monkeypatch, {"q01": 0.5}, *two_causes("q02"), noisy={"threads=2": 1.0}
    )
    assert step.kept is not None
    assert step.kept.cause.key == "spill:q01"
    assert len(runs.requests["threads=2"]) < racing.ROUNDS_ENOUGH


def test_a_step_waits_for_a_cause_that_seems_to_be_larger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step, runs = first_step(
        tmp_path,
        monkeypatch,
        {"q01": 0.9, "q02": 0.001},
        *two_causes("q02"),
        noisy={"threads=2": 30.0},
    )
    assert step.kept is not None
    assert step.kept.cause.key == "stalls:q02"
    assert len(runs.requests["threads=2"]) > len(runs.requests[CHANGE])


def test_more_causes_are_tried_at_once_when_rounds_are_shorter_than_the_first_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first run loads the data, too."""
    able = [replace(candidate(cause(f"q0{n}", "other")), change=f"threads={n}") for n in (1, 2, 3)]
    pilot_s = took_s(Run(write_run(tmp_path / "of_old", run_id="pilot")))
    assert pilot_s is not None
    budget_s = 2 * shortage.ROUNDS_WANTED * pilot_s
    variants = []
    for run_s in (pilot_s, pilot_s / 2):
        place = tmp_path / str(run_s)
        _, runs = first_step(
            place,
            monkeypatch,
            {},
            *able,
            budget_s=budget_s,
            noisy=dict.fromkeys((f"threads={n}" for n in (1, 2, 3)), 1.0),
            run_s=run_s,
        )
        rounds = [[b.variant for b in runs.begun if b.part == f"step 1 round {n}"] for n in (1, 2)]
        variants.append([len(names) for names in rounds])
    assert variants == [[2, 2], [2, 4]]


def test_a_cause_that_kept_changes_removed_is_not_refuted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No plan changes any more, which says nothing about the run before."""
    claimed, earlier = cause("q01"), cause("q02", "plan-changed")
    steps = [[candidate(claimed)], [replace(candidate(earlier), by_plan=True)]]
    refuted = stages.Tried(earlier, CHANGE, "setting", Judgement("refuted", by_plan=True), ())
    monkeypatch.setattr(stages, "refuted_by_plans", lambda *_: [refuted] if not steps else [])
    monkeypatch.setattr(stages, "planned_part", lambda *_: None)
    way, _ = whole_way(tmp_path, monkeypatch, {"q01": 0.5}, steps)
    assert way.steps[0].kept is not None
    assert way.steps[1].tried == ()
    assert [untried.why for untried in way.steps[1].untriable] == [stages.REMOVED]


def test_a_step_does_not_wait_for_a_larger_cause_without_a_verdict_in_sight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    factors = {"q01": 0.9, "q02": 0.001}
    noisy = {CHANGE: 0.05, "threads=2": 2000.0}
    step, runs = first_step(tmp_path, monkeypatch, factors, *two_causes("q02"), noisy=noisy)
    assert step.kept is not None
    assert step.kept.cause.key == "spill:q01"
    assert len(runs.requests["threads=2"]) == racing.ROUNDS_TO_PREDICT


FURTHER = "work_mem not set"


def unadvised(operation: str) -> Candidate:
    return replace(candidate(cause(operation, "given-option")), change=FURTHER, gain_min=0.1)


@pytest.mark.parametrize(("factor", "began"), [(0.5, False), (1.0, True)])
def test_changes_that_no_finding_advises_begin_if_no_other_can_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, factor: float, *, began: bool
) -> None:
    advised, factors = [[candidate(cause("q01"))]], {"q01": factor}
    way, runs = whole_way(tmp_path, monkeypatch, factors, advised, further=[unadvised("q02")])
    first = [begun.variant for begun in runs.begun if begun.part.startswith("step 1 ")]
    assert (FURTHER in first) is began
    # Its place in the queue says nothing about a cause.
    assert FURTHER not in {untried.change for untried in way.steps[0].left_out}


@pytest.mark.parametrize(
    ("factor", "verdict"), [(0.5, "confirmed"), (0.95, "refuted"), (1.0, "refuted")]
)
def test_without_a_finding_only_a_large_gain_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, factor: float, verdict: str
) -> None:
    changes = [unadvised("q02")]
    way, _ = whole_way(tmp_path, monkeypatch, {"q02": factor}, [[]], further=changes)
    (tried,) = way.steps[0].tried
    assert tried.judgement.verdict == verdict
    assert (way.steps[0].kept is not None) is (verdict == "confirmed")


def test_a_resource_is_slowed_if_the_optimiser_would_use_no_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Indexes that might be used are no reason to leave it out."""
    monkeypatch.setattr(stages, "planned_part", lambda *_: None)
    wide = replace(unadvised("q01"), kind="index", change="index of t (a)")
    bound = replace(candidate(cause("q02", "bound-by")), change="cpu slowed by the factor 2")
    way, runs = whole_way(tmp_path, monkeypatch, {}, [[]], further=[wide], slowed=bound)
    assert {tried.change for tried in way.steps[0].tried} == {bound.change}
    assert set(runs.requests) == {stages.BASELINE, bound.change}


def slowed_cpu() -> Candidate:
    """The CPU, slowed by the factor 2."""
    slowing = Slowing(2.0, "cpu measured, not slowed", REQUEST.changed(slow={"cpu": 1.0}))
    bound = candidate(replace(cause("q01", "bound-by"), operations=()), slow={"cpu": 2.0})
    return replace(bound, change="cpu slowed by the factor 2", slowing=slowing, stays=False)


@pytest.mark.parametrize(
    ("noise", "rounds"),
    [(0.7, (racing.AIMLESS_ROUNDS_MAX + 1, racing.TRIED_ROUNDS_MAX - 1)), (6.0, (5, 5))],
)
def test_a_slowed_resource_goes_on_while_its_verdict_is_in_sight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noise: float, rounds: tuple[int, int]
) -> None:
    bound = slowed_cpu()
    factors = dict.fromkeys(OPERATIONS, 1.5)
    noisy = {bound.change: noise}
    way, runs = whole_way(tmp_path, monkeypatch, factors, [[]], slowed=bound, noisy=noisy)
    (tried,) = way.steps[0].tried
    count = len(runs.requests[bound.change])
    assert rounds[0] <= count <= rounds[1]
    assert tried.judgement.verdict == ("undecided" if noise > 1 else "confirmed")
    # Rounds that the diagnosis would not make are not promised.
    assert " more would" not in verdict_words(tried.judgement, 5.0)


class TestShortBudget:
    """The events of the run before the rounds take 3.3 s."""

    @pytest.mark.parametrize(
        ("ends_s", "told_at"), [(12.0, 0), (22.0, 2), (60.0, None)], ids=["pilot", "round", "long"]
    )
    def test_it_is_told_as_soon_as_it_is_certain(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        ends_s: float,
        told_at: int | None,
    ) -> None:
        """A round of two runs takes 10 s, and three rounds are needed."""
        able = [[candidate(cause("q01"))]]
        way, runs = whole_way(tmp_path, monkeypatch, {"q01": 0.5}, able, run_s=5.0, ends_s=ends_s)
        assert (runs.told_at or [None])[0] == told_at
        assert len(runs.remarks) == (told_at is not None)
        left = diagnose_document(way, [], DECLARED, HISTORY, 5.0)["left"]
        assert ("--budget" in left) is (told_at is not None)
        if told_at is not None:
            assert way.shortage is not None
            assert way.shortage.enough_s == pytest.approx(30.0, abs=0.1)
            assert left.startswith(runs.remarks[0])
            assert "too short for 3 rounds" in left
            assert "--budget 40s" in left

    @pytest.mark.parametrize(
        ("rounds_needed", "words"),
        [(3, "--budget 40s"), (9, "too short for 9 rounds"), (9, "--budget 100s"), (40, "vary")],
    )
    def test_it_is_long_enough_for_rounds_that_vary_as_those_before(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        rounds_needed: int,
        words: str,
    ) -> None:
        able = [[candidate(cause("q01"))]]
        way, _ = whole_way(tmp_path, monkeypatch, {"q01": 0.5}, able, run_s=5.0, ends_s=22.0)
        (tried,) = way.steps[0].tried
        judgement = replace(tried.judgement, verdict="undecided", rounds_needed=rounds_needed)
        step = replace(way.steps[0], tried=(replace(tried, judgement=judgement),))
        document = diagnose_document(replace(way, steps=(step,)), [], DECLARED, HISTORY, 5.0)
        assert words in document["left"]

    def test_plans_of_the_first_round_may_give_a_verdict(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        able = [[replace(candidate(cause("q01")), by_plan=True)]]
        _, runs = whole_way(tmp_path, monkeypatch, {}, able, run_s=5.0, ends_s=12.0)
        assert 0 not in runs.told_at

    def test_the_comparison_with_the_nearest_verdict_is_the_most_important(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        noisy = {CHANGE: 1.0}
        factors = {"q01": 0.5, "q02": 0.99}
        _, runs = first_step(tmp_path, monkeypatch, factors, *two_causes("q02"), noisy=noisy)
        assert runs.compared[0] == (stages.BASELINE, CHANGE, "threads=2")
        assert (stages.BASELINE, "threads=2", CHANGE) in runs.compared


class TestTheErrorProbability:
    """All trials of a step are wrong with a probability of 5 % together."""

    @pytest.mark.parametrize("counts", [(0, 2), (2, 0), (1, 3), (3, 1)])
    def test_it_is_shared(self, counts: tuple[int, int]) -> None:
        advised, further = ([candidate(cause("q01"))] * count for count in counts)
        queue = racing.trials(advised, further)
        alphas = [trial.alpha for trial in (*queue.advised, *queue.further)]
        assert sum(alphas) == pytest.approx(ALPHA)

    def test_most_of_it_is_for_what_findings_advise(self) -> None:
        queue = racing.trials([candidate(cause("q01"))], [unadvised("q02")])
        assert queue.advised[0].alpha == pytest.approx(0.8 * ALPHA)
