"""What is read from passes, counters, samples and accounts, and how a record becomes a case."""

from __future__ import annotations

import dataclasses
import tomllib
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from assay.analysis.composite.figures import figures
from assay.analysis.composite.played import played_of
from assay.analysis.findings.case import Case
from assay.analysis.findings.engine_facts import TableFacts
from assay.analysis.findings.host import steal, throttled
from assay.analysis.findings.judging import Judged
from assay.analysis.findings.memory import buffer_manager, cold_cache, small_cache
from assay.analysis.findings.plans import optimiser
from assay.analysis.findings.reading import table_facts
from assay.analysis.findings.shape import first_run, hot_operations
from assay.analysis.findings.waiting import stalls
from assay.analysis.host.accounts import Accounts
from assay.analysis.host.task_counters import executions as read_executions
from assay.analysis.load.latency import Window, distribution
from assay.analysis.load.summary import LoadSummary, OperationLoad, Pace
from assay.analysis.load_plan import Load
from assay.analysis.profile.samples import read_profile
from assay.analysis.summarise import summarise
from tests.cases import case, even, executions, operation
from tests.conftest import BEGUN_NS, MS, SyntheticRun, an_event
from tests.profiles import MadeProfile
from tests.specified import PlayedTest, even_times
from tests.truths import copied, counted, from_storage

if TYPE_CHECKING:
    from assay.analysis.profile.profile import Profile

GIB, MIB = 1 << 30, 1 << 20
S = 1_000_000_000
RULES = "\n".join(
    f'[[rules]]\nwork = "{work}"\nsymbols = ["{work[:4]}*"]\nsays = "x"'
    for work in ("scan", "buffer manager", "optimiser/parse", "kernel I/O")
)


def a_load(rates: tuple[float, ...] = (100.0,) * 20) -> LoadSummary:
    empty = distribution(pl.Series([], dtype=pl.Int64))
    whole = OperationLoad(9, 9, 0, 0, 0, None, 9.0, empty, empty)
    asked = Load("closed", 8, None, 20.0, None)
    return LoadSummary(asked, Window(0, 20 * S), whole, {}, Pace(1.0, rates, None), None)


@pytest.fixture
def sampled(synthetic: SyntheticRun) -> Any:
    """A profile of one operation whose samples are of so many of each work."""

    def make(**counts: int) -> Profile:
        made = MadeProfile()
        for symbol, count in counts.items():
            made.add(BEGUN_NS, symbol, count=count)
        synthetic.events = [an_event(0, "q1", BEGUN_NS, 4_000)]
        synthetic.facts["engine"] = {"operations": tomllib.loads(RULES)}
        synthetic.sealed = False
        run = synthetic.write()
        made.write(run.dir / "raw")
        profile = read_profile(run)
        assert profile is not None
        return profile

    return make


class TestHotOperations:
    def findings(self, *shares: float) -> list[Any]:
        named = [operation(f"q{n}", share) for n, share in enumerate(shares, start=1)]
        return hot_operations.find(case(*named))

    def test_few_that_are_most_of_the_time_are_named(self) -> None:
        (finding,) = self.findings(0.05, 0.4, 0.05, 0.3, 0.05, 0.05, 0.05, 0.05)
        assert finding.claim == "q2, q4 are 70 % of the time and 25 % of the operations"
        assert (finding.tells, finding.effect_share) == ("shape", pytest.approx(0.7))

    @pytest.mark.parametrize("shares", [(0.25,) * 4, (0.5, 0.5), (1.0,), ()])
    def test_an_even_workload_has_none(self, shares: tuple[float, ...]) -> None:
        assert self.findings(*shares) == []


