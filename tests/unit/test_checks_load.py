"""What the checks say of closed and open loads: rates that were held, and those that were not."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from assay import _core
from assay.checks import client, outcomes, rate, thresholds
from assay.model.verdict import CheckResult, Verdict
from assay.record.reader import Run
from tests.loads import SKIPPED, an_operation, closed, open_load, played_run, write_load
from tests.records import MS, S, write_run

VALID, UNKNOWN, INVALID = Verdict.VALID, Verdict.UNKNOWN, Verdict.INVALID
SECONDS = 10.0
RATE = 100.0
# Samples around the measured part widen it by up to two intervals of a hundred.
SHARE_RELATIVE = 0.05


def checked(check: ModuleType, run: Run, verdict: Verdict) -> CheckResult:
    result: CheckResult = check.check(run)
    assert result.verdict is verdict, result.reason
    return result


def due(number: int) -> int:
    return round(number / RATE * S)


def kept_up() -> list[dict[str, Any]]:
    """Every operation starts when it is due."""
    return [an_operation(n, due(n), 0, MS) for n in range(round(SECONDS * RATE))]


def slowed(share: float) -> list[dict[str, Any]]:
    """Operations start at this share of the rate, and those beyond the end never do."""
    rows = []
    for number in range(round(SECONDS * RATE)):
        waited = round(due(number) * (1 / share - 1))
        never = due(number) + waited >= SECONDS * S
        rows.append(an_operation(number, due(number), waited, MS, **(SKIPPED if never else {})))
    return rows


def opened(tmp_path: Path, rows: list[dict[str, Any]], **more: Any) -> Run:
    return Run(write_load(tmp_path, open_load(RATE, 4), rows, SECONDS, **more))


class TestRateHeld:
    def test_a_rate_that_the_driver_could_not_hold_is_invalid(self, tmp_path: Path) -> None:
        """Really played: 10 ms an operation by one client are 100/s at most."""
        session = _core.NullSession(delay_ns=10 * MS)
        run = Run(played_run(tmp_path, open_load(500, 1), 1.0, session))
        reason = checked(rate, run, INVALID).reason
        assert "did not hold the rate of 500/s" in reason
        assert "operations waited at the end" in reason

    def test_one_that_it_could_is_valid(self, tmp_path: Path) -> None:
        run = Run(played_run(tmp_path, open_load(50, 2), 1.0))
        assert "50/s was held" in checked(rate, run, VALID).reason

    def test_a_closed_load_is_no_open_load(self, tmp_path: Path) -> None:
        assert (
            "not an open load"
            in checked(rate, Run(played_run(tmp_path, closed(1), 0.05)), VALID).reason
        )

    def test_nor_is_the_power_order(self, tmp_path: Path) -> None:
        assert "not an open load" in checked(rate, Run(write_run(tmp_path)), VALID).reason

    def test_operations_that_start_in_time_are_valid(self, tmp_path: Path) -> None:
        result = checked(rate, opened(tmp_path, kept_up()), VALID)
        assert result.value == 1.0

    @pytest.mark.parametrize(("share", "verdict"), [(0.9, INVALID), (0.995, VALID)])
    def test_a_backlog_that_grows_is_invalid_from_the_threshold_on(
        self, tmp_path: Path, share: float, verdict: Verdict
    ) -> None:
        run = opened(tmp_path, slowed(share))
        went = checked(rate, run, verdict)
        waited = SECONDS * RATE * (1 - share)
        assert (waited > RATE * thresholds.BACKLOG_SECONDS_MAX) == (verdict is INVALID)
        if verdict is INVALID:
            assert went.value == pytest.approx(waited, abs=2)

    @pytest.mark.parametrize(("late", "verdict"), [(40, VALID), (60, INVALID)])
    def test_more_late_starts_than_the_threshold_are_invalid(
        self, tmp_path: Path, late: int, verdict: Verdict
    ) -> None:
        """Two seconds late in the middle, and caught up with: no backlog is left at the end."""
        rows = kept_up()
        for number in range(400, 400 + late):
            rows[number] = an_operation(number, due(number), 2 * S, MS)
        checked(rate, opened(tmp_path, rows), verdict)

    def test_a_stall_just_before_the_end_is_no_trend(self, tmp_path: Path) -> None:
        rows = kept_up()
        for number in range(970, 1000):
            rows[number] = an_operation(number, due(number), 0, 0, **SKIPPED)
        checked(rate, opened(tmp_path, rows), VALID)

    def test_a_load_of_which_nothing_ended_is_not_measured(self, tmp_path: Path) -> None:
        rows = [an_operation(n, due(n), 0, 0, **SKIPPED) for n in range(10)]
        assert not checked(rate, opened(tmp_path, rows), UNKNOWN).measured


class TestOutcomes:
    def test_what_was_due_just_before_the_end_is_left_out_without_a_warning(
        self, tmp_path: Path
    ) -> None:
        rows = kept_up()
        rows[-1] |= SKIPPED
        reason = checked(outcomes, opened(tmp_path, rows), VALID).reason
        assert "1 of them too shortly before the end" in reason

    @pytest.mark.parametrize("skipped", [range(500, 501), range(980, 1000)])
    def test_one_in_the_middle_or_many_at_the_end_are_unknown(
        self, tmp_path: Path, skipped: range
    ) -> None:
        rows = kept_up()
        for number in skipped:
            rows[number] |= SKIPPED
        assert "never started" in checked(outcomes, opened(tmp_path, rows), UNKNOWN).reason

    def test_retries_that_succeeded_are_told_and_are_no_failures(self, tmp_path: Path) -> None:
        rows = kept_up()
        rows[7] |= {"retries": 2}
        rows[9] |= {"retries": 1}
        reason = checked(outcomes, opened(tmp_path, rows), VALID).reason
        assert reason.endswith("2 of them after a retry")

    def test_a_failure_is_invalid_however_often_it_was_tried(self, tmp_path: Path) -> None:
        rows = kept_up()
        rows[7] |= {"retries": 3, "outcome": "failed", "error": "40001"}
        assert (
            "1 of 1000 operations failed"
            in checked(outcomes, opened(tmp_path, rows), INVALID).reason
        )


class TestClient:
    """The share is of what the driver could use, not of the machine."""

    @pytest.mark.parametrize(
        ("pin", "clients", "cores", "share"),
        [
            (None, 8, 0.9, 0.45),
            (None, 1, 0.9, 0.9),
            ({"engine": [0], "client": [1]}, 8, 0.9, 0.9),
            ({"engine": [0]}, 8, 0.9, 0.45),
        ],
    )
    def test_share(
        self,
        tmp_path: Path,
        pin: dict[str, list[int]] | None,
        clients: int,
        cores: float,
        share: float,
    ) -> None:
        directory = write_load(
            tmp_path, closed(clients), kept_up(), SECONDS, driver_cores=cores, pin=pin
        )
        verdict = UNKNOWN if share > thresholds.CLIENT_SHARE_MAX else VALID
        result = checked(client, Run(directory), verdict)
        assert result.value == pytest.approx(share, rel=SHARE_RELATIVE)
