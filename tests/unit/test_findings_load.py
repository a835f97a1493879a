"""Every claim about a load has its twin: the same load without the cause."""

from __future__ import annotations

from typing import Any

import pytest

from assay.analysis.causes import PARTS
from assay.analysis.findings.client import client_bound, rate_held
from assay.analysis.findings.shape import bound_by, steady
from assay.analysis.findings.shape.steady import STEADY_SHARE
from assay.analysis.host.accounts import Accounts
from assay.analysis.load.backlog import Schedule
from assay.analysis.load.latency import Window, distribution
from assay.analysis.load.metrics import NAMES, load_metrics, no_load_metrics
from assay.analysis.load.summary import LoadSummary, OperationLoad, Pace
from assay.analysis.load.wasted_work import Work
from assay.analysis.load_plan import Load
from assay.analysis.summary import OperationSummary
from assay.model.finding import Finding
from tests.cases import case, operation

METHODS = (bound_by, client_bound, rate_held, steady)
CPUS = 4
SECONDS = 10.0
NO_WORK = Work(0, None, 0, {}, 0.0, 0.0)


def used(**cores: float) -> Accounts:
    by_account = {name.replace("_", " "): value * SECONDS for name, value in cores.items()}
    return Accounts(SECONDS, CPUS, by_account, sum(by_account.values()), 0.0, None)


def load(
    clients: int = 8, schedule: Schedule | None = None, pace: tuple[float, ...] = (100.0,) * 9
) -> LoadSummary:
    import polars as pl

    empty = distribution(pl.Series([], dtype=pl.Int64))
    whole = OperationLoad(1_010, 1_000, 5, 5, 3, None, 100.0, empty, empty)
    shape = "open" if schedule else "closed"
    rate = schedule.rate_per_s if schedule else None
    asked = Load(shape, clients, rate, SECONDS, None)
    window = Window(0, round(SECONDS * 1e9))
    return LoadSummary(asked, window, whole, {}, Pace(1.0, pace, None), schedule)


def went(done_per_s: float) -> Schedule:
    return Schedule(100.0, done_per_s, 1.0, 500, 100.0 - done_per_s, 0.0)


def findings_by_method(
    of: LoadSummary,
    accounts: Accounts | None,
    pinned: dict[str, int] | None = None,
    operations: tuple[OperationSummary, ...] = (),
) -> dict[str, Finding]:
    run_case = case(*operations, load=of, accounts=accounts, pinned=pinned or {}, cores=CPUS)
    every = [finding for method in METHODS for finding in method.find(run_case)]
    return {finding.method: finding for finding in every}


def bound(of: LoadSummary, accounts: Accounts, pinned: dict[str, int] | None = None) -> str:
    claims = findings_by_method(of, accounts, pinned).values()
    (claim,) = [finding.claim for finding in claims if finding.tells == "bound"]
    return claim


def of_fleet(accounts: Accounts, fleet_share: float) -> Finding:
    run_case = case(load=load(), accounts=accounts, cores=CPUS, fleet_share=fleet_share)
    every = [finding for method in METHODS for finding in method.find(run_case)]
    (bound_finding,) = [finding for finding in every if finding.tells == "bound"]
    return bound_finding


class TestFleet:
    def test_drivers_elsewhere_take_none_of_the_engine_s_cpus(self) -> None:
        finding = of_fleet(used(engine=3.8, probes=0.01), 0.3)
        assert finding.claim.startswith("The engine used 3.8 of 4 CPUs; what operations waited for")

    def test_the_busiest_of_them_is_the_load_generator(self) -> None:
        finding = of_fleet(used(engine=3.8), 0.9)
        assert finding.claim.startswith(
            "The load generator is the bottleneck: the busiest driver of the fleet used 90 % of"
        )


