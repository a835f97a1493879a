"""How long runs will take: what was seen goes before what was expected."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.running.asked.request import RunRequest
from assay.study.pace import Pace, expected_after, guessed_s
from assay.study.variants import Planned, PlannedRun
from tests.records import write_run

SMALL = RunRequest(workload="tpch", engine="duckdb", scale=0.1)
LARGE = SMALL.changed(scale=10.0)
OTHER = LARGE.changed(engine="postgresql")


class TestPace:
    def test_nothing_is_known_where_nothing_was_seen_or_expected(self) -> None:
        pace = Pace(lambda _: None)
        assert pace.run_s(SMALL) is None
        pace.took(SMALL, 4.0)
        assert pace.run_s(LARGE) == 4.0

    def test_an_equal_request_takes_as_long_as_it_took(self) -> None:
        pace = Pace(lambda _: 100.0)
        for seconds in (3.0, 5.0, 40.0):
            pace.took(SMALL, seconds)
        assert pace.run_s(SMALL.changed()) == 5.0

    def test_what_was_expected_is_corrected_by_what_was_seen_of_the_engine(self) -> None:
        pace = Pace(lambda request: 10.0 * request.scale)
        pace.took(SMALL, 2.0)
        assert pace.run_s(LARGE) == 200.0
        assert pace.run_s(OTHER) == 200.0
        pace.took(OTHER.changed(scale=1.0), 50.0)
        assert pace.run_s(OTHER) == 500.0
        assert pace.run_s(LARGE) == 200.0

    def test_all_that_is_left_is_known_only_if_each_is(self) -> None:
        pace = Pace(lambda request: None if request == OTHER else 7.0)
        assert pace.left_s([SMALL, LARGE]) == 14.0
        assert pace.left_s([SMALL, OTHER]) is None
        assert pace.left_s([]) == 0


class TestUnfit:
    """A run of a round is useless without the one that it is compared with."""

    @pytest.mark.parametrize(
        ("to_do", "left_s", "unfit"),
        [
            (("base", "a", "b"), 30.0, []),
            (("base", "a", "b"), 25.0, ["a"]),
            (("base", "a", "b"), 19.0, ["base", "a", "b"]),
            (("base",), 11.0, []),
            (("a",), 11.0, []),
            (("a", "b"), 9.0, ["a", "b"]),
        ],
    )
    def test_the_most_important_that_fit_are_made(
        self, to_do: tuple[str, ...], left_s: float, unfit: list[str]
    ) -> None:
        runs = [PlannedRun(SMALL, (Planned("round", name, 1),)) for name in to_do]
        left = Pace(lambda _: 10.0).unfit(runs, ("base", "b", "a"), left_s)
        assert [run.stands_for[0].variant for run in left] == unfit


class TestExpected:
    def test_of_a_run_like_an_earlier_one_it_is_what_that_took(self, tmp_path: Path) -> None:
        directory = write_run(tmp_path)
        facts = json.loads((directory / "run.json").read_text())["request"]
        facts["probes"] = None if facts.get("probes") is None else tuple(facts["probes"])
        expected = expected_after(directory.parent)
        request = RunRequest(**facts)
        assert expected(request) == 5.0
        assert expected(request.changed(seed=99)) == 5.0
        assert expected(request.changed(settings={"jit": "off"})) == 5.0
        other = request.changed(scale=77.0)
        assert expected(other) == guessed_s(other)

    def test_what_cannot_be_read_is_passed_over(self, tmp_path: Path) -> None:
        (tmp_path / "torn").mkdir()
        (tmp_path / "torn" / "run.json").write_text("{")
        assert expected_after(tmp_path)(SMALL) == guessed_s(SMALL)


class TestGuess:
    def test_more_work_takes_longer(self) -> None:
        assert guessed_s(SMALL) < guessed_s(LARGE)
        power = LARGE.changed(test="power", min_time_s=0.0)
        assert guessed_s(power) < guessed_s(power.changed(test="throughput", streams=5))
        assert guessed_s(power) < guessed_s(power.changed(test="full"))
        assert guessed_s(LARGE.changed(plans=False)) < guessed_s(LARGE)

    def test_a_scale_is_nothing_to_a_folder_of_queries(self) -> None:
        folder = LARGE.changed(workload="/mine", min_time_s=1.0)
        assert guessed_s(folder) == guessed_s(folder.changed(scale=1000.0)) < guessed_s(LARGE)

    def test_a_mix_takes_its_time(self) -> None:
        mix = SMALL.changed(clients=4, time_s=300.0)
        assert 300.0 < guessed_s(mix) < 340.0
