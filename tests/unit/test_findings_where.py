"""Claims from where the time of operations went. Each has its twin without the cause."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from assay.analysis.causes import PARTS
from assay.analysis.cluster.barriers import Barriers
from assay.analysis.cluster.line import Line, NodeFigures
from assay.analysis.cluster.told import Cluster
from assay.analysis.findings.client import client_bound
from assay.analysis.findings.host import kernel_time, steal, throttled
from assay.analysis.findings.host.kernel_time import KERNEL_SHARE
from assay.analysis.findings.memory import cold_cache
from assay.analysis.findings.shape import bound_by
from assay.analysis.findings.waiting import file_lock, lock_wait, stalls
from assay.analysis.host.accounts import Accounts
from assay.analysis.summary import OperationSummary
from assay.model.blocker import Blocker
from tests.cases import CORES, RUN, case, node, operation, passes, plan, plans
from tests.truths import counted

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

# A wait, the finding about it, and what that needs to be sure of it.
WAITS: list[tuple[str, Any, dict[str, Any]]] = [
    ("lock", lock_wait, {}),
    ("throttled", throttled, {}),
    ("disk_read", cold_cache, {}),
    ("disk_write", stalls, {"counters": {"counters": [{"name": "wal_bytes", "total": 9e9}]}}),
    ("client", client_bound, {}),
    ("stolen", steal, {}),
    ("run_queue", steal, {"accounts": Accounts(10.0, CORES, {}, 30.0, 10.0, None)}),
]


def bound(*operations: OperationSummary, **fields: Any) -> str:
    (finding,) = bound_by.find(case(*operations, **fields))
    return finding.claim


# Parts of the time of one operation, and what the claim begins with.
BOUNDS = [
    ({"disk_read": 0.6, "cpu_user": 0.4}, "Disk read 60 % of the time, executing 40 %"),
    ({"disk_write": 0.6, "cpu_user": 0.4}, "Disk write and sync 60 % of the time"),
    ({"log": 0.6, "cpu_user": 0.4}, "Commit and log 60 % of the time, executing 40 %"),
    ({"run_queue": 0.6, "cpu_user": 0.4}, "Waiting for a CPU 60 % of the time"),
    ({"stolen": 0.6, "cpu_user": 0.4}, "Stolen by the hypervisor 60 % of the time"),
    ({"throttled": 0.6, "cpu_user": 0.4}, "Held back by a CPU limit 60 % of the time"),
    ({"lock": 0.5, "latch": 0.1, "cpu_user": 0.4}, "Lock 50 % of the time, executing 40 %, latch"),
    ({"client": 0.6, "cpu_user": 0.4}, "Network and client 60 % of the time"),
    ({"cpu_user": 0.8, "cpu_system": 0.1}, "Executing 80 % of the time, kernel, for the engine"),
    ({"cpu_user": 0.3}, "Not explained 70 % of the time, executing 30 %"),
]


class TestBound:
    @pytest.mark.parametrize(("where", "begins"), BOUNDS, ids=lambda value: str(value)[:40])
    def test_the_largest_parts_are_named_with_their_shares(
        self, where: dict[str, float], begins: str
    ) -> None:
        assert bound(operation(**where)).startswith(begins)

    @pytest.mark.parametrize("share", [0.49, 0.5, 0.51])
    def test_no_threshold_changes_its_words(self, share: float) -> None:
        claim = bound(operation(cpu_user=share, lock=0.6 - share / 2))
        assert f"executing {share * 100:.0f} %" in claim.lower()

    def test_the_largest_kind_of_work_is_named(self) -> None:
        query_plans = plans(plan(node("sort", node("scan", seconds=0.8), seconds=0.2)))
        (finding,) = bound_by.find(case(operation(), plans=query_plans))
        assert finding.claim.startswith("Executing 100 % of the time (scan 80 %)")

    def test_where_nothing_is_known_of_threads_tasks_of_a_cluster_tell(self) -> None:
        grown = {"task_ns": 100.0, "wait_ns": 20.0, "blocked_ns": 10.0, "scheduling_ns": 100.0}
        grown |= {"cpu_ns": 40.0}
        line = Line(1.0, NodeFigures("", "", grown), ())
        cluster = Cluster("Workers", (), {}, {}, 4.0, line, (), {}, Barriers())
        run_case = case(operation(cpu_user=0.3), cluster=cluster)
        (finding,) = bound_by.find(run_case)
        message = (
            "of the time of tasks 50 % scheduling, 40 % on a CPU, 30 % waiting for other nodes"
        )
        assert message in finding.claim
        (plain,) = bound_by.find(case(operation(cpu_user=0.3, lock=0.4), cluster=cluster))
        assert message not in plain.claim

    @pytest.mark.parametrize("busy", [3.5, 1.3])
    def test_of_time_that_was_not_split_only_busy_cores_are_told(self, busy: float) -> None:
        unsplit = dataclasses.replace(operation(parallelism=busy), where=dict.fromkeys(PARTS))
        (finding,) = bound_by.find(case(unsplit))
        assert finding.claim == (
            f"The engine used {busy} of 4 CPUs; what operations waited for was not measured;"
            " q1 is 100 % of the time"
        )
        assert finding.effect_share == pytest.approx(busy / CORES)
        uncounted = dataclasses.replace(unsplit, parallelism=None)
        assert bound_by.find(case(uncounted)) == []
        assert bound_by.find(case(unsplit, cores=None)) == []

    @pytest.mark.parametrize("disk", [0.55, 0.7, 0.9])
    def test_a_run_that_was_built_disk_bound_is_found_to_be(self, disk: float) -> None:
        operations = [
            operation("a", share=0.6, disk_read=disk + 0.04, cpu_user=0.96 - disk),
            operation("b", share=0.4, disk_read=disk - 0.06, cpu_user=1.06 - disk),
        ]
        (finding,) = bound_by.find(case(*operations))
        assert finding.claim.startswith("Disk read ")
        assert finding.effect_share == pytest.approx(disk, abs=0.03)
        assert (finding.tells, finding.key) == ("bound", "bound-by:a")

    def test_cores_that_were_busy_are_told(self) -> None:
        assert "the engine used 3.9 of 4 CPUs" in bound(operation(parallelism=3.9))
        assert "the engine used 3.9 CPUs" in bound(operation(parallelism=3.9), cores=None)

    def test_of_an_observed_server_all_sessions_are_busy_together(self) -> None:
        used = Accounts(10.0, CORES, {"engine": 9.2, "probes": 0.1}, 9.3, 0.0, None)
        seen = [operation(parallelism=0.1)]
        assert "the engine used 0.92 of 4 CPUs" in bound(*seen, is_observed=True, accounts=used)
        assert "the engine used" not in bound(*seen, is_observed=True)

    def test_operations_weigh_by_their_share_of_the_time(self) -> None:
        slow = operation("slow", share=0.9, disk_read=0.8, cpu_user=0.2)
        quick = operation("quick", share=0.1, cpu_user=1.0)
        assert bound(slow, quick).startswith("Disk read 72 %")

    def test_the_longest_operations_are_named_with_their_share_and_are_evidence(self) -> None:
        shares = {"a": 0.1, "b": 0.4, "c": 0.2, "d": 0.3}
        operations = [operation(name, share=share, cpu_user=0.9) for name, share in shares.items()]
        (finding,) = bound_by.find(case(*operations))
        assert "b, d, c are 90 % of the time" in finding.claim
        assert [evidence.at for evidence in finding.evidence] == ["where:b", "where:d", "where:c"]
        assert finding.evidence[0].says == (
            "b is 40 % of the time: Executing 90 %, Not explained 10.0 %"
        )

    def test_passes_that_differ_give_an_interval_that_holds_the_effect(self) -> None:
        slow = operation("slow", share=0.8, disk_read=0.9, cpu_user=0.1)
        quick = operation("quick", share=0.2, cpu_user=1.0)
        times = passes({"slow": [0.8, 0.7, 0.9], "quick": [0.2, 0.2, 0.2]})
        (finding,) = bound_by.find(case(slow, quick, executions=times))
        assert finding.interval is not None
        low, high = finding.interval
        assert low < finding.effect_share < high


class TestWhatIsNotSplit:
    """It is not known to have waited for nothing: claims are of the time that is known."""

    UNKNOWN: ClassVar = {"where": dict.fromkeys(PARTS)}

    @pytest.mark.parametrize(
        ("part", "finding", "case_fields"), WAITS, ids=lambda value: str(value)[-30:]
    )
    def test_it_makes_no_wait_smaller(
        self, part: str, finding: Any, case_fields: dict[str, Any]
    ) -> None:
        split = operation("a", share=0.6, **{part: 0.5}, cpu_user=0.5)
        unknown = operation("b", share=0.4, overrides=self.UNKNOWN)
        (only_finding,) = finding.find(case(split, unknown, **case_fields))
        assert only_finding.effect_share == pytest.approx(0.5)
        assert "50 %" in only_finding.claim

    @pytest.mark.parametrize(
        ("part", "finding", "case_fields"), WAITS, ids=lambda value: str(value)[-30:]
    )
    def test_of_most_of_the_time_unknown_nothing_is_claimed(
        self, part: str, finding: Any, case_fields: dict[str, Any]
    ) -> None:
        split = operation("a", share=0.4, **{part: 0.5}, cpu_user=0.5)
        unknown = operation("b", share=0.6, overrides=self.UNKNOWN)
        assert finding.find(case(split, unknown, **case_fields)) == []

    def test_intervals_are_of_the_same_time_as_effects(self) -> None:
        split = operation("a", share=0.6, lock=0.5, cpu_user=0.5)
        unknown = operation("b", share=0.4, overrides=self.UNKNOWN)
        times = passes({"a": [0.6, 0.5, 0.7], "b": [0.4, 0.5, 0.3]})
        looks = {"executions": times, "look_interval_s": 0.018}
        (finding,) = lock_wait.find(case(split, unknown, **looks))
        assert finding.interval == pytest.approx((0.5 - 0.098, 0.5 + 0.098))


class TestClient:
    """A client that has no CPU is late, and the server waits for it."""

    def of(self, queued: float | None, **case_fields: Any) -> Any:
        measured_operation = operation(client=0.5, cpu_user=0.5)
        return client_bound.find(case(measured_operation, client_queue_share=queued, **case_fields))

    def test_on_cpus_of_its_own_others_took_them(self) -> None:
        (finding,) = self.of(0.4, pinned={"client": 1})
        assert finding.tells == "cause"
        assert finding.effect_share == pytest.approx(0.4)
        assert {"wait", "counter"} == set(finding.witnesses)

    @pytest.mark.parametrize(("statements", "tells"), [(1, "cause"), (300, "shape")])
    def test_many_small_results_are_no_large_one(self, statements: int, tells: str) -> None:
        """A page that looks up 300 customers waits for 300 answers of five rows each."""
        waiting = operation(client=0.5, cpu_user=0.5, overrides={"rows": 1_500})
        look_ups = (dataclasses.replace(plan(node()), statement=n) for n in range(statements))
        (finding,) = client_bound.find(case(waiting, plans=plans(*look_ups)))
        assert finding.tells == tells

    @pytest.mark.parametrize(
        ("counts", "is_small"),
        [({}, True), ({"sent_bytes": 1e6}, False), ({"large_value_pieces": 800.0}, False)],
    )
    def test_few_rows_of_large_values_are_no_small_result(
        self, counts: dict[str, float], *, is_small: bool
    ) -> None:
        (finding,) = self.of(None, counters=counted(**counts))
        assert ("results are small" in finding.claim) is is_small

    @pytest.mark.parametrize(
        ("queued", "case_fields"), [(0.4, {}), (0.05, {"pinned": {"client": 1}}), (None, {})]
    )
    def test_beside_a_busy_engine_or_at_once_it_is_none(
        self, queued: float | None, case_fields: dict[str, Any]
    ) -> None:
        assert [client_finding.tells for client_finding in self.of(queued, **case_fields)] == [
            "shape"
        ]


class TestKernel:
    def test_kernel_time_is_named_with_its_faults(self) -> None:
        (finding,) = kernel_time.find(case(operation(cpu_system=0.4, cpu_user=0.6)))
        assert finding.claim == (
            "q1 spent 40 % of its CPU time in the kernel, with 1.23 k page faults per execution"
        )
        assert finding.effect_share == pytest.approx(0.4)
        assert (finding.key, finding.runs) == ("kernel-time:q1", (RUN,))

    def test_the_twin_with_less_than_the_threshold_is_not(self) -> None:
        system = KERNEL_SHARE - 0.01
        assert kernel_time.find(case(operation(cpu_system=system, cpu_user=1 - system))) == []

    def test_nor_is_one_that_hardly_matters_to_the_run(self) -> None:
        small = operation("small", share=0.05, cpu_system=0.9, cpu_user=0.1)
        rest = operation("rest", share=0.95, cpu_user=1.0)
        assert kernel_time.find(case(small, rest)) == []

    def test_an_operation_without_cpu_time_divides_nothing_by_zero(self) -> None:
        assert kernel_time.find(case(operation(disk_read=1.0))) == []

    def test_a_share_that_was_not_measured_is_no_claim(self) -> None:
        unknown = dataclasses.replace(operation(), where={})
        assert kernel_time.find(case(unknown)) == []


def test_a_share_is_the_same_in_whatever_order_operations_are_asked_for() -> None:
    names = [f"q{number:02}" for number in range(1, 8)]
    run_case = case(*(operation(name, 0.1 + place / 70) for place, name in enumerate(names)))
    forth = {name: 0.1 + place / 30 for place, name in enumerate(names)}
    back = dict(reversed(forth.items()))
    assert run_case.of_run(forth) == run_case.of_run(back)


def of_one_file(**more: Any) -> Any:
    """A case of an engine that has one writer at a time and does not count its log."""
    settings = {
        "log_mode": {"name": "journal_mode", "cheaper": {"value": "wal", "but": "one sync"}},
        "commit_sync": {"name": "synchronous", "cheaper": {"value": "normal", "but": "a risk"}},
        "lock_timeout": {"name": "busy_timeout", "limits": "the write lock of the file"},
    }
    return {"advice": {"settings": settings}, **more}


class TestTwoLogs:
    """An engine that syncs its own log, and one of statements for replicas where it has one."""

    ROLES: ClassVar = {
        "commit_sync": {"name": "flush", "cheaper": {"value": "2", "but": "x", "alike": ["0"]}},
        "second_log_sync": {
            "name": "sync_binlog",
            "needs": {"log_bin": ["on", "1"]},
            "cheaper": {"value": "0", "but": "replicas may miss commits"},
        },
    }

    def find(self, **settings: str) -> list[Finding]:
        split = operation(log=0.4, cpu_user=0.6)
        counters = counted(wal_bytes=1e7)
        advice = {"settings": self.ROLES}
        return stalls.find(case(split, advice=advice, settings=settings, counters=counters))

    def test_the_second_is_named_where_there_is_one(self) -> None:
        (finding,) = self.find(flush="2", sync_binlog="1", log_bin="ON")
        assert finding.tells == "cause"
        assert [evidence.at for evidence in finding.evidence][2:] == ["setting:sync_binlog"]
        assert "sync_binlog = 0: replicas may miss commits" in (finding.to_try or "")
        (finding,) = self.find(flush="1", sync_binlog="1", log_bin="OFF")
        assert [evidence.at for evidence in finding.evidence][2:] == ["setting:flush"]

    @pytest.mark.parametrize("flush", ["0", "2"])
    def test_commits_that_do_not_wait_for_the_disk_are_no_cause(self, flush: str) -> None:
        (finding,) = self.find(flush=flush, sync_binlog="1", log_bin="OFF")
        assert finding.tells == "shape"


class TestOneFile:
    def test_settings_that_make_commits_wait_are_named_with_their_values(self) -> None:
        values = {"journal_mode": "delete", "synchronous": "full"}
        split = operation(log=0.2, cpu_user=0.8)
        (finding,) = stalls.find(case(split, **of_one_file(settings=values)))
        assert "journal_mode delete and synchronous full" in finding.claim
        assert "journal_mode = wal: one sync" in (finding.to_try or "")
        assert [evidence.at for evidence in finding.evidence][1:] == [
            "setting:journal_mode",
            "setting:synchronous",
        ]
        assert finding.tells == "cause"

    def test_a_sync_for_safety_is_a_cause_where_it_is_much_of_the_time(self) -> None:
        values = {"journal_mode": "wal", "synchronous": "full"}
        for share, tells in ((0.08, "shape"), (0.4, "cause")):
            split = operation(log=share, cpu_user=1 - share)
            (finding,) = stalls.find(case(split, **of_one_file(settings=values)))
            assert finding.tells == tells

    @pytest.mark.parametrize(("checkpoints_s", "is_sure"), [(3.0, False), (1.0, True), (0.0, True)])
    def test_checkpoints_write_pages_with_relaxed_durability_too(
        self, checkpoints_s: float, *, is_sure: bool
    ) -> None:
        """Ten seconds of executions wait for the log for 4 s."""
        values = {"journal_mode": "wal", "synchronous": "full"}
        run_case = case(
            operation(log=0.4, cpu_user=0.6),
            **of_one_file(settings=values),
            counters=counted(checkpoint_seconds=checkpoints_s),
            executions=passes({"q1": [5.0, 5.0]}),
        )
        (finding,) = stalls.find(run_case)
        assert (finding.settle is None) is is_sure
        assert ("fewer indexes" in (finding.to_try or "")) is not is_sure

    def test_nothing_is_said_of_settings_that_do_not_wait(self) -> None:
        values = {"journal_mode": "wal", "synchronous": "normal"}
        split = operation(log=0.4, cpu_user=0.6)
        assert stalls.find(case(split, **of_one_file(settings=values))) == []

    def test_writers_wait_for_the_one_lock(self) -> None:
        counters = [
            {"name": file_lock.LOCK_SECONDS, "total": 2.0},
            {"name": file_lock.LOCK_WAITS, "total": 70.0},
        ]
        facts = of_one_file(settings={"busy_timeout": "5000"}, counters={"counters": counters})
        (finding,) = lock_wait.find(case(operation(lock=0.5, cpu_user=0.5), **facts))
        assert "for the write lock of the file: another connection held it" in finding.claim
        assert [evidence.at for evidence in finding.evidence][1:] == [
            "counter:lock_wait_seconds",
            "setting:busy_timeout",
        ]

    SCOPE: ClassVar = {
        "name": "journal_mode",
        "limits": "the lock that commits and readers take",
        "cheaper": {"value": "wal", "but": "readers do not wait"},
    }

    def of_short_operations(self, journal: str, waited_s: float, sampled: float | None) -> Any:
        """Operations that no sample of threads fell into: only sums are known."""
        facts = of_one_file(settings={"busy_timeout": "5000", "journal_mode": journal})
        facts["advice"]["settings"]["lock_scope"] = self.SCOPE
        unsplit = dataclasses.replace(operation(), where=dict.fromkeys(PARTS))
        counters = counted(lock_wait_seconds=waited_s, lock_waits=70.0)
        run_case = case(unsplit, counters=counters, executions=passes({"q1": [10.0]}), **facts)
        return dataclasses.replace(run_case, where={"lock": sampled})

    @pytest.mark.parametrize(("sampled", "effect"), [(0.3, 0.3), (None, 0.6), (0.9, 0.6)])
    def test_the_engines_count_tells_of_waits_of_operations_that_are_too_short_for_samples(
        self, sampled: float | None, effect: float
    ) -> None:
        (finding,) = lock_wait.find(self.of_short_operations("wal", 6.0, sampled))
        assert finding.effect_share == pytest.approx(effect)
        assert "for the write lock of the file: another connection held it" in finding.claim

    @pytest.mark.parametrize(("idle_s", "is_sure"), [(0.0, False), (9.0, True)])
    def test_with_all_cpus_busy_the_time_may_move_to_the_queue_for_them(
        self, idle_s: float, *, is_sure: bool
    ) -> None:
        accounts = Accounts(10.0, 4, {"engine": 9.0}, 40.0 - idle_s, idle_s, None)
        run_case = self.of_short_operations("delete", 6.0, None)
        (finding,) = lock_wait.find(dataclasses.replace(run_case, accounts=accounts))
        assert (finding.settle is None) is is_sure
        assert finding.saved == (0.0, pytest.approx(0.6))

    @pytest.mark.parametrize(("waited_s", "sampled"), [(0.3, None), (6.0, 0.02), (0.0, 0.9)])
    def test_its_twin_without_waits_is_silent(self, waited_s: float, sampled: float | None) -> None:
        assert lock_wait.find(self.of_short_operations("delete", waited_s, sampled)) == []

    @pytest.mark.parametrize(("journal", "is_named"), [("delete", True), ("WAL", False)])
    def test_a_journal_that_keeps_readers_and_commits_apart_is_named(
        self, journal: str, *, is_named: bool
    ) -> None:
        (finding,) = lock_wait.find(self.of_short_operations(journal, 6.0, None))
        assert ("the lock that commits and readers take" in finding.claim) is is_named
        assert ("journal_mode = wal: readers do not wait" in (finding.to_try or "")) is is_named

    def test_the_journal_of_a_users_own_file_is_not_tried(self) -> None:
        """A file keeps its journal mode after the session that set it."""
        run_case = self.of_short_operations("delete", 6.0, None)
        (finding,) = lock_wait.find(run_case)
        assert finding.advice is not None
        assert finding.effect_share == pytest.approx(0.6)
        own = dataclasses.replace(run_case, request={"dsn": "sqlite:///shop.db"})
        (finding,) = lock_wait.find(own)
        assert finding.advice is None
        assert "assay try" not in (finding.to_try or "")


class TestLocksHeldDuringCommits:
    """Clients change a few rows, and each commit waits for the disk while it holds a row."""

    def of(self, **where: float) -> Case:
        advice = {"settings": {"commit_sync": {"name": "sync", "cheaper": {"value": "off"}}}}
        facts = {"advice": advice, "settings": {"sync": "on"}, "counters": counted(wal_bytes=1e6)}
        return case(operation(**where), **facts)

    @pytest.mark.parametrize(
        ("where", "is_sure"),
        [
            ({"lock": 0.43, "run_queue": 0.26, "log": 0.24, "cpu_user": 0.07}, False),
            ({"lock": 0.43, "run_queue": 0.26, "log": 0.06, "cpu_user": 0.25}, True),
            ({"lock": 0.6, "client": 0.3, "log": 0.1}, True),
            ({"lock": 0.5, "disk_write": 0.4, "cpu_user": 0.1}, False),
        ],
    )
    def test_the_lock_may_be_a_symptom_of_the_commit(
        self, where: dict[str, float], *, is_sure: bool
    ) -> None:
        """PostgreSQL had no lock waits left when commits did not wait for the disk."""
        (finding,) = lock_wait.find(self.of(**where))
        assert (finding.settle is None) is is_sure

    def test_faster_commits_shorten_the_waits_for_locks(self) -> None:
        (finding,) = stalls.find(self.of(lock=0.43, run_queue=0.26, log=0.24, cpu_user=0.07))
        assert finding.effect_share == pytest.approx(0.24)
        assert finding.saved == (0.0, pytest.approx(0.67))
        (apart,) = stalls.find(self.of(lock=0.3, log=0.24, cpu_user=0.46))
        assert apart.saved == (0.0, pytest.approx(0.24))


@pytest.mark.parametrize(
    ("mode", "advice"),
    [("row", "rows that fewer"), ("ExclusiveLock", "a weaker lock, taken later")],
)
def test_who_waits_for_a_table_is_not_told_to_share_fewer_rows(mode: str, advice: str) -> None:
    blocker = Blocker(session=7, own=True, looks=9, share=1.0, object="ledger", mode=mode)
    run_case = case(operation(lock=0.7, cpu_user=0.3), blockers=(blocker,))
    (finding,) = lock_wait.find(run_case)
    assert advice in (finding.to_try or "")


def locked_for(*texts: str, object_name: str = "tariffs") -> str:
    """The advice for clients whose first statement waits for a row of a table."""
    blocker = Blocker(
        session=7,
        own=True,
        looks=9,
        share=1.0,
        object=object_name,
        mode="row",
        waiting_statement=texts[0],
    )
    captured = [
        dataclasses.replace(plan(node("index scan")), statement=number, text=text)
        for number, text in enumerate(texts)
    ]
    its = operation(lock=0.6, cpu_user=0.4)
    (finding,) = lock_wait.find(case(its, blockers=(blocker,), plans=plans(*captured)))
    return finding.to_try or ""


LOCKING = "select cents from tariffs where tariff = $1 for update"


def test_rows_that_nobody_changes_are_locked_for_share() -> None:
    other = "insert into bills (household, tariff) values ($1, $2)"
    read = "-- How much?\nselect sum(watts) from readings, tariffs where tariff = $1"
    advice = locked_for(LOCKING, read, other)
    assert advice.startswith("lock with `for share` what is only read")
    assert "no statement of the run changes tariffs" in advice


@pytest.mark.parametrize(
    "change",
    [
        "update tariffs set cents = 3 where tariff = $1",
        'update only "shop"."tariffs" as t set cents = 3',
        "delete from tariffs where tariff = $1",
        "insert into tariffs values ($1, 3) on conflict (tariff) do update set cents = 3",
        "with old as (select 1) update tariffs set cents = 3",
    ],
)
def test_rows_that_are_changed_stay_locked(change: str) -> None:
    assert "for share" not in locked_for(LOCKING, change)


def test_a_shared_lock_is_no_advice_for_other_statements() -> None:
    assert "for share" not in locked_for("select cents from tariffs for key share")
    assert "for share" not in locked_for("update tariffs set cents = 3")