class TestFirstRun:
    def rows(self, first_s: float, phase: str = "warmup", **first: Any) -> pl.DataFrame:
        later = [
            {"phase": "measured", "pass": n, "operation": "q1", "seconds": 1.0} for n in (0, 1)
        ]
        zero = {"system_s": 0.1, "minor_faults": 10.0, "read_bytes": 0.0}
        begun = {"phase": phase, "pass": 0, "operation": "q1", "seconds": first_s}
        return executions(begun | zero | first, *(row | zero for row in later))

    def test_allocation_is_told_with_its_page_faults_and_kernel_time(self) -> None:
        """A first execution that waits sixty seconds for memory, as a vector of a million does."""
        rows = self.rows(61.0, system_s=57.1, minor_faults=1e6)
        (finding,) = first_run.find(case(operation(), executions=rows))
        assert finding.claim.startswith("First executions, in the warm-up, took 60.0 s longer than")
        assert "95 % of the difference is kernel time, 1 M more page faults" in finding.claim
        assert finding.effect_share == pytest.approx(60 / 63)

    def test_what_only_warm_up_paid_is_no_cause_of_what_was_measured(self) -> None:
        (warm,) = first_run.find(case(operation(), executions=self.rows(2.0)))
        (cold,) = first_run.find(case(operation(), executions=self.rows(2.0, "measured")))
        assert (warm.tells, cold.tells) == ("shape", "cause")

    def power_tests(self, **seconds: tuple[float, float]) -> pl.DataFrame:
        """Two power tests with the times of operations in each; what the first one did more."""
        zero = {"system_s": 0.0, "minor_faults": 0.0, "read_bytes": 0.0}
        rows = [
            {"phase": f"power-{run}", "pass": 0, "operation": name, "seconds": pair[run - 1]} | zero
            for run in (1, 2)
            for name, pair in seconds.items()
        ]
        rows[0] |= {"system_s": 0.5, "minor_faults": 2000.0, "read_bytes": float(1 << 30)}
        return executions(*rows)

    def test_a_first_power_test_that_read_is_told_with_what_it_cost_the_metric(self) -> None:
        rows = self.power_tests(q1=(8.0, 1.0), q2=(1.0, 1.0), q3=(1.0, 1.0))
        (finding,) = first_run.find(case(operation(), executions=rows))
        assert finding.claim == (
            "The first power test took 7.00 s longer than the second (233 %); most of it in "
            "q1, q2, q3: 7.1 % of the difference is kernel time, 2 k more page faults, 1 GiB "
            "more read from storage"
        )
        assert finding.effect_share == pytest.approx(7 / 13)
        assert finding.tells == "cause"

    def test_a_short_query_matters_by_how_many_times_as_long_it_took(self) -> None:
        # 1.8 s of 30 s are nothing to a sum, and a query that took ten times as long is to a mean.
        rows = self.power_tests(q2=(2.0, 0.2), q9=(30.0, 28.2), q3=(10.0, 10.0))
        (finding,) = first_run.find(case(operation(), executions=rows))
        assert finding.operations[0] == "q2"

    def test_what_counts_as_a_hundredth_of_a_second_either_way_does_not_matter(self) -> None:
        rows = self.power_tests(q2=(0.009, 0.001), q9=(2.0, 1.0))
        (finding,) = first_run.find(case(operation(), executions=rows))
        assert finding.operations[0] == "q9"

    def test_the_metric_is_that_of_the_table_of_runs(self) -> None:
        played = PlayedTest(seconds=dict.fromkeys(even_times(), 0.004), factors=(2.0, 1.0))
        test = played_of(played.facts(), pl.DataFrame(played.events(), infer_schema_length=None))
        rows = self.power_tests(q1=(2.0, 1.0), q2=(2.0, 1.0))
        (alike,) = first_run.find(case(operation(), executions=rows, test=test))
        # 8 ms and 4 ms both count as a hundredth of a second.
        assert "power" not in alike.claim.partition("power test")[2]
        played = PlayedTest(factors=(2.0, 1.0), gap_ns=0)
        test = played_of(played.facts(), pl.DataFrame(played.events(), infer_schema_length=None))
        first, second = (figures(run, 1.0).power or 0.0 for run in test.runs)
        (finding,) = first_run.find(case(operation(), executions=rows, test=test))
        assert f"whose power is {100 * (second / first - 1):.0f} % higher" in finding.claim

    def test_a_run_that_was_asked_to_read_is_advised_nothing_else(self) -> None:
        rows = self.power_tests(q1=(8.0, 1.0))
        (finding,) = first_run.find(case(operation(), executions=rows, state="cold"))
        assert finding.to_try is None

    def test_streams_beside_each_other_are_no_first_and_later_executions(self) -> None:
        rows = self.power_tests(q1=(8.0, 1.0)).with_columns(
            phase=pl.lit("throughput-1"), **{"pass": pl.lit(0, pl.UInt32)}
        )
        assert first_run.find(case(operation(), executions=rows)) == []

    def test_refresh_functions_are_no_first_executions(self) -> None:
        played = PlayedTest(kind="power")
        test = played_of(played.facts(), pl.DataFrame(played.events(), infer_schema_length=None))
        zero = {"system_s": 0.0, "minor_faults": 0.0, "read_bytes": 0.0, "pass": 0}
        rows = [
            {"phase": phase, "operation": name, "seconds": seconds} | zero
            for phase, name, seconds in (
                ("power-1", "rf1", 9.0),
                ("power-1", "q1", 1.0),
                ("power-2", "rf1", 1.0),
                ("warmup", "q1", 1.0),
            )
        ]
        findings = first_run.find(case(operation(), executions=executions(*rows), test=test))
        assert not [finding for finding in findings if finding.claim.startswith("First executions")]

    def test_no_pass_is_advised_before_a_test(self) -> None:
        played = PlayedTest(kind="steady", factors=(1.0, 1.0, 1.0))
        test = played_of(played.facts(), pl.DataFrame(played.events(), infer_schema_length=None))
        rows = self.rows(2.0, "measured")
        (plain,) = first_run.find(case(operation(), executions=rows))
        (tested,) = first_run.find(case(operation(), executions=rows, test=test))
        assert plain.to_try is not None
        assert tested.to_try is None

    def test_power_tests_that_are_about_alike_are_not_told(self) -> None:
        rows = self.power_tests(q1=(1.04, 1.0), q2=(1.04, 1.0))
        assert first_run.find(case(operation(), executions=rows)) == []
        slower = self.power_tests(q1=(1.0, 8.0))
        assert first_run.find(case(operation(), executions=slower)) == []

    def test_a_warm_up_before_two_power_tests_is_told_beside_them(self) -> None:
        zero = {"system_s": 0.0, "minor_faults": 0.0, "read_bytes": 0.0}
        warm = {"phase": "warmup", "pass": 0, "operation": "q1", "seconds": 30.0} | zero
        rows = pl.concat([executions(warm), self.power_tests(q1=(8.0, 1.0))])
        findings = first_run.find(case(operation(), executions=rows))
        assert [finding.claim.partition(" took")[0] for finding in findings] == [
            "First executions, in the warm-up,",
            "The first power test",
        ]
        assert [finding.tells for finding in findings] == ["shape", "cause"]

    def test_a_run_that_was_to_begin_cold_is_told_so(self) -> None:
        run_case = case(operation(), executions=self.rows(2.0, "measured"), state="cold")
        (finding,) = first_run.find(run_case)
        assert finding.to_try is not None
        assert finding.to_try.startswith("use --state hot")

    @pytest.mark.parametrize("first_s", [1.0, 1.19, 0.5])
    def test_one_that_is_about_as_long_is_not_told(self, first_s: float) -> None:
        assert first_run.find(case(operation(), executions=self.rows(first_s))) == []

    def test_one_execution_has_no_later_one(self) -> None:
        assert first_run.find(case(operation(), executions=self.rows(2.0)[:1])) == []


