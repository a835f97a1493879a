"""Changes that a diagnosis kept, and that a later kept change made superfluous."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.analysis.diagnose.judging import SLOWER_MIN, judge_superfluous
from assay.analysis.diagnose.way import interactions
from assay.analysis.try_.trial import Times
from assay.record.reader import Run
from assay.report.diagnosis.document import diagnose_document, verdict_words
from assay.report.diagnosis.terminal import diagnosis_lines
from assay.running.asked.request import RunRequest
from assay.study.diagnosing.candidates import Candidate
from assay.study.diagnosing.racing import AIMLESS_ROUNDS_MAX
from assay.study.diagnosing.superfluous import Kept, superfluous_candidates
from tests.records import write_run
from tests.unit.test_diagnosing_stages import (
    DECLARED,
    HISTORY,
    candidate,
    cause,
    slowed_cpu,
    whole_way,
)

CACHE, INDEX = "cache=1GB", "index of t (a)"
REQUEST = RunRequest(workload="tpch", engine="duckdb", scale=0.01)


def setting(operation: str, before: RunRequest, **settings: str) -> Candidate:
    (name, value), *_ = settings.items()
    request = before.changed(settings={**before.settings, **settings})
    return replace(candidate(cause(operation)), change=f"{name}={value}", request=request)


def index(operation: str, before: RunRequest) -> Candidate:
    request = before.changed(prepare={**before.prepare, INDEX: "create index"})
    made = candidate(cause(operation, "missing-index"))
    return replace(made, change=INDEX, kind="index", request=request)


def kept(step: int, made: Candidate, before: RunRequest) -> Kept:
    return Kept(step, made, before, made.cause.operations)


def tried(place: Path, base: RunRequest, *changes: Kept) -> list[Candidate]:
    return superfluous_candidates(Run(write_run(place)), base, changes)


class TestCandidates:
    def test_a_setting_before_a_later_change(self, tmp_path: Path) -> None:
        cache = setting("q01", REQUEST, cache="1GB")
        later = index("q01", cache.request)
        first, second = kept(1, cache, REQUEST), kept(2, later, cache.request)
        (found,) = tried(tmp_path, later.request, first, second)
        assert found.change == f"without {CACHE}"
        assert found.request == index("q01", REQUEST).request
        assert found.cause.claim == (
            f"step 1 kept {CACHE}; {INDEX} (step 2) may have made it superfluous"
        )
        assert found.cause.certainty == "suspected"

    def test_the_user_s_own_value_comes_back(self, tmp_path: Path) -> None:
        before = REQUEST.changed(settings={"cache": "1MB"})
        cache = setting("q01", before, cache="1GB")
        later = index("q01", cache.request)
        (found,) = tried(tmp_path, later.request, kept(1, cache, before), kept(2, later, before))
        assert found.request.settings == {"cache": "1MB"}

    def test_an_index_before_a_later_change(self, tmp_path: Path) -> None:
        first = index("q01", REQUEST)
        cache = setting("q01", first.request, cache="1GB")
        changes = kept(1, first, REQUEST), kept(2, cache, first.request)
        (found,) = tried(tmp_path, cache.request, *changes)
        assert found.request == setting("q01", REQUEST, cache="1GB").request

    def test_none_right_after_it_was_kept(self, tmp_path: Path) -> None:
        cache = setting("q01", REQUEST, cache="1GB")
        assert tried(tmp_path, cache.request, kept(1, cache, REQUEST)) == []

    def test_none_if_the_later_change_is_for_other_operations(self, tmp_path: Path) -> None:
        cache = setting("q01", REQUEST, cache="1GB")
        later = index("q02", cache.request)
        changes = kept(1, cache, REQUEST), kept(2, later, cache.request)
        assert tried(tmp_path, later.request, *changes) == []

    def test_none_if_a_later_change_has_altered_it(self, tmp_path: Path) -> None:
        cache = setting("q01", REQUEST, cache="1GB")
        later = setting("q01", cache.request, cache="2GB")
        changes = kept(1, cache, REQUEST), kept(2, later, cache.request)
        assert tried(tmp_path, later.request, *changes) == []


def rounds(*without: float, other: float = 1.0) -> list[tuple[Times, Times]]:
    """Rounds of q01, which takes 1 s with the earlier change."""
    times = Times({"q01": 1.0, "q02": 1.0})
    return [(times, Times({"q01": seconds, "q02": other})) for seconds in without]


@pytest.mark.parametrize(
    ("pairs", "verdict", "said"),
    [
        (rounds(1.0, 1.01, 0.99, 1.0, 1.0), "confirmed", "no longer needed"),
        (rounds(1.02, 1.021, 1.019, 1.02, 1.02), "confirmed", "longer at most"),
        (rounds(0.8, 0.81, 0.79, 0.8, 0.8), "confirmed", "is shorter, by"),
        (rounds(1.5, 1.51, 1.49, 1.5, 1.5), "refuted", "still needed: without it the time of q01"),
        (rounds(1.0, 1.2, 0.9, 1.3, 1.0), "undecided", "5 rounds do not separate it from noise"),
        (rounds(1.0, 1.0, 1.01, 0.99, other=1.4), "refuted", "without it q02 takes longer"),
    ],
)
def test_a_small_loss_makes_a_change_superfluous(pairs: Any, verdict: str, said: str) -> None:
    judgement = judge_superfluous(pairs, ["q01"])
    assert judgement.verdict == verdict
    assert judgement.loss_min == SLOWER_MIN
    assert said in verdict_words(judgement, None)


@pytest.mark.parametrize(("factor", "is_needed"), [(1.0, False), (1.5, True)])
def test_a_diagnosis_leaves_out_a_change_that_is_no_longer_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, factor: float, *, is_needed: bool
) -> None:
    cache = setting("q01", REQUEST, cache="1GB")
    later = index("q01", cache.request)
    without = f"without {CACHE}"
    factors = {CACHE: {"q01": 0.5}, INDEX: {"q01": 0.5}, without: {"q01": factor}}
    bound = slowed_cpu()
    way, runs = whole_way(
        tmp_path, monkeypatch, {}, [[cache], [later]], by_change=factors, slowed=bound
    )
    assert [step.kept.change for step in way.steps[:2] if step.kept] == [CACHE, INDEX]
    assert without not in {each.change for step in way.steps[:2] for each in step.tried}
    third = way.steps[2]
    assert third.on_top_of == (CACHE, INDEX)
    assert (third.kept is None) is is_needed
    assert {each.settings.get("cache") for each in runs.requests[without]} == {None}
    sentences = list(interactions(way.steps))
    if is_needed:
        # The resource is slowed all the same.
        assert {each.change for each in third.tried} == {without, bound.change}
        assert sentences == []
    else:
        assert way.steps[3].on_top_of == (INDEX,)
        assert {each.change for each in way.steps[3].tried} == {bound.change}
        assert sentences == [
            f"{CACHE} saves time by itself, and is no longer needed once there is {INDEX}"
        ]


def test_the_terminal_says_that_a_change_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = setting("q01", REQUEST, cache="1GB")
    later = index("q01", cache.request)
    factors = {CACHE: {"q01": 0.5}, INDEX: {"q01": 0.5}}
    way, _ = whole_way(tmp_path, monkeypatch, {}, [[cache], [later]], by_change=factors)
    declared = dict.fromkeys(("setting", "index"), DECLARED["setting"])
    document = diagnose_document(way, [], declared, HISTORY, None)
    lines = list(diagnosis_lines({**document, "study": "", "page": None}, 100))
    assert "  CONFIRMED   superfluous:q01   left out from now on" in lines
    assert sum(line.endswith("   kept") for line in lines) == 2
    assert [point["change"] for point in document["way"]] == [
        None,
        CACHE,
        INDEX,
        f"without {CACHE}",
    ]
    (trial,) = document["steps"][2]["tried"]
    assert trial["recommended"]
    assert trial.get("takes_back") == CACHE


def test_a_trial_without_a_verdict_in_sight_leaves_time_to_slow_a_resource(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = setting("q01", REQUEST, cache="1GB")
    later = index("q01", cache.request)
    without = f"without {CACHE}"
    factors = {CACHE: {"q01": 0.5}, INDEX: {"q01": 0.5}}
    way, runs = whole_way(
        tmp_path,
        monkeypatch,
        {},
        [[cache], [later]],
        by_change=factors,
        noisy={without: 1.0},
        slowed=slowed_cpu(),
    )
    assert way.steps[2].kept is None
    assert len(runs.requests[without]) == AIMLESS_ROUNDS_MAX
    assert slowed_cpu().change in runs.requests


def test_a_change_that_was_left_out_is_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = setting("q01", REQUEST, cache="1GB")
    later = index("q01", cache.request)
    again = setting("q01", later.request.changed(settings={}), cache="1GB")
    factors = {CACHE: {"q01": 0.5}, INDEX: {"q01": 0.5}}
    way, _ = whole_way(
        tmp_path, monkeypatch, {}, [[cache], [later], [], [again]], by_change=factors
    )
    assert [step.kept.change for step in way.steps if step.kept] == [
        CACHE,
        INDEX,
        f"without {CACHE}",
    ]
    assert way.steps[3].tried == ()
