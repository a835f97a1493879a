"""The cluster line on nodes whose every count is known."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.analysis.cluster.barriers import Barriers, Execution, find_barriers, troughs
from assay.analysis.cluster.line import Line, NodeFigures, figures_text, together
from assay.analysis.cluster.node_clocks import NodeClock, node_clocks
from assay.analysis.cluster.nodes import ClusterNode
from assay.analysis.cluster.skew import skews, skews_over
from assay.analysis.cluster.told import Cluster, cluster_of
from assay.analysis.summarise import summarise
from assay.record.reader import Run
from tests.clusters import CLUSTER, DECLARED, MIB, ROOTS, as_cluster
from tests.conftest import BEGUN_NS, MS, S, SyntheticRun, an_event

LOOKS = 600
# Of so many steady series at most one in twenty may be said to have lost anything to speak of.
SERIES, ALARMS_MAX, LOST_MIN = 100, 0.05, 0.01


def read_cluster(synthetic: SyntheticRun, **more: Any) -> Cluster:
    cluster = cluster_of(of(synthetic, **more))
    assert cluster is not None
    return cluster


def of(synthetic: SyntheticRun, **more: Any) -> Run:
    synthetic.write()
    return Run(as_cluster(synthetic.dir, **more))


def long(synthetic: SyntheticRun, seconds: float = 4.0) -> SyntheticRun:
    synthetic.events = [an_event(0, "a", BEGUN_NS, seconds * 1000)]
    return synthetic


class TestLine:
    def test_of_the_measured_part_whole_and_by_node(self, synthetic: SyntheticRun) -> None:
        line = read_cluster(synthetic).run
        assert line is not None
        assert line.head == (
            "Cluster 3 nodes, 2 s. 1.5K m/s 6K KB/s 130% cpu 2.93K KB/s read 15% clw (10% fetch, 5%"
            " blocked) 20% sched 600MB mem"
        )
        assert line.each[2].startswith("worker-2: 500 m/s 2K KB/s 40% cpu")
        assert {by for node in line.nodes for by in node.cpu_by} == {"kernel"}

    def test_of_one_execution_of_each_operation(self, synthetic: SyntheticRun) -> None:
        cluster = read_cluster(synthetic)
        assert set(cluster.operations) == {"a", "b"}
        whole = cluster.operations["b"].whole
        assert whole.grown["messages"] == pytest.approx(1.5 * 1000 * 0.3)
        assert whole.share_of_tasks("wait_ns", "blocked_ns") == pytest.approx(0.15)
        assert whole.bytes_a_message == 4096

    def test_an_interval_for_every_two_readings(self, synthetic: SyntheticRun) -> None:
        parts = read_cluster(synthetic).intervals
        assert [round(interval.ended_s - interval.begun_s, 6) for interval in parts] == [0.5] * len(
            parts
        )
        assert all(a.ended_s == b.begun_s for a, b in pairwise(parts))
        assert parts[0].line.head.endswith("20% sched 600MB mem")

    def test_short_executions_have_the_cpu_time_that_the_engine_counts(
        self, synthetic: SyntheticRun
    ) -> None:
        cluster = read_cluster(synthetic)
        assert cluster.operations["a"].nodes[1].cpu_by == ("engine",)
        assert cluster.operations["a"].nodes[1].cpu_s == pytest.approx(0.04)
        assert any("fewer than 3 samples" in note for note in cluster.notes)

    def test_long_ones_have_the_kernels_with_children(self, synthetic: SyntheticRun) -> None:
        nodes = read_cluster(long(synthetic)).operations["a"].nodes
        assert [node.cpu_by for node in nodes] == [("kernel",)] * 3
        assert nodes[2].cpu_s == pytest.approx(0.4 * 4)

    def test_nodes_elsewhere_are_told_by_the_engine_and_have_no_barriers(
        self, synthetic: SyntheticRun
    ) -> None:
        cluster = read_cluster(synthetic, here=False)
        assert cluster.run is not None
        assert cluster.run.nodes[1].cpu_by == ("engine",)
        assert cluster.run.nodes[1].figures(cluster.run.seconds)["cpu_cores"] == pytest.approx(0.4)
        assert "other hosts" in (cluster.barriers.missing or "")
        assert cluster.platform_cores is None

    def test_what_is_not_counted_says_why(self, synthetic: SyntheticRun) -> None:
        assert read_cluster(synthetic).missing["rows"] == "it does not tell"

    def test_without_counters_of_nodes_the_kernel_tells(self, synthetic: SyntheticRun) -> None:
        silent = read_cluster(synthetic, declared={"counters": []})
        assert set(silent.missing.values()) == {"the engine declares no counters of nodes"}
        assert silent.run is not None
        assert silent.run.head.endswith("130% cpu 400MB mem")
        assert [skew.measure for skew in silent.skew("b")] == ["CPU time"]

    def test_a_counter_that_was_reset_has_no_rate(self, synthetic: SyntheticRun) -> None:
        run = of(synthetic)
        readings = run.table("engine").with_columns(pl.col("counter").cast(pl.String))
        late = pl.col("time_ns") > BEGUN_NS + 600 * MS
        reset = pl.when(late & (pl.col("counter") == "fetched")).then(0.0)
        changed = readings.with_columns(reset.otherwise(pl.col("value")).alias("value"))
        path = run.dir / "raw" / "engine.arrows"
        changed.write_ipc_stream(path)
        cluster = cluster_of(Run(run.dir))
        assert cluster is not None
        assert cluster.run is not None
        assert " m/s" not in cluster.run.head
        assert cluster.intervals[0].line.head.startswith("Cluster 3 nodes, 0.5 s. 1.5K m/s")

    def test_another_engine_is_no_cluster(self, synthetic: SyntheticRun) -> None:
        assert cluster_of(synthetic.write()) is None

    def test_a_declaration_that_is_wrong_costs_the_line_and_not_the_report(
        self, synthetic: SyntheticRun
    ) -> None:
        wrong = DECLARED | {"cluster": CLUSTER | {"counters": {"cats": "x"}}}
        run = of(synthetic, declared=wrong)
        with pytest.raises(ValueError, match="cats"):
            cluster_of(run)
        assert summarise(run).cluster is None

    def test_waits_of_another_clock_than_tasks_are_no_share(self) -> None:
        node = NodeFigures("n", "worker", {"wait_ns": 5.0, "task_ns": 4.0})
        assert node.share_of_tasks("wait_ns") is None
        assert figures_text(node.figures(1.0)) == "nothing was counted"

    def test_nodes_that_come_later_are_nodes(self, synthetic: SyntheticRun) -> None:
        run = of(synthetic)
        run.facts["cluster"]["nodes"] = run.facts["cluster"]["nodes"][:2]
        cluster = cluster_of(run)
        assert cluster is not None
        assert [node.role for node in cluster.nodes] == ["coordinator", "worker", "later"]


class TestUnread:
    def unread(self, synthetic: SyntheticRun) -> Cluster:
        synthetic.write()
        run = Run(as_cluster(synthetic.dir))
        (run.dir / "raw" / "engine-operations.arrows").unlink()
        cluster = cluster_of(run)
        assert cluster is not None
        return cluster

    def test_the_only_operation_has_the_rates_of_the_measured_part(
        self, synthetic: SyntheticRun
    ) -> None:
        cluster = self.unread(long(synthetic))
        line = cluster.operations["a"]
        assert line.seconds == 4
        assert line.whole.grown["messages"] == pytest.approx(1500 * 4)
        assert line.whole.grown["memory_bytes"] == 600 * MIB
        assert line.nodes[2].cpu_s == pytest.approx(0.4 * 4)
        assert any("those of the measured part" in note for note in cluster.notes)

    def test_of_several_operations_nobody_knows_whose_it_was(self, synthetic: SyntheticRun) -> None:
        cluster = self.unread(synthetic)
        assert cluster.operations["a"].whole.grown == {}
        assert any("no execution of a, b" in note for note in cluster.notes)


class TestClocks:
    def test_a_process_that_began_later_counts_all_that_it_used(self, tmp_path: Path) -> None:
        rows = [(0, 5, 1, 100), (10, 5, 1, 150), (10, 6, 5, 40), (20, 5, 1, 150), (20, 6, 5, 90)]
        frame = pl.DataFrame(
            [
                {
                    "time_ns": time,
                    "pid": pid,
                    "ppid": parent,
                    "started_ns": pid,
                    "on_cpu_ns": used,
                    "user_ns": 0,
                    "system_ns": 0,
                    "run_delay_ns": None,
                    "rss_bytes": MIB,
                }
                for time, pid, parent, used in rows
            ],
            schema_overrides={"run_delay_ns": pl.UInt64},
        )
        clocks = node_clocks(frame, [ClusterNode("n", "worker", "", (5,))])
        assert clocks["n"].cpu_ns == (0, 90, 140)
        assert clocks["n"].rss_bytes == (MIB, 2 * MIB, 2 * MIB)

    def test_between_looks_it_goes_evenly_and_short_spans_are_not_known(self) -> None:
        times = tuple(range(0, 1000, 100))
        clock = NodeClock(times, tuple(2 * time for time in times), times, times)
        assert clock.cpu_s(50, 750) == pytest.approx(1400e-9)
        assert clock.cpu_s(50, 250) is None
        assert clock.cpu_s(50, 950) == pytest.approx(1800e-9)
        assert clock.cpu_s(50, 2000) is None

    def test_of_no_processes_there_are_none(self) -> None:
        assert node_clocks(pl.DataFrame(), [ClusterNode("n", "worker", "", (5,))]) == {}


class TestSkew:
    def test_is_largest_over_mean_of_those_that_work(self, synthetic: SyntheticRun) -> None:
        cluster = read_cluster(long(synthetic))
        by_measure = {skew.measure: skew for skew in cluster.skew("a")}
        cpu = by_measure["CPU time"]
        assert (cpu.node, cpu.ratio) == ("worker-1", pytest.approx(4 / 3))
        assert cpu.idle_share == pytest.approx(1 / 4)
        assert cpu.is_skewed
        assert "rows read" not in by_measure

    def test_what_alternates_between_nodes_is_uneven_in_each_execution(self) -> None:
        nodes = tuple(ClusterNode(name, "worker", "") for name in "ab")

        def line(first: float, second: float) -> Line:
            each = tuple(
                NodeFigures(name, "worker", {"bytes": value})
                for name, value in (("a", first), ("b", second))
            )
            return Line(1.0, together(each), each)

        (skew,) = skews_over([line(9, 1), line(1, 9), line(9, 1)], nodes)
        assert (skew.node, skew.ratio) == ("a", pytest.approx(1.8))
        assert skew.often == pytest.approx(2 / 3)

    def test_of_one_worker_nothing_is_compared(self) -> None:
        node = NodeFigures("n", "worker", {}, 1.0)
        nodes = (ClusterNode("n", "worker", ""), ClusterNode("c", "coordinator", ""))
        assert skews(Line(1.0, together((node,)), (node,)), nodes) == ()


def steady(level: float, noise: float, seed: int) -> list[float]:
    drawn = random.Random(seed)
    return [min(1.0, max(0.0, drawn.gauss(level, noise))) for _ in range(LOOKS)]


def waves(high: int, low: int, times: int) -> list[float]:
    return ([0.9] * high + [0.05] * low) * times + [0.9] * high


class TestBarriers:
    def test_are_troughs_between_peaks(self) -> None:
        assert troughs(waves(7, 3, 2)) == [
            (7, 10, pytest.approx(0.9)),
            (17, 20, pytest.approx(0.9)),
        ]

    @pytest.mark.parametrize(
        "shares",
        [
            [0.9] * 30,
            [0.05] * 30,
            [0.5] * 30,
            waves(7, 2, 3),
            [0.9] * 10 + [0.05] * 10,
            [0.05] * 10 + [0.9] * 10,
            [0.6] * 10 + [0.05] * 10 + [0.6] * 10,
            [],
        ],
    )
    def test_are_nothing_else(self, shares: list[float]) -> None:
        assert troughs(shares) == []

    @pytest.mark.parametrize("level", [0.1, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9])
    def test_steady_series_have_none_to_speak_of(self, level: float) -> None:
        alarms = 0
        for seed in range(SERIES):
            shares = steady(level, 0.1, seed)
            lost = sum((end - begin) / LOOKS for begin, end, _ in troughs(shares))
            alarms += lost >= LOST_MIN
        assert alarms / SERIES <= ALARMS_MAX

    def test_the_share_that_is_lost_is_found(self, synthetic: SyntheticRun) -> None:
        def cores(node: str, second: float) -> float:
            # The execution is from 1.0 to 9.0: 0.7 s of all, 0.3 s of a twentieth.
            at_work = round(second % 1.0, 3) < 0.65 or second < 1 or second > 8.65
            return {"coordinator": 0.0}.get(node, 0.9 if at_work else 0.05)

        barriers = read_cluster(long(synthetic, 8.0), cores=cores).barriers
        assert len(barriers.barriers) == 7
        assert barriers.lost_share == pytest.approx(7 * 0.3 * (1 - 0.05 / 0.9) / 8, rel=0.05)
        assert barriers.lost_shares.keys() == {"a"}
        barrier = barriers.barriers[0]
        assert barrier.peak_cores == pytest.approx(1.8, abs=0.01)
        assert barrier.seconds == pytest.approx(0.3, abs=1e-6)

    def test_a_busy_neighbour_makes_none(self) -> None:
        shares = waves(7, 4, 3)
        times = tuple(range(0, (len(shares) + 1) * 100 * MS, 100 * MS))

        def summed(values: list[float]) -> tuple[int, ...]:
            ends = [0.0]
            for value in values:
                ends.append(ends[-1] + value * 100 * MS)
            return tuple(round(end) for end in ends)

        zero = (0,) * len(times)
        whole = [Execution("a", 0, times[-1])]
        idle = NodeClock(times, summed(shares), zero, zero)
        kept = NodeClock(times, summed(shares), summed([0.9 - share for share in shares]), zero)
        assert len(find_barriers([idle], whole, 1.0, 0).barriers) == 3
        assert find_barriers([kept], whole, 1.0, 0).barriers == ()

    def test_short_executions_are_not_looked_at(self, synthetic: SyntheticRun) -> None:
        barriers = read_cluster(synthetic).barriers
        assert (barriers.too_short, barriers.lost_share) == (("a", "b"), None)

    def test_without_processes_nobody_knows(self, synthetic: SyntheticRun) -> None:
        synthetic.write()
        run = Run(as_cluster(synthetic.dir))
        (run.dir / "raw" / "processes.arrows").unlink()
        cluster = cluster_of(run)
        assert cluster is not None
        assert cluster.barriers == Barriers(missing="no processes of its nodes were sampled")
        assert cluster.series == {}


def test_all_of_it_is_plain_values(synthetic: SyntheticRun) -> None:
    facts = read_cluster(long(synthetic)).facts()
    assert set(facts["series"]) == {"time_s", *ROOTS}
    assert facts["operations"][0]["nodes"][1]["cpu_cores"] == pytest.approx(0.8, rel=0.01)
    assert facts["operations"][0]["skew"][0]["is_skewed"]
    assert facts["run"]["whole"]["text"].startswith("Cluster 3 nodes, ")
    assert len(facts["series"]["time_s"]) == pytest.approx(4 * S / (100 * MS), abs=1)