class TestColdCache:
    def rows(self, *pass_bytes: float) -> pl.DataFrame:
        rows = [
            {"phase": "measured", "pass": number, "operation": "q1", "read_bytes": read}
            for number, read in enumerate(pass_bytes)
        ]
        return executions(*rows)

    @pytest.mark.parametrize(
        ("pass_bytes", "when"),
        [
            ((GIB, 0.0, 0.0), "were not in memory, in the first pass"),
            ((GIB, GIB, GIB), "were not in memory, pass after pass"),
            ((GIB,), "were not in memory; most in q1"),
        ],
    )
    def test_it_says_whether_later_passes_were_warm(
        self, pass_bytes: tuple[float, ...], when: str
    ) -> None:
        run_case = case(operation(disk_read=0.5, cpu_user=0.5), executions=self.rows(*pass_bytes))
        (finding,) = cold_cache.find(run_case)
        assert when in finding.claim

    @pytest.mark.parametrize(
        ("pass_bytes", "when"),
        [
            ((GIB,), "were not in memory: the run had --state cold; most in q1"),
            ((GIB, 0.0), "were not in memory, in the first pass"),
        ],
    )
    def test_a_run_that_was_to_begin_cold_is_told_so(
        self, pass_bytes: tuple[float, ...], when: str
    ) -> None:
        rows = self.rows(*pass_bytes)
        run_case = case(operation(disk_read=0.5, cpu_user=0.5), executions=rows, state="cold")
        (finding,) = cold_cache.find(run_case)
        assert when in finding.claim
        assert finding.to_try == "use --state hot to measure with the data in memory"

    def test_a_load_can_be_warmed_up(self) -> None:
        run_case = case(operation(disk_read=0.5, cpu_user=0.5), load=a_load())
        (finding,) = cold_cache.find(run_case)
        assert finding.advice is not None
        assert (finding.advice.kind, set(finding.advice.values)) == ("state", {"warmup_s"})

    @pytest.mark.parametrize(("read", "count"), [(GIB, 1), (MIB, 0)])
    def test_a_disk_that_is_neither_counts_where_reading_was_most(
        self, read: int, count: int
    ) -> None:
        traffic = {"read_bytes": read, "write_bytes": 10 * MIB}
        run_case = case(
            operation(disk=0.5, cpu_user=0.5, overrides=traffic), executions=self.rows(GIB, GIB)
        )
        assert len(cold_cache.find(run_case)) == count


