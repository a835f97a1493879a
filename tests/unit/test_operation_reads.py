"""What executions read: all that was read while one ran is its own, however samples fall."""

from __future__ import annotations

from typing import Any

import pytest

from assay.analysis.host.operation_reads import operation_reads
from tests.conftest import BEGUN_NS, MS, S, SyntheticRun, an_event

PAGE = 8192


@pytest.fixture
def on_vda(synthetic: SyntheticRun) -> SyntheticRun:
    synthetic.environment = {"host": {"data_device": {"name": "vda"}}}
    return synthetic


def disks(reads_by_ms: dict[int, int], device: str = "vda") -> list[dict[str, Any]]:
    """Samples of a device whose reads are of a page and take a tenth of a millisecond each."""
    return [
        {
            "time_ns": BEGUN_NS + ms * MS,
            "device": device,
            "kind": "disk",
            "reads": reads,
            "read_bytes": reads * PAGE,
            "io_ns": reads * MS // 10,
        }
        for ms, reads in reads_by_ms.items()
    ]


class TestOperationReads:
    def test_one_query_between_samples_has_all_that_was_read(self, on_vda: SyntheticRun) -> None:
        """It runs from 130 to 330 ms; looks are at hundreds."""
        on_vda.events = [an_event(0, "a", BEGUN_NS + 130 * MS, 200)]
        on_vda.streams["disks"] = disks({0: 10, 100: 10, 200: 500, 300: 1100, 400: 1210})
        (row,) = operation_reads(on_vda.write()).rows(named=True)
        assert row["reads"] == pytest.approx(1200)
        assert row["mean_read_bytes"] == pytest.approx(PAGE)
        assert row["reads_per_s"] == pytest.approx(6000)
        assert row["read_bytes_per_s"] == pytest.approx(6000 * PAGE)
        assert row["util_share"] == pytest.approx(0.6)
        assert row["samples"] == 2

    def test_two_queries_share_an_interval_by_their_time_in_it(self, on_vda: SyntheticRun) -> None:
        """The second one begins 10 ms after the first one's end at 130 ms, and ends after it."""
        on_vda.events = [
            an_event(0, "a", BEGUN_NS + 100 * MS, 30),
            an_event(1, "b", BEGUN_NS + 140 * MS, 160),
        ]
        on_vda.streams["disks"] = disks({0: 0, 100: 0, 200: 90, 300: 100, 400: 100})
        reads = operation_reads(on_vda.write())
        assert reads["reads"].to_list() == pytest.approx([30, 70])

    def test_what_was_read_while_nothing_ran_is_of_no_query(self, on_vda: SyntheticRun) -> None:
        on_vda.events = [
            an_event(0, "a", BEGUN_NS + 100 * MS, 50),
            an_event(1, "b", BEGUN_NS + 350 * MS, 50),
        ]
        on_vda.streams["disks"] = disks({0: 0, 100: 70, 200: 80, 300: 980, 400: 1000})
        assert operation_reads(on_vda.write())["reads"].to_list() == pytest.approx([10, 20])

    def test_cpu_time_is_by_the_clock(self, on_vda: SyntheticRun) -> None:
        """Idle, but for 100 to 200 ms, where it waits for the disk: half of the query's time."""
        on_vda.events = [an_event(0, "a", BEGUN_NS + 150 * MS, 100)]
        waited = {0: 0, 100: 0, 200: 100, 300: 100}
        on_vda.streams["cpus"] = [
            {
                "time_ns": BEGUN_NS + ms * MS,
                "cpu": 0,
                "iowait_ns": iowait * MS,
                "idle_ns": (ms - iowait) * MS,
            }
            for ms, iowait in waited.items()
        ]
        (row,) = operation_reads(on_vda.write()).rows(named=True)
        assert (row["iowait_share"], row["idle_share"]) == pytest.approx((0.5, 0.5))
        assert (row["usr_share"], row["sys_share"]) == (0.0, 0.0)

    def test_a_query_of_the_first_interval_has_its_cpu_time(self, on_vda: SyntheticRun) -> None:
        on_vda.events = [an_event(0, "a", BEGUN_NS + 20 * MS, 60)]
        on_vda.streams["cpus"] = [
            {"time_ns": BEGUN_NS + ms * MS, "cpu": 0, "user_ns": ms * MS // 4, "idle_ns": ms * MS}
            for ms in (0, 100, 200)
        ]
        (row,) = operation_reads(on_vda.write()).rows(named=True)
        assert (row["usr_share"], row["idle_share"]) == pytest.approx((0.2, 0.8))

    def test_nothing_read_has_no_mean(self, on_vda: SyntheticRun) -> None:
        row = operation_reads(on_vda.write()).row(0, named=True)
        assert (row["reads"], row["mean_read_bytes"]) == (0.0, None)

    def test_what_was_not_observed_is_null(self, on_vda: SyntheticRun) -> None:
        on_vda.events = [
            an_event(0, "a", BEGUN_NS + 100 * MS, 50),
            an_event(1, "b", BEGUN_NS + 350 * MS, 100),
        ]
        on_vda.streams["disks"] = disks({0: 0, 100: 0, 400: 9})
        reads = operation_reads(on_vda.write())
        assert reads["reads"].to_list() == [pytest.approx(4.5), None]
        assert reads["seconds"].to_list() == pytest.approx([0.05, 0.1])

    def test_a_device_that_counts_anew_is_not_believed(self, on_vda: SyntheticRun) -> None:
        on_vda.events = [an_event(0, "a", BEGUN_NS + 100 * MS, 200)]
        on_vda.streams["disks"] = disks({0: 90, 200: 95, 400: 3})
        assert operation_reads(on_vda.write())["reads"].to_list() == [None]

    def test_readings_at_the_edges_come_before_samples(self, on_vda: SyntheticRun) -> None:
        on_vda.events = [an_event(0, "a", BEGUN_NS + 120 * MS, 10)]
        on_vda.streams["disks"] = disks({0: 0, 100: 0, 200: 900})
        counted = {"start": 40, "end": 240}
        on_vda.streams["tasks"] = [
            {
                "sequence": 0,
                "edge": edge,
                "device_reads": reads,
                "device_reads_merged": 0,
                "device_read_bytes": reads * PAGE,
                "device_writes": 0,
                "device_write_bytes": 0,
                "device_io_ns": reads * MS // 40,
            }
            for edge, reads in counted.items()
        ]
        run = on_vda.write()
        (row,) = operation_reads(run).rows(named=True)
        assert (row["reads"], row["read_bytes"], row["metered"]) == (200, 200 * PAGE, True)
        assert (row["util_share"], row["samples"]) == (pytest.approx(0.5), 0)
        assert operation_reads(run, "vdb")["metered"].to_list() == [False]

    def test_unknown_devices_leave_reads_unknown(self, synthetic: SyntheticRun) -> None:
        synthetic.environment = {"host": {"data_device": None}}
        reads = operation_reads(synthetic.write())
        assert reads["reads"].null_count() == reads.height > 0
        assert reads["usr_share"].null_count() == 0

    def test_operations_that_overlap_are_not_told_apart(self, on_vda: SyntheticRun) -> None:
        on_vda.events = [
            an_event(0, "a", BEGUN_NS, 50),
            an_event(1, "b", BEGUN_NS + 20 * MS, 100, session=1),
        ]
        assert operation_reads(on_vda.write()).is_empty()

    def test_another_device_may_be_asked_for(self, on_vda: SyntheticRun) -> None:
        on_vda.events = [an_event(0, "a", BEGUN_NS + S, 1000)]
        on_vda.streams["disks"] = disks({0: 0, 3000: 4}, "nvme0n1")
        assert operation_reads(on_vda.write(), "nvme0n1")["reads"].to_list() == [4.0]
