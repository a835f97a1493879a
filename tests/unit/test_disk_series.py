"""Device figures are those of iostat's formulas, worked out by hand; nothing is counted twice."""

from __future__ import annotations

from typing import Any

import pytest

from assay.analysis.host.disk_series import data_device, disk_series
from tests.conftest import BEGUN_NS, MS, S, SyntheticRun

KIB = 1024


def a_sample(at_s: float, device: str = "vda", **counters: int) -> dict[str, Any]:
    kind = counters.pop("kind", "disk")
    return {"time_ns": BEGUN_NS + round(at_s * S), "device": device, "kind": kind} | counters


# Between the two: 400 reads of 8 KiB in 200 ms, 100 merged; 50 writes of 64 KiB in 100 ms; half of
# two seconds with a request under way.
FIRST: dict[str, Any] = {
    "reads": 1000,
    "read_bytes": 7 << 20,
    "weighted_io_ns": 5 * S,
    "flushes": 0,
    "flush_ns": 0,
}
LAST = {
    "reads": 1400,
    "reads_merged": 100,
    "read_bytes": (7 << 20) + 400 * 8 * KIB,
    "read_ns": 200 * MS,
    "writes": 50,
    "write_bytes": 50 * 64 * KIB,
    "write_ns": 100 * MS,
    "io_ns": 1000 * MS,
    "weighted_io_ns": 5 * S + 300 * MS,
    "flushes": 4,
    "flush_ns": 2 * MS,
}


@pytest.fixture
def origin_ns(synthetic: SyntheticRun) -> int:
    """When the measured part of the synthetic run began."""
    return min(e["started_ns"] for e in synthetic.events if e["phase"] == "measured")


class TestDiskSeries:
    def test_figures_are_those_of_iostat(self, synthetic: SyntheticRun) -> None:
        synthetic.streams["disks"] = [a_sample(0, **FIRST), a_sample(2, **LAST)]
        (row,) = disk_series(synthetic.write(), None).rows(named=True)
        expected = {
            "seconds": 2.0,
            "r/s": 200.0,
            "rkB/s": 1600.0,
            "rrqm/s": 50.0,
            "%rrqm": 20.0,
            "r_await": 0.5,
            "rareq-sz": 8.0,
            "w/s": 25.0,
            "wkB/s": 1600.0,
            "w_await": 2.0,
            "wareq-sz": 64.0,
            "f/s": 2.0,
            "f_await": 0.5,
            "aqu-sz": 0.15,
            "%util": 50.0,
        }
        assert {name: row[name] for name in expected} == pytest.approx(expected)

    def test_absent_is_null_and_nothing_asked_has_no_await(self, synthetic: SyntheticRun) -> None:
        synthetic.streams["disks"] = [a_sample(0, writes=1), a_sample(1, writes=2)]
        (row,) = disk_series(synthetic.write(), None).rows(named=True)
        assert (row["r/s"], row["r_await"], row["rareq-sz"]) == (0.0, None, None)
        assert (row["d/s"], row["f/s"]) == (None, None)

    def test_a_counter_that_began_anew_has_no_rate(self, synthetic: SyntheticRun) -> None:
        samples = [a_sample(0, reads=9), a_sample(1, reads=3), a_sample(2, reads=5)]
        synthetic.streams["disks"] = samples
        assert disk_series(synthetic.write(), None)["r/s"].to_list() == [None, 2.0]

    def test_an_interval_is_between_the_samples_nearest_to_its_ends(
        self, synthetic: SyntheticRun, origin_ns: int
    ) -> None:
        """Samples a tenth of a second apart, off by 20 ms, and 3 reads in each tenth."""
        offset_s = (origin_ns - BEGUN_NS) / S
        times = [offset_s + 0.1 * tenth + 0.02 for tenth in range(31)]
        synthetic.streams["disks"] = [a_sample(t, reads=3 * n) for n, t in enumerate(times)]
        series = disk_series(synthetic.write(), 1.0)
        assert series["time_s"].to_list() == pytest.approx([1.02, 2.02, 3.02])
        assert series["seconds"].to_list() == pytest.approx([1.0] * 3)
        assert series["r/s"].to_list() == pytest.approx([30.0] * 3)

    def test_intervals_shorter_than_samples_are_apart_lose_none(
        self, synthetic: SyntheticRun
    ) -> None:
        synthetic.streams["disks"] = [a_sample(n, reads=n) for n in range(4)]
        assert disk_series(synthetic.write(), 0.1)["r/s"].to_list() == [1.0] * 3

    def test_devices_are_apart_and_their_kinds_say_which_count_again(
        self, synthetic: SyntheticRun
    ) -> None:
        kinds = {"vda": "disk", "vda1": "partition", "loop0": "stacked"}
        synthetic.streams["disks"] = [
            a_sample(at, device, reads=at * reads, kind=kind)  # type: ignore[arg-type]
            for at in (0, 1)
            for reads, (device, kind) in enumerate(kinds.items(), 1)
        ]
        run = synthetic.write()
        series = disk_series(run, None)
        assert {row["device"]: row["r/s"] for row in series.rows(named=True)} == {
            "vda": 1.0,
            "vda1": 2.0,
            "loop0": 3.0,
        }
        assert dict(zip(series["device"], series["kind"], strict=True)) == kinds
        assert disk_series(run, None, "loop0")["device"].to_list() == ["loop0"]

    def test_a_run_without_the_probe_has_no_rows(self, synthetic: SyntheticRun) -> None:
        del synthetic.streams["disks"]
        assert disk_series(synthetic.write()).is_empty()


class TestDataDevice:
    def test_it_is_the_one_that_was_recorded(self, synthetic: SyntheticRun) -> None:
        mounted = {"device": "/dev/vda", "mount_point": "/", "type": "ext4"}
        synthetic.environment = {
            "host": {"data_device": {"name": "loop7"}, "data_filesystem": mounted}
        }
        assert data_device(synthetic.write()) == "loop7"

    def test_data_in_memory_are_on_none(self, synthetic: SyntheticRun) -> None:
        synthetic.environment = {"host": {"data_device": None}}
        assert data_device(synthetic.write()) is None

    @pytest.mark.parametrize(
        ("mounted", "device"), [("/dev/vda", "vda"), ("/dev/root", None), ("tmpfs", None)]
    )
    def test_an_older_record_tells_what_was_mounted(
        self, synthetic: SyntheticRun, mounted: str, device: str | None
    ) -> None:
        synthetic.environment = {"host": {"data_filesystem": {"device": mounted}}}
        assert data_device(synthetic.write()) == device
