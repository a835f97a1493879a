"""Answers of a test: of streams with texts of their own, on data that refresh functions change."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from assay.checks import answers
from assay.model.verdict import CheckResult, Verdict
from tests.conftest import BEGUN_NS, MS, SyntheticRun, an_event

VALID, UNKNOWN, INVALID = Verdict.VALID, Verdict.UNKNOWN, Verdict.INVALID
REFRESH = {"insert": "rf1", "delete": "rf2", "batches": 1, "sets": 1}


def at(begun: int, ended: int, operation: str, **other: Any) -> dict[str, Any]:
    """An event from one millisecond to another."""
    about = {"phase": "throughput-1", "session": 0, "variant": 1}
    return an_event(0, operation, BEGUN_NS + begun * MS, ended - begun, **about) | other


def refreshed(begun: int, ended: int, operation: str, **other: Any) -> dict[str, Any]:
    about = {"session": 2, "rows": None, "digest": None}
    return at(begun, ended, operation, **about) | other


def counted(number: int) -> pa.Table:
    return pa.table({"n": [number]})


@pytest.fixture
def tested(synthetic: SyntheticRun) -> SyntheticRun:
    """Query `q` of two streams, beside a set that makes three states; its count tells the state."""
    synthetic.facts["test"] = {"kind": "throughput", "refresh": REFRESH}
    synthetic.facts["request"] = {"parameters": "drawn"}
    synthetic.facts["plan"] = {"operations": ["q", "rf1", "rf2"], "results_kept": 8}
    synthetic.facts["workload"] = {"answer_columns": {"q": {}}}
    synthetic.events = [
        refreshed(10, 20, "rf1"),
        refreshed(30, 40, "rf2"),
        at(0, 15, "q", digest=100),
        at(22, 28, "q", digest=201, variant=2, session=1),
        at(35, 50, "q", digest=102),
    ]
    synthetic.results = {"q": {digest: counted(digest) for digest in (100, 201, 102)}}
    synthetic.expected = {
        "q-1-0": "n\n100\n",
        "q-1-1": "n\n101\n",
        "q-1-2": "n\n102\n",
        "q-2-1": "n\n201\n",
    }
    return synthetic


def checked(synthetic: SyntheticRun, verdict: Verdict) -> CheckResult:
    result = answers.check(synthetic.write())
    assert result.verdict is verdict, result.reason
    return result


def test_each_answer_fits_a_state_of_its_time(tested: SyntheticRun) -> None:
    assert checked(tested, VALID).reason == "3 of 3 answers right, in 3 states of the data"


def test_either_state_of_its_time_will_do(tested: SyntheticRun) -> None:
    tested.events[2]["digest"] = 101
    tested.results["q"][101] = counted(101)
    assert checked(tested, VALID).reason == "3 of 3 answers right, in 2 states of the data"


def test_an_answer_of_a_state_before_its_time_is_wrong(tested: SyntheticRun) -> None:
    tested.events[4]["digest"] = 100
    assert checked(tested, INVALID).reason == (
        "wrong answer: q of stream 1 in throughput-1 is right for no state of the data during the "
        "query (after 1 to 2 refresh steps); compared with the state after 1: row 1, n: 100 "
        "instead of 101"
    )


def test_where_only_one_state_is_possible_its_difference_is_told(tested: SyntheticRun) -> None:
    tested.events[3]["digest"] = 100
    reason = checked(tested, INVALID).reason
    assert reason == "wrong answer: q of stream 2 in throughput-1, row 1, n: 100 instead of 201"


def test_a_refresh_that_did_nothing_shows_in_the_answers(tested: SyntheticRun) -> None:
    tested.events += [at(60, 70, "q", digest=101, phase="after")]
    tested.results["q"][101] = counted(101)
    assert "q of stream 1 in after" in checked(tested, INVALID).reason


def test_the_text_of_another_stream_has_other_rows(tested: SyntheticRun) -> None:
    tested.expected["q-2-1"] = "n\n202\n"
    assert "stream 2" in checked(tested, INVALID).reason


def test_a_state_without_rows_to_compare_with_is_no_verdict(tested: SyntheticRun) -> None:
    del tested.expected["q-1-1"]
    tested.events[4]["digest"] = 100
    assert checked(tested, UNKNOWN).reason.startswith("2 of 3 answers right; ")


def test_a_state_that_fits_needs_no_other(tested: SyntheticRun) -> None:
    del tested.expected["q-1-1"]
    checked(tested, VALID)


def test_why_rows_are_missing_is_told(tested: SyntheticRun) -> None:
    del tested.expected["q-2-1"]
    run = tested.write()
    origin = run.dir / "raw" / "results" / "expected" / "origin.json"
    origin.write_text('{"why": "there was no memory"}')
    result = answers.check(run)
    assert result.verdict is UNKNOWN
    assert result.reason == "2 of 3 answers right; there was no memory"


def test_why_one_text_has_none_is_told(tested: SyntheticRun) -> None:
    del tested.expected["q-2-1"]
    run = tested.write()
    origin = run.dir / "raw" / "results" / "expected" / "origin.json"
    refused = '{"operation": "q", "variant": 2, "why": "refused"}'
    origin.write_text(f'{{"made": {{"not_made": [{refused}], "ordered_by": {{}}}}}}')
    assert answers.check(run).reason == "2 of 3 answers right; q: refused"


def test_after_a_failed_refresh_the_data_are_not_known(tested: SyntheticRun) -> None:
    tested.events[0] |= {"outcome": "failed", "error": "x"}
    reason = checked(tested, UNKNOWN).reason
    assert "1 execution followed a failed refresh function," in reason


def test_rows_that_were_not_kept_are_unknown(tested: SyntheticRun) -> None:
    del tested.results["q"][201]
    assert "more distinct results than Assay stores" in checked(tested, UNKNOWN).reason


def test_many_results_of_an_operation_are_no_more_than_were_kept_of_each_stream(
    tested: SyntheticRun,
) -> None:
    """As many texts as results are kept of one: each has its own place for them."""
    for variant in range(3, 12):
        number = 1000 + variant
        tested.events.append(at(50, 60, "q", digest=number, variant=variant))
        tested.results["q"][number] = counted(number)
        tested.expected[f"q-{variant}-2"] = f"n\n{number}\n"
    assert checked(tested, VALID).reason.startswith("12 of 12 answers right")


class TestOneTransactionAnOrder:
    @pytest.fixture
    def many(self, tested: SyntheticRun) -> SyntheticRun:
        tested.facts["test"]["refresh"] = REFRESH | {"batches": 0}
        return tested

    def test_what_ran_beside_is_not_compared(self, many: SyntheticRun) -> None:
        reason = checked(many, UNKNOWN).reason
        assert reason.startswith(
            "1 of 3 answers right; 2 executions ran during refreshes with one transaction"
        )

    def test_asked_again_afterwards_the_text_is_checked(self, many: SyntheticRun) -> None:
        many.events.append(at(60, 70, "q", digest=102, phase="after"))
        assert checked(many, VALID).reason == (
            "2 of 2 answers right, in 2 states of the data; 2 ran during refreshes with one "
            "transaction per order and were repeated afterwards to be compared"
        )

    def test_a_wrong_answer_afterwards_is_invalid(self, many: SyntheticRun) -> None:
        many.events.append(at(60, 70, "q", digest=100, phase="after"))
        assert "in after, row 1" in checked(many, INVALID).reason


class TestWithoutRefreshes:
    def test_all_streams_are_compared_with_the_data_as_loaded(self, tested: SyntheticRun) -> None:
        tested.facts["test"] = {"kind": "throughput", "refresh": None}
        tested.events = [at(0, 5, "q", digest=100), at(0, 5, "q", digest=201, variant=2)]
        tested.expected = {"q-1-0": "n\n100\n", "q-2-0": "n\n201\n"}
        assert checked(tested, VALID).reason == "2 of 2 answers right"

    def test_default_parameters_have_one_answer_for_all(self, tested: SyntheticRun) -> None:
        tested.facts["test"] = {"kind": "power", "refresh": None}
        tested.facts["request"] = {"parameters": "default"}
        tested.events = [at(0, 5, "q", digest=100, variant=0)]
        tested.expected = {"q": "n\n100\n"}
        assert checked(tested, VALID).reason == "1 of 1 answers right"

    def test_one_that_failed_is_missed(self, tested: SyntheticRun) -> None:
        tested.facts["test"] = {"kind": "power", "refresh": None}
        tested.events = [
            at(0, 5, "q", digest=100),
            at(6, 9, "q", outcome="failed", error="x", digest=None, rows=None),
        ]
        reason = checked(tested, UNKNOWN).reason
        assert reason == "1 of 2 answers right; the other answers were not returned"
