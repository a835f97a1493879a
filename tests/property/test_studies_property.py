"""Whatever a study asks: each combination has its turns, and going on adds up to the same runs."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from itertools import combinations as combinations_of
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.record.layout import SCHEMA_VERSION
from assay.record.studies import read_study
from assay.running.asked.request import RunRequest
from assay.running.telling import Teller
from assay.study.declared.levels import NamedLevel, combinations, merged
from assay.study.several import Means, Terms, carry_out
from assay.study.variants import Part, PlannedRun, Study, Variant

# How long an example takes says nothing of it.
ON_ANY_MACHINE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
NAMES = st.text("abcdef", min_size=1, max_size=3)
REQUESTS = st.integers(0, 4).map(
    lambda seed: RunRequest(workload="w", engine="e", scale=1.0, seed=seed)
)
PARTS = st.builds(
    Part,
    NAMES,
    st.lists(
        st.builds(Variant, NAMES, REQUESTS), min_size=1, max_size=4, unique_by=lambda v: v.name
    ).map(tuple),
    st.integers(1, 3),
)
STUDIES = st.builds(
    Study,
    st.just("?"),
    st.lists(PARTS, min_size=1, max_size=3, unique_by=lambda part: part.name).map(tuple),
    st.integers(0, 9),
)
ENDS = st.lists(st.sampled_from(["well", "fails", "stops", "dies"]), max_size=10)


class Silent:
    """A teller that tells nobody."""

    def run(self, *arguments: object) -> None:
        pass

    failed = record = phase = amount = run


class Laboratory:
    """Runs that end as they are told to; in the end all end well. One that dies writes nothing."""

    def __init__(self, ends: list[str]) -> None:
        self.ends = iter(ends)
        self.made: list[RunRequest] = []
        self.begun = 0

    def __call__(self, request: RunRequest, runs: Path, teller: Teller) -> Path:
        end = next(self.ends, "well")
        self.begun += 1
        directory = runs / f"run-{self.begun}"
        directory.mkdir()
        facts = {"schema": SCHEMA_VERSION, "id": directory.name, "status": "complete"}
        (directory / "run.json").write_text(json.dumps(facts), encoding="utf-8")
        teller.record(directory)
        if end == "fails":
            raise ValueError(end)
        if end == "stops":
            raise KeyboardInterrupt
        if end == "dies":
            raise SystemExit
        self.made.append(request)
        return directory


@settings(ON_ANY_MACHINE)
@given(STUDIES)
def test_each_variant_has_each_of_its_rounds_once_and_rounds_do_not_overlap(study: Study) -> None:
    order = study.order()
    planned = Counter(
        (operation.part, operation.variant, operation.round)
        for run in order
        for operation in run.stands_for
    )
    assert set(planned.values()) == {1}
    assert len(planned) == sum(len(part.variants) * part.repetitions for part in study.parts)
    rounds = [run.stands_for[0].round for run in order]
    assert rounds == sorted(rounds)
    # Equal requests of a round are two runs only where a part compares them.
    for planned_run, other in combinations_of(order, 2):
        if (rounds_of(planned_run), planned_run.request) == (rounds_of(other), other.request):
            assert parts_of(planned_run) & parts_of(other)


def rounds_of(run: PlannedRun) -> set[int]:
    return {planned.round for planned in run.stands_for}


def parts_of(run: PlannedRun) -> set[str]:
    return {planned.part for planned in run.stands_for}


@settings(ON_ANY_MACHINE, max_examples=15)
@given(STUDIES, ENDS)
def test_however_it_is_interrupted_it_ends_with_each_run_once(
    study: Study, ends: list[str]
) -> None:
    lab = Laboratory(ends)
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place) / "studies" / "s"
        for _ in range(len(ends) + 1):
            try:
                outcome = carry_out(
                    study,
                    directory,
                    Path(place),
                    Silent(),
                    terms=Terms(goes_on=True),
                    means=Means(lab),
                )
            except (KeyboardInterrupt, SystemExit):
                continue
            if outcome.status == "complete":
                break
        record = read_study(directory)
    assert record.missing() == []
    assert record.status == "complete"
    assert sorted(request.seed for request in lab.made) == sorted(
        run.request.seed for run in study.order()
    )


LEVELS = st.lists(
    st.builds(NamedLevel, NAMES, st.dictionaries(NAMES, st.integers(), max_size=2)),
    min_size=1,
    max_size=3,
    unique_by=lambda level: level.name,
)


@settings(ON_ANY_MACHINE)
@given(st.dictionaries(NAMES, LEVELS, max_size=3))
def test_combinations_are_all_of_them_once(factors: dict[str, list[NamedLevel]]) -> None:
    all_combinations = list(combinations(factors))
    expected = 1
    for levels in factors.values():
        expected *= len(levels)
    assert (
        len({tuple(combination.levels.items()) for combination in all_combinations})
        == len(all_combinations)
        == expected
    )
    assert all(list(combination.levels) == list(factors) for combination in all_combinations)


TABLES = st.dictionaries(st.sampled_from("abc"), st.integers())
KEYS = st.builds(lambda keys, own: {**keys, "set": own} if own else keys, TABLES, TABLES)


@settings(ON_ANY_MACHINE)
@given(KEYS, KEYS, KEYS)
def test_merging_is_the_same_in_whichever_pairs(
    first: dict[str, object], two: dict[str, object], three: dict[str, object]
) -> None:
    assert merged(first, merged(two, three)) == merged(merged(first, two), three)
    assert merged(first) == first