class TestBound:
    def test_engine_and_load_generator_are_told_with_their_cpus(self) -> None:
        claim = bound(load(), used(engine=2.8, driver=1.0))
        assert claim.startswith("The engine used 2.8 of 4 CPUs, the load generator 1; what")

    def test_a_pinned_engine_has_its_own_cpus(self) -> None:
        pin = {"engine": 1, "client": 3}
        assert bound(load(), used(engine=0.97, driver=0.4), pin).startswith(
            "The engine used 0.97 of 1 CPU"
        )

    def test_a_driver_that_uses_its_cpus_is_what_bounds(self) -> None:
        pin = {"engine": 3, "client": 1}
        assert bound(load(), used(engine=0.5, driver=0.95), pin).startswith(
            "The load generator is the bottleneck: "
        )
        assert "Client-bound" not in bound(load(), used(engine=0.5, driver=0.7), pin)

    @pytest.mark.parametrize("lock", [0.4, 0.2])
    def test_a_wait_is_named_with_its_share_however_small(self, lock: float) -> None:
        waits = (operation(lock=lock, cpu_user=0.3),)
        findings = findings_by_method(load(), used(engine=0.6, driver=0.35), operations=waits)
        assert f"lock {lock * 100:.0f} %" in findings[bound_by.METHOD].claim.lower()

    @pytest.mark.parametrize("lock", [0.4, 0.1])
    def test_sessions_of_an_embedded_engine_are_told_of_together(self, lock: float) -> None:
        unknown = operation(overrides={"where": dict.fromkeys(PARTS)})
        run_case = case(
            unknown,
            load=load(),
            accounts=used(engine_and_driver=0.5),
            cores=CPUS,
            where=dict.fromkeys(PARTS, 0.0) | {"lock": lock},
        )
        (finding,) = bound_by.find(run_case)
        assert f"lock {lock * 100:.0f} % of the time" in finding.claim.lower()

    def test_a_rate_that_was_held_is_not_the_limit(self) -> None:
        claim = bound(load(schedule=went(100.0)), used(engine=0.6, driver=0.35))
        assert claim.startswith(
            "The engine was not at its limit and kept up with the rate of 100/s: "
        )
        assert "Not at its limit" not in bound(
            load(schedule=went(80.0)), used(engine=0.6, driver=0.35)
        )

    @pytest.mark.parametrize("accounts", [None, used(probes=0.1)])
    def test_without_samples_nothing_is_claimed(self, accounts: Accounts | None) -> None:
        assert bound_by.METHOD not in findings_by_method(load(), accounts)


class TestRate:
    def test_what_was_not_done_is_told_with_the_growth(self) -> None:
        finding = findings_by_method(load(schedule=went(80.0)), None)[rate_held.METHOD]
        assert finding.claim.startswith(
            "The engine did not hold the rate: 80/s of 100/s were completed, and the queue of "
            "waiting "
            "operations grew by 20/s"
        )
        assert finding.effect_share == pytest.approx(0.2)

    @pytest.mark.parametrize("schedule", [None, went(99.5)])
    def test_the_twin_that_was_held_is_silent(self, schedule: Schedule | None) -> None:
        assert rate_held.METHOD not in findings_by_method(load(schedule=schedule), None)


class TestSteady:
    @pytest.mark.parametrize(("last", "word"), [(70.0, "fell"), (140.0, "rose")])
    def test_a_last_third_unlike_the_first_is_told(self, last: float, word: str) -> None:
        pace = (100.0,) * 3 + (90.0,) * 3 + (last,) * 3
        assert (
            f"throughput {word} from 100/s"
            in findings_by_method(load(pace=pace), None)[steady.METHOD].claim
        )

    def test_the_twin_within_the_threshold_is_silent(self) -> None:
        pace = (100.0,) * 6 + (100.0 * (1 - STEADY_SHARE + 0.01),) * 3
        assert steady.METHOD not in findings_by_method(load(pace=pace), None)

    @pytest.mark.parametrize("pace", [(), (1.0, 100.0), (0.0,) * 9])
    def test_of_too_little_nothing_is_claimed(self, pace: tuple[float, ...]) -> None:
        assert steady.METHOD not in findings_by_method(load(pace=pace), None)


class TestMetrics:
    def test_both_shapes_have_the_same_names(self) -> None:
        assert set(load_metrics(load(), None, NO_WORK)) == set(no_load_metrics()) == set(NAMES)

    def test_cpu_time_is_of_the_operations_that_were_issued(self) -> None:
        figures = load_metrics(load(), used(engine=2.01, driver=1.005), NO_WORK)
        assert figures["engine_cpu_seconds_per_operation"] == pytest.approx(0.02)
        assert figures["driver_cpu_seconds_per_operation"] == pytest.approx(0.01)

    @pytest.mark.parametrize("accounts", [None, used(engine_and_driver=1.0)])
    def test_without_an_account_of_its_own_it_is_absent(self, accounts: Accounts | None) -> None:
        figures: dict[str, Any] = load_metrics(load(), accounts, NO_WORK)
        assert figures["driver_cpu_seconds_per_operation"] is None

    def test_shares_are_of_what_was_due(self) -> None:
        figures = load_metrics(load(), None, NO_WORK)
        assert figures["failed_share"] == figures["skipped_share"] == pytest.approx(5 / 1010)
