"""Upkeep of the server that is in the way, and snapshots that keep old versions of rows."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from assay.analysis.findings.engine_facts import TableFacts
from assay.analysis.findings.memory import dead_rows
from assay.analysis.findings.waiting import maintenance, old_snapshot
from assay.analysis.server.other_work import with_peers, workers
from assay.model.other_work import SNAPSHOT, OtherWork, Worker
from tests.cases import ADVICE, SETTINGS, case, node, operation, plan, plans
from tests.truths import counted, neighboured

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case

DELAY = "autovacuum_vacuum_cost_delay"


def worker(session: int = 7, work: str = "autovacuum", **facts: Any) -> Worker:
    whole: dict[str, Any] = {"own": False, "looks": 5, "share": 1.0, "objects": ("orders",)} | facts
    return Worker(session, work, **whole)


def snapshot(**facts: Any) -> Worker:
    blocker_fields = {
        "application": "analyst",
        "state": "idle in transaction",
        "transaction_s": 40.0,
    }
    return worker(
        99, SNAPSHOT, **{**blocker_fields, "statement": "select 1", "objects": ()} | facts
    )


def row(time_ns: int, session: int, work: str, **facts: Any) -> dict[str, Any]:
    return {"time_ns": time_ns, **OtherWork(session, work, **facts).facts()}


class TestWorkers:
    def test_looks_at_a_session_are_one_worker_for_each_sort_of_work(self) -> None:
        rows = [
            row(1, 7, "vacuum", object="orders", transaction_s=1.0),
            row(2, 7, "vacuum", object="orders", transaction_s=2.0),
            row(2, 7, "analyze", object="lines"),
            row(2, 8, SNAPSHOT, behind=500.0),
        ]
        first, *others = workers(rows, {8}, 4, {7: (1.5, 3e6, 0.25)})
        assert (first.session, first.work, first.looks, first.share) == (7, "vacuum", 2, 0.5)
        assert (first.cpu_s, first.moved_bytes, first.moved_share) == (1.5, 3e6, 0.25)
        assert (first.objects, first.transaction_s, first.own) == (("orders",), 2.0, False)
        assert {(other.work, other.own, other.behind) for other in others} == {
            ("analyze", False, None),
            (SNAPSHOT, True, 500.0),
        }

    def test_a_session_without_a_process_has_no_figures_of_one(self) -> None:
        (only,) = workers([row(1, 7, "optimize")], set(), 1, {})
        assert (only.cpu_s, only.moved_bytes) == (None, None)

    def test_processes_between_two_looks_are_put_down_to_those_of_their_title(self) -> None:
        used = {1: (1.0, 10.0, 0.1), 2: (2.0, 20.0, 0.2), 3: (3.0, None, None), 4: (9.0, 0.0, 0.0)}
        titles = {1: "upkeep", 2: "upkeep", 3: "upkeep", 4: "writer"}
        whole = with_peers(used, titles, {1, 3})
        assert whole[1] == whole[3] == (3.0, 15.0, pytest.approx(0.15))
        assert whole[4] == used[4]
        assert with_peers(used, {4: None}, {1}) == used


class TestMaintenance:
    def of(self, *seen: Worker, **facts: Any) -> Case:
        """One thread that waits for a CPU for 60 % of 100 s."""
        run_case = neighboured(0.6)
        advice = {**ADVICE, "upkeep": {"autovacuum": (DELAY, "naptime")}}
        settings = {**SETTINGS, DELAY: "0"}
        return replace(run_case, workers=seen, advice=advice, settings=settings, **facts)

    def test_it_has_as_much_of_the_waiting_as_it_computed(self) -> None:
        run_case = self.of(worker(cpu_s=30.0))
        assert run_case.accounts is not None
        waited_s = 0.6 * run_case.accounts.window_s
        (finding,) = maintenance.find(run_case)
        assert finding.effect_share == pytest.approx(0.6 * min(1.0, 30.0 / waited_s))
        assert finding.part == "computing/queue"
        assert "autovacuum of orders (session 7)" in finding.claim
        assert f"{DELAY} = 0" in (finding.to_try or "")
        assert {"session", "wait", "setting"} <= set(finding.witnesses)

    def test_a_session_that_does_two_things_counts_once(self) -> None:
        both = (worker(cpu_s=20.0), worker(work="analyze", looks=1, cpu_s=20.0))
        (once,), (twice,) = maintenance.find(self.of(both[0])), maintenance.find(self.of(*both))
        assert once.effect_share == pytest.approx(twice.effect_share)

    @pytest.mark.parametrize(
        "seen",
        [(), (worker(cpu_s=0.5),), (worker(own=True, cpu_s=50.0),), (snapshot(cpu_s=50.0),)],
    )
    def test_its_twin_is_silent(self, seen: tuple[Worker, ...]) -> None:
        assert maintenance.find(self.of(*seen)) == []

    def test_who_moves_most_has_most_of_the_wait_for_the_disk(self) -> None:
        measured_operation = operation(disk_read=0.5, cpu_user=0.5)
        run_case = replace(
            neighboured(0.0),
            operations=(measured_operation,),
            workers=(worker(moved_bytes=1e9, moved_share=0.8),),
        )
        (finding,) = maintenance.find(run_case)
        assert finding.part == "waiting/disk_read"
        assert finding.effect_share == pytest.approx(0.4)


class TestDeadRows:
    def of(self, *seen: Worker) -> Case:
        scan = node("scan", object="orders", seconds=1.0)
        facts = TableFacts(rows=1e5, dead_rows=9e5, bytes=1e8)
        measured_operation = operation(overrides={"seconds": 1.0}, cpu_user=1.0)
        return case(
            measured_operation, plans=plans(plan(scan)), tables={"orders": facts}, workers=seen
        )

    def test_the_session_that_keeps_them_is_named_before_a_vacuum_is_advised(self) -> None:
        (finding,) = dead_rows.find(self.of(snapshot(behind=5e4)))
        assert (
            "session 99 (analyst, idle in transaction, its transaction open for 40" in finding.claim
        )
        assert "session" in finding.witnesses
        assert finding.advice is None
        assert (finding.to_try or "").startswith("commit, roll back or end the transaction of")

    @pytest.mark.parametrize("seen", [snapshot(own=True), snapshot(share=0.1), worker()])
    def test_others_are_not_blamed(self, seen: Worker) -> None:
        (finding,) = dead_rows.find(self.of(seen))
        assert "session" not in finding.witnesses
        assert finding.advice is not None

    @pytest.mark.parametrize(
        ("scanned", "is_outdated"), [(12e3, True), (1.2e6, True), (1e3, False)]
    )
    def test_counts_that_a_scan_contradicts_are_of_another_time(
        self, scanned: float, *, is_outdated: bool
    ) -> None:
        """A vacuum removed the rows before they were counted as dead; their space stays."""
        scan = node("scan", object="orders", seconds=1.0, rows=scanned, loops=1)
        tables = {"orders": TableFacts(rows=1e3, dead_rows=6e5, bytes=8.5e7)}
        whole = operation(overrides={"seconds": 1.0})
        (finding,) = dead_rows.find(case(whole, plans=plans(plan(scan)), tables=tables))
        assert (finding.settle == dead_rows.OUTDATED) is is_outdated
        assert ("dead or already removed" in finding.claim) is is_outdated
        assert finding.effect_share == pytest.approx(6e5 / (6e5 + scanned), abs=0.01)


class TestOldSnapshot:
    def of(
        self, *seen: Worker, last: float = 50.0, kept: float = 1e6, shape: str = "closed"
    ) -> Case:
        """A load that slows down while changes that old readers may want pile up."""
        series = [{"name": "undo_records", "time_s": [0.0, 1, 2], "values": [5e3, 6e3, kept]}]
        pace = SimpleNamespace(interval_s=1.0, throughput_per_s=(100.0, (100 + last) / 2, last))
        load: Any = SimpleNamespace(pace=pace, load=SimpleNamespace(shape=shape))
        counters = counted() | {"series": series}
        return case(operation(cpu_user=1.0), counters=counters, load=load, workers=seen)

    def test_what_the_load_lost_while_changes_piled_up_is_the_effect(self) -> None:
        (finding,) = old_snapshot.find(self.of(snapshot()))
        assert finding.effect_share == pytest.approx(0.25)
        assert finding.saved == (pytest.approx(0.25), pytest.approx(0.5))
        assert {"session", "counter"} <= set(finding.witnesses)
        assert "session 99" in finding.claim

    @pytest.mark.parametrize("facts", [{"last": 95.0}, {"kept": 100.0}, {"shape": "open"}])
    def test_its_twin_is_silent(self, facts: dict[str, Any]) -> None:
        assert old_snapshot.find(self.of(snapshot(), **facts)) == []

    def test_without_a_holder_nobody_is_blamed(self) -> None:
        assert old_snapshot.find(self.of()) == []