class TestSmallCache:
    def test_pages_from_storage_are_no_matter_of_the_engines_cache(self) -> None:
        run_case = copied(0.5)
        cold = from_storage(0.5).executions
        assert (
            small_cache.find(
                case(*run_case.operations, counters=run_case.counters, executions=cold)
            )
            == []
        )

    @pytest.mark.parametrize(
        ("table_bytes", "memory_bytes", "value"),
        [(GIB, 64 * GIB, 4 * GIB), (GIB, 5 * GIB, 2 * GIB), (None, 5 * GIB, 2 * GIB)],
    )
    def test_the_cache_that_is_advised_holds_the_tables_as_far_as_the_host_does(
        self, table_bytes: float | None, memory_bytes: int, value: int
    ) -> None:
        run_case = copied(0.5)
        (finding,) = small_cache.find(
            case(
                *run_case.operations,
                counters=run_case.counters,
                executions=run_case.executions,
                tables={"t": TableFacts(bytes=table_bytes)},
                environment={"host": {"memory_bytes": memory_bytes}},
            )
        )
        assert finding.advice is not None
        assert finding.advice.values == {"value": str(value)}

    @pytest.mark.parametrize(
        ("tables", "data_bytes", "value"),
        [
            # A file of which no tables are told needs a cache of its own size, and room.
            ({}, 20.0 * MIB, 22 * MIB),
            # Nothing is known of the size: a cache of all that was missed holds the data.
            ({}, None, 2345 * MIB),
            # Tables of other schemas, which no plan reads, need no room.
            ({"t": TableFacts(bytes=MIB), "x.t": TableFacts(bytes=GIB)}, None, 4 * MIB),
        ],
    )
    def test_the_cache_that_is_advised_is_no_larger_than_the_data_need(
        self, tables: dict[str, TableFacts], data_bytes: float | None, value: int
    ) -> None:
        run_case = dataclasses.replace(
            copied(0.5),
            tables=tables,
            data_bytes=data_bytes,
            settings={"shared_buffers": "1MB"},
            environment={"host": {"memory_bytes": 24 * GIB}},
        )
        (finding,) = small_cache.find(run_case)
        assert finding.advice is not None
        assert finding.advice.values == {"value": str(value)}

    def test_a_cache_that_holds_all_that_was_missed_is_not_too_small(self) -> None:
        run_case = copied(0.5)
        whole_case = case(
            *run_case.operations,
            counters=run_case.counters,
            executions=run_case.executions,
            tables=run_case.tables,
            settings={"shared_buffers": "8GB"},
        )
        assert small_cache.find(whole_case) == []

    def test_workers_that_read_side_by_side_are_not_counted_twice(self) -> None:
        """Three threads read for 30 % of their time each: by one clock that would be 90 %."""
        run_case = copied(0.9)
        measured_operation = operation(cpu_user=1.0, overrides={"threads_at_work": 3.0})
        (finding,) = small_cache.find(
            case(
                measured_operation,
                counters=run_case.counters,
                executions=run_case.executions,
                tables=run_case.tables,
            )
        )
        assert finding.effect_share == pytest.approx(0.3)

    @pytest.mark.parametrize(("spilled", "effect"), [(0.0, 0.4), (0.5 * GIB, 0.2), (5.0 * GIB, 0)])
    def test_the_kernel_copies_temporary_files_too(self, spilled: float, effect: float) -> None:
        """A sort of SQLite wrote more than its cache missed: a larger cache saved nothing."""
        figures = {"buffer_hits": 1.0, "buffer_reads": 1.0, "buffer_read_bytes": GIB}
        counters = counted(temporary_bytes=spilled, **figures)
        copying = operation(cpu_system=0.4, cpu_user=0.6)
        effects = [
            found.effect_share for found in small_cache.find(case(copying, counters=counters))
        ]
        assert effects == ([pytest.approx(effect)] if effect else [])

    def test_without_the_engines_clock_samples_tell(self, sampled: Any) -> None:
        counters = counted(buffer_hits=1.0, buffer_reads=1.0, buffer_read_bytes=GIB)
        profile = sampled(scan=1500, kern=500)
        measured_operation = operation(overrides={"seconds": 4.0}, cpu_user=0.8)
        (finding,) = small_cache.find(case(measured_operation, counters=counters, profile=profile))
        assert finding.effect_share == pytest.approx(0.25 * 0.8)
        assert "profile" in {evidence.at for evidence in finding.evidence}


