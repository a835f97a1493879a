"""How much of a profile is explained, whether it agrees with CPU counters, and what is claimed."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from assay.analysis.findings.shape import work
from assay.analysis.profile.samples import read_profile
from assay.analysis.profile.shares import Shares, metered_cpu, shares
from assay.checks import profile as check
from assay.checks.thresholds import PROFILE_DIFFERENCE_MAX
from assay.model.verdict import CheckResult, Verdict
from assay.record.reader import Run
from tests.cases import case
from tests.conftest import BEGUN_NS, MS, SyntheticRun, an_event
from tests.profiles import At, MadeProfile

RULES = '[[rules]]\nwork = "scan"\nsymbols = ["Scan*"]\nsays = "Reads rows."'
ROUND_NS = 4_000 * MS


def metered(cpu_ms: int, **clock: int) -> list[dict[str, Any]]:
    """Counters around the only operation."""
    start = {"sequence": 0, "edge": "start", "user_ns": 0, "system_ns": 0}
    end = start | {"edge": "end", "user_ns": cpu_ms * MS}
    return [start | dict.fromkeys(clock, 0), end | clock]


def recorded(synthetic: SyntheticRun, made: MadeProfile, cpu_ms: int = 0, **clock: int) -> Run:
    """A run of one operation of four seconds."""
    synthetic.events = [an_event(0, "a", BEGUN_NS, ROUND_NS / MS)]
    synthetic.facts["engine"] = {"operations": tomllib.loads(RULES)}
    if cpu_ms:
        synthetic.streams["tasks"] = metered(cpu_ms, **clock)
    synthetic.sealed = False
    run = synthetic.write()
    made.write(run.dir / "raw")
    return run


@pytest.fixture
def made() -> MadeProfile:
    return MadeProfile()


def shares_of(run: Run) -> Shares:
    profile = read_profile(run)
    assert profile is not None
    return shares(run, profile)


class TestShares:
    def test_nothing_has_no_share(self, synthetic: SyntheticRun, made: MadeProfile) -> None:
        share_values = shares_of(recorded(synthetic, made))
        assert (
            share_values.samples,
            share_values.classified,
            share_values.named,
            share_values.agreement,
        ) == (0, None, None, None)

    def test_what_is_classified_need_not_be_named(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        made.add(BEGUN_NS, "Scan", count=2)
        made.add(BEGUN_NS, "Scan", At(None), count=1)
        made.add(BEGUN_NS, "Odd", count=1)
        share_values = shares_of(recorded(synthetic, made))
        assert (share_values.samples, share_values.classified, share_values.named) == (
            4,
            0.75,
            0.75,
        )

    def test_samples_are_seconds_beside_those_counted(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        made.add(BEGUN_NS, "Scan", count=500)
        share_values = shares_of(recorded(synthetic, made, cpu_ms=2_000))
        assert (share_values.sampled_s, share_values.metered_s, share_values.agreement) == (
            1.0,
            2.0,
            0.5,
        )

    def test_the_schedulers_clock_goes_before_ticks(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        run = recorded(synthetic, made, cpu_ms=2_000, on_cpu_ns=1_900 * MS)
        assert metered_cpu(run)["cpu_ns"].to_list() == [1_900 * MS]


class TestTheCheck:
    def checked(self, synthetic: SyntheticRun, made: MadeProfile, cpu_ms: int = 0) -> CheckResult:
        return check.check(recorded(synthetic, made, cpu_ms))

    def test_a_run_without_profile_has_nothing_to_agree(self, synthetic: SyntheticRun) -> None:
        assert check.check(synthetic.write()).verdict is Verdict.VALID

    @pytest.mark.parametrize(
        ("over", "verdict"), [(0.9, Verdict.VALID), (-0.9, Verdict.VALID),
                              (1.1, Verdict.UNKNOWN), (-1.1, Verdict.UNKNOWN)],
    )  # fmt: skip
    def test_its_limit_is_the_threshold(
        self, synthetic: SyntheticRun, made: MadeProfile, over: float, verdict: Verdict
    ) -> None:
        made.add(BEGUN_NS, "Scan", count=round(10_000 * (1 + over * PROFILE_DIFFERENCE_MAX)))
        result = self.checked(synthetic, made, cpu_ms=20_000)
        assert result.verdict is verdict
        assert result.value == pytest.approx(abs(over) * PROFILE_DIFFERENCE_MAX, rel=0.01)

    def test_too_few_samples_are_compared_with_nothing(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        made.add(BEGUN_NS, "Scan", count=90)
        result = self.checked(synthetic, made, cpu_ms=200)
        assert (result.verdict, result.measured) == (Verdict.VALID, False)

    def test_no_sample_of_much_time_is_unknown(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        assert self.checked(synthetic, made, cpu_ms=20_000).verdict is Verdict.UNKNOWN

    def test_without_counters_it_is_not_measured(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        made.add(BEGUN_NS, "Scan", count=90)
        assert not self.checked(synthetic, made).measured

    @pytest.mark.parametrize(("lost", "verdict"), [(1, Verdict.VALID), (2, Verdict.UNKNOWN)])
    def test_one_in_a_hundred_may_be_lost(
        self, synthetic: SyntheticRun, made: MadeProfile, lost: int, verdict: Verdict
    ) -> None:
        made.add(BEGUN_NS, "Scan", count=100)
        counts = {"samples": 100, "throttled": 0, "cut": 0, "broken": 0}
        made.counts = [{"time_ns": BEGUN_NS + ROUND_NS, "lost": lost, **counts}]
        assert self.checked(synthetic, made, cpu_ms=200).verdict is verdict

    def test_what_other_processes_may_have_lost_is_not_all_ours(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        made.add(BEGUN_NS, "Scan", count=100)
        counts = {"samples": 100, "throttled": 0, "cut": 0, "broken": 0, "elsewhere": 900}
        made.counts = [{"time_ns": BEGUN_NS + ROUND_NS, "lost": 9, **counts}]
        assert self.checked(synthetic, made, cpu_ms=200).verdict is Verdict.VALID


class TestFindings:
    def claims(self, synthetic: SyntheticRun, made: MadeProfile) -> list[str]:
        profile = read_profile(recorded(synthetic, made))
        assert profile is not None
        findings = work.find(case(profile=profile))
        return [finding.claim for finding in findings]

    def test_work_that_dominates_is_named_with_its_operations(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        made.add(BEGUN_NS, "Scan", count=900)
        made.add(BEGUN_NS, "Odd", count=100)
        (claim,) = self.claims(synthetic, made)
        assert claim.startswith("scan is 90 % of the engine's CPU time, most in a (90 %")

    @pytest.mark.parametrize(("scans", "odd"), [(900, 0), (700, 300), (0, 1000)])
    def test_it_is_silent_where_too_little_is_known(
        self, synthetic: SyntheticRun, made: MadeProfile, scans: int, odd: int
    ) -> None:
        made.add(BEGUN_NS, "Scan", count=scans)
        made.add(BEGUN_NS, "Odd", count=odd)
        assert self.claims(synthetic, made) == []
