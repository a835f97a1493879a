"""The check of slowing: valid as asked, and one run for every way in which it is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assay.analysis.host.slowing import is_stopped, slowing
from assay.analysis.time.where import where_time_went
from assay.checks import slowing as check
from assay.checks import thresholds
from assay.model.verdict import CheckResult, Verdict
from tests.conftest import BEGUN_NS, MS, S, SyntheticRun

FACTOR = 3.0
ROW_NS = 10 * MS


def rows(ended_ns: int, **changed: float) -> list[dict[str, Any]]:
    """A row each 10 ms: a fifth of the time computed and twice as long stopped, reads beside."""
    stop_rows = []
    for time_ns in range(BEGUN_NS - ROW_NS, ended_ns + 2 * ROW_NS, ROW_NS):
        since = time_ns - BEGUN_NS + ROW_NS
        taken = since // 5
        owed = round((FACTOR - 1) * taken)
        stop_rows.append(
            {
                "time_ns": time_ns,
                "until_ns": time_ns + 4 * MS,
                "processes": 1,
                "cpu_ns": taken,
                "all_cpu_ns": round(taken * changed.get("seen", 10.0)),
                "disk_ns": 0,
                "owed_ns": owed,
                "stopped_ns": round(owed * changed.get("paid", 1.0)),
                "read_bytes": since,
                "ahead_bytes": round(since * changed.get("ahead", 0.0)),
            }
        )
    return stop_rows


def made(synthetic: SyntheticRun, resource: str = "cpu", **changed: float) -> SyntheticRun:
    synthetic.facts = {
        "request": {"slow": {resource: FACTOR}},
        "slowing": {"asked": {resource: FACTOR}, "error": None, "cpu_ns": MS},
    }
    synthetic.streams = {**synthetic.streams, "slowing": rows(synthetic.ended_ns, **changed)}
    return synthetic


def judged(synthetic: SyntheticRun) -> CheckResult:
    return check.check(synthetic.write())


def test_nothing_asked_is_valid(synthetic: SyntheticRun) -> None:
    result = judged(synthetic)
    assert (result.verdict, result.value) == (Verdict.VALID, None)
    assert slowing(replace(synthetic, id="another").write()) is None


def test_as_asked_is_valid_and_says_so(synthetic: SyntheticRun) -> None:
    result = judged(made(synthetic))
    assert result.verdict is Verdict.VALID, result.reason
    assert "slowed for the engine: cpu 3 times; the" in result.reason


@pytest.mark.parametrize("paid", [0.9, 1.1])
def test_another_factor_is_unknown(synthetic: SyntheticRun, paid: float) -> None:
    result = judged(made(synthetic, paid=paid))
    assert result.verdict is Verdict.UNKNOWN
    assert f"{1 + 2 * paid:.3g} times was reached" in result.reason
    assert result.threshold == thresholds.SLOWED_DIFFERENCE_MAX


def test_work_that_was_overlooked_is_unknown(synthetic: SyntheticRun) -> None:
    result = judged(made(synthetic, seen=0.1))
    assert result.verdict is Verdict.UNKNOWN
    assert "of the engine's CPU time was not slowed:" in result.reason


def test_reads_during_stops_are_unknown_where_the_disk_is_slowed(synthetic: SyntheticRun) -> None:
    result = judged(made(synthetic, "disk", ahead=0.5))
    assert result.verdict is Verdict.UNKNOWN
    assert "50 % of the bytes from disk were read" in result.reason


def test_reads_during_stops_do_not_matter_to_the_cpu(synthetic: SyntheticRun) -> None:
    assert judged(made(synthetic, "cpu", ahead=0.5)).verdict is Verdict.VALID


def test_a_slower_that_cost_much_is_unknown(synthetic: SyntheticRun) -> None:
    run = made(synthetic)
    run.facts["slowing"]["cpu_ns"] = 100 * S
    result = judged(run)
    assert result.verdict is Verdict.UNKNOWN
    assert "of a core" in result.reason


def test_one_that_went_away_is_invalid(synthetic: SyntheticRun) -> None:
    run = made(synthetic)
    run.facts["slowing"]["error"] = "the slower went away before the end"
    result = judged(run)
    assert result.verdict is Verdict.INVALID
    assert "went away" in result.reason


def test_one_that_never_told_its_end_is_invalid(synthetic: SyntheticRun) -> None:
    run = made(synthetic)
    del run.facts["slowing"]
    assert judged(run).verdict is Verdict.INVALID


def test_without_rows_nothing_is_known(synthetic: SyntheticRun) -> None:
    run = made(synthetic)
    del run.streams["slowing"]
    assert judged(run).verdict is Verdict.UNKNOWN


def test_the_time_of_a_stopped_engine_is_not_split(synthetic: SyntheticRun) -> None:
    plain = replace(synthetic, id="plain").write()
    _, whole = where_time_went(made(synthetic).write())
    assert whole is None
    assert not is_stopped(plain)


def test_a_window_has_its_own_part(synthetic: SyntheticRun) -> None:
    run = made(synthetic).write()
    whole = slowing(run)
    half = slowing(run, (BEGUN_NS + 100 * MS, BEGUN_NS + 200 * MS))
    assert whole is not None
    assert half is not None
    assert half.cpu_s == pytest.approx(0.02)
    assert half.stopped_s == pytest.approx(0.04)
    assert half.achieved == {"cpu": pytest.approx(FACTOR)}
    assert whole.cpu_s > half.cpu_s