class TestBufferManager:
    CACHED = counted(buffer_hits=1e6, buffer_reads=0.0)

    def findings(self, profile: Profile, counters: dict[str, Any] | None = CACHED) -> list[Any]:
        return buffer_manager.find(
            case(operation(cpu_user=1.0), counters=counters, profile=profile)
        )

    def test_what_finding_pages_costs_is_told(self, sampled: Any) -> None:
        (finding,) = self.findings(sampled(scan=1800, buff=200))
        assert finding.effect_share == pytest.approx(0.1)
        assert finding.tells == "shape"

    def test_under_three_percent_nothing_is_said(self, sampled: Any) -> None:
        """As of an engine whose page translation and latches are under 3 %."""
        assert self.findings(sampled(scan=1950, buff=50)) == []

    @pytest.mark.parametrize("counters", [None, counted(buffer_hits=50.0, buffer_reads=50.0)])
    def test_where_pages_are_read_it_is_not_this(
        self, sampled: Any, counters: dict[str, Any] | None
    ) -> None:
        assert self.findings(sampled(scan=1800, buff=200), counters) == []


class TestOptimiser:
    def test_samples_of_the_run_go_before_what_plans_told(self, sampled: Any) -> None:
        profile = sampled(scan=1500, opti=500)
        (finding,) = optimiser.find(case(operation(cpu_user=0.8), profile=profile))
        assert finding.effect_share == pytest.approx(0.25 * 0.8)
        assert finding.evidence[0].at == "profile:q1"

    def test_too_few_samples_say_nothing(self, sampled: Any) -> None:
        assert optimiser.find(case(operation(), profile=sampled(scan=300, opti=300))) == []


class TestWithoutASplit:
    """Where the time of operations is not split, as in records without looks at threads."""

    UNSPLIT = operation(overrides={"where": {}})

    def test_the_hypervisor_is_known_by_the_machine(self) -> None:
        used = Accounts(10.0, 4, {}, 30.0, 0.0, 10.0)
        (finding,) = steal.find(case(self.UNSPLIT, accounts=used))
        assert finding.effect_share == pytest.approx(0.25)
        quiet = Accounts(10.0, 4, {}, 30.0, 0.0, 0.1)
        assert steal.find(case(self.UNSPLIT, accounts=quiet)) == []

    @pytest.mark.parametrize(("share", "count"), [(0.3, 1), (0.01, 0), (None, 0)])
    def test_a_limit_is_known_by_its_periods(self, share: float | None, count: int) -> None:
        findings = throttled.find(case(self.UNSPLIT, throttled_share=share))
        assert len(findings) == count
        assert all("30 % of the limit's periods" in finding.claim for finding in findings)


class TestCheckpoints:
    RATES = (100.0,) * 8 + (20.0,) * 4 + (100.0,) * 8

    def case(self, rates: tuple[float, ...] = RATES, under_way: range = range(8, 12)) -> Case:
        times = [float(second) for second in range(21)]
        values = [None, *(5.0 if second in under_way else 0.0 for second in range(20))]
        series = [{"name": stalls.CHECKPOINT_FIGURE, "time_s": times, "values": values}]
        counters = counted(checkpoint_pages=20.0) | {"series": series}
        advice = {"settings": {"log_size": {"name": "max_wal_size", "values": "bytes"}}}
        settings = {"max_wal_size": "1GB"}
        return case(load=a_load(rates), counters=counters, advice=advice, settings=settings)

    def findings(
        self, rates: tuple[float, ...] = RATES, under_way: range = range(8, 12)
    ) -> list[Any]:
        return stalls.find(self.case(rates, under_way))

    def test_dips_during_checkpoints_are_told_with_what_is_missing(self) -> None:
        (finding,) = self.findings()
        assert finding.effect_share == pytest.approx(4 * 80 / 2000)
        assert finding.claim.startswith("Checkpoints slow the load: throughput dipped")
        assert "which cost 16 % of the operations" in finding.claim
        assert finding.advice is not None
        assert finding.advice.values == {"value": str(4 * GIB)}

    @pytest.mark.parametrize("under_way", [range(0), range(5), range(20)])
    def test_dips_at_other_times_are_not_theirs(self, under_way: range) -> None:
        assert self.findings(under_way=under_way) == []

    @pytest.mark.parametrize("rates", [(100.0,) * 20, RATES[6:14], (0.0,) * 20])
    def test_a_load_without_dips_has_none(self, rates: tuple[float, ...]) -> None:
        assert self.findings(rates) == []


class TestReading:
    def test_executions_have_their_growth_and_absent_is_null(self, synthetic: SyntheticRun) -> None:
        synthetic.events = [
            an_event(0, "a", BEGUN_NS, 500, phase="warmup"),
            an_event(1, "a", BEGUN_NS + S, 250),
            an_event(2, "a", BEGUN_NS + 2 * S, 250, outcome="failed", error="x"),
        ]
        start = {"sequence": 0, "edge": "start", "system_ns": 1, "minor_faults": 9}
        end = start | {"edge": "end", "system_ns": 1 + 100 * MS, "minor_faults": 5}
        synthetic.streams["tasks"] = [start, end]
        run = synthetic.write()
        rows = read_executions(run.table("events"), run.table("tasks")).rows(named=True)
        assert [row["phase"] for row in rows] == ["warmup", "measured"]
        assert rows[0]["seconds"] == pytest.approx(0.5)
        assert rows[0]["system_s"] == pytest.approx(0.1)
        assert rows[0]["minor_faults"] is None
        assert rows[1]["system_s"] is None

    def test_tables_are_as_the_last_reading_of_the_measured_part_told(self) -> None:
        def reading(
            time_ns: int, counter: str, value: float, source: str = "tables"
        ) -> dict[str, Any]:
            key = {"time_ns": time_ns, "source": source, "object": "t"}
            return key | {"counter": counter, "value": value}

        readings = pl.DataFrame(
            [
                reading(1, "rows", 1.0),
                reading(2, "rows", 2.0),
                reading(2, "analyzed", 0.0),
                reading(2, "unheard_of", 9.0),
                reading(2, "rows", 9.0, "database"),
                reading(3, "rows", 3.0),
            ]
        )
        assert table_facts(readings, 2) == {"t": TableFacts(rows=2.0, analyzed=False)}
        assert table_facts(readings, 0) == {"t": TableFacts(rows=1.0)}
        assert table_facts(readings.clear(), 2) == {}

    def test_columns_of_kept_results_and_statements_are_known(
        self, synthetic: SyntheticRun, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen: list[Case] = []
        monkeypatch.setattr(
            "assay.analysis.summarise.judged_findings",
            lambda case: seen.append(case) or Judged((), ()),
        )
        synthetic.facts["statements"] = {"a": {"text": "select 1"}, "b": {}}
        summarise(synthetic.write())
        assert seen[0].statements == {"a": "select 1"}
        assert set(seen[0].results.values()) == {("n",)}

    def test_a_record_of_nothing_but_events_is_summarised(self, synthetic: SyntheticRun) -> None:
        synthetic.events = [an_event(n, f"q{n}", BEGUN_NS + n * S, 100) for n in range(6)]
        synthetic.streams.clear()
        assert all(finding.tells == "shape" for finding in summarise(synthetic.write()).findings)


def test_a_case_knows_where_its_engine_may_run() -> None:
    assert Case("r", (), cores=4).engine_cores == 4
    assert Case("r", (), cores=4, pinned={"engine": 1}).engine_cores == 1
    assert case(*even(2)).part("lock") == {"q1": 0.0, "q2": 0.0}
