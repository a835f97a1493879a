"""What a host can do, as it is read from a record whose every figure is known."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from assay.analysis.ceiling.medium import hiding_signs, is_virtual
from assay.analysis.ceiling.points import disk_points
from assay.analysis.ceiling.trials import Estimate, estimate, interpolated, read_ceiling
from assay.checks.judge import judge
from assay.model.errors import RecordUnreadableError
from assay.model.verdict import Verdict
from assay.record.ceilings import newest_ceiling
from assay.record.reader import Run, find_run, find_workload_run
from tests.ceilings import (
    DEPTHS,
    HOST,
    MEDIUM,
    SIZES,
    disk_trial,
    disk_trials,
    iops_of,
    write_ceiling,
)
from tests.conftest import SyntheticRun

# Rounds differ by a per cent, and requests are counted whole.
CLOSE = 2e-3


def near(value: float) -> object:
    return pytest.approx(value, rel=CLOSE)


class TestEstimates:
    def test_a_figure_is_the_geometric_mean_of_its_rounds(self) -> None:
        rounds_estimate = estimate([100.0, 400.0])
        assert rounds_estimate is not None
        assert rounds_estimate.value == pytest.approx(200.0)
        # Student's t of one degree of freedom, and a deviation of ln 2 times the root of 2 halved.
        half = 12.7062 * math.log(2) * math.sqrt(2) / math.sqrt(2)
        assert rounds_estimate.low == pytest.approx(200 / math.exp(half), rel=1e-3)
        assert rounds_estimate.high == pytest.approx(200 * math.exp(half), rel=1e-3)

    def test_one_round_has_no_interval(self) -> None:
        assert estimate([5.0]) == Estimate(pytest.approx(5.0), None, None, 1)

    def test_nothing_has_no_figure(self) -> None:
        assert estimate([]) is None
        assert estimate([0.0]) is None

    def test_another_unit_keeps_the_interval(self) -> None:
        assert Estimate(2.0, 1.0, 3.0, 4).times(10) == Estimate(20.0, 10.0, 30.0, 4)
        assert Estimate(2.0, None, None, 1).times(10).low is None


class TestInterpolation:
    def test_what_is_known_is_told(self) -> None:
        assert interpolated({1: 10.0, 4: 40.0}, 4) == 40.0

    def test_a_power_law_is_met_everywhere_between(self) -> None:
        rates = {size: 3.0 * size**-0.7 for size in (512, 4096, 65536)}
        for at in (512.0, 700.0, 8300.0, 60000.0):
            assert interpolated(rates, at) == pytest.approx(3.0 * at**-0.7)

    @pytest.mark.parametrize("at", [0.5, 9.0])
    def test_beyond_what_was_tried_nothing_is_known(self, at: float) -> None:
        assert interpolated({1: 10.0, 8: 40.0}, at) is None


class TestCeiling:
    @pytest.mark.parametrize("pattern", ["sequential", "random"])
    def test_every_point_is_as_it_was_made(self, tmp_path: Path, pattern: str) -> None:
        ceiling = read_ceiling(write_ceiling(tmp_path))
        for size in SIZES:
            for depth in DEPTHS:
                iops = ceiling.iops(size, depth, pattern)
                assert iops is not None
                assert iops.value == near(iops_of(size, depth, pattern))
                assert iops.rounds == 3
                assert iops.low is not None
                assert iops.high is not None
                assert iops.low < iops.value < iops.high

    def test_between_two_sizes_it_is_between_their_figures(self, tmp_path: Path) -> None:
        ceiling = read_ceiling(write_ceiling(tmp_path))
        iops = ceiling.iops(8300)
        ends = iops_of(8192, 1, "random"), iops_of(16384, 1, "random")
        assert iops is not None
        assert ends[1] < iops.value < ends[0]

    def test_between_two_depths_too(self, tmp_path: Path) -> None:
        iops = read_ceiling(write_ceiling(tmp_path)).iops(4096, 4)
        # In the middle of both logarithms, as 4 is between 1 and 16.
        middle = math.sqrt(iops_of(4096, 1, "random") * iops_of(4096, 16, "random"))
        assert iops is not None
        assert iops.value == near(middle)

    @pytest.mark.parametrize(("size", "depth"), [(512, 1), (1 << 20, 1), (4096, 64)])
    def test_beyond_what_was_tried_there_is_none(
        self, tmp_path: Path, size: int, depth: int
    ) -> None:
        assert read_ceiling(write_ceiling(tmp_path)).iops(size, depth) is None

    def test_the_most_is_that_of_the_best_depth(self, tmp_path: Path) -> None:
        most = read_ceiling(write_ceiling(tmp_path)).most_iops(4096)
        assert most is not None
        assert most.value == near(iops_of(4096, 16, "random"))

    def test_what_was_tried_is_listed(self, tmp_path: Path) -> None:
        ceiling = read_ceiling(write_ceiling(tmp_path))
        assert (ceiling.sizes(), ceiling.depths()) == (list(SIZES), list(DEPTHS))

    def test_flushes(self, tmp_path: Path) -> None:
        flush = read_ceiling(write_ceiling(tmp_path)).flush_seconds()
        assert flush is not None
        assert flush.value == near(2e-3)

    def test_a_run_of_a_workload_tells_no_ceiling(self, synthetic: SyntheticRun) -> None:
        with pytest.raises(RecordUnreadableError, match="assay ceiling"):
            read_ceiling(synthetic.write())


class TestPoints:
    def test_cpu_latency_and_what_reached_the_device(self, tmp_path: Path) -> None:
        points = disk_points(read_ceiling(write_ceiling(tmp_path)))
        (point,) = [p for p in points if (p.size_bytes, p.depth, p.pattern) == (4096, 16, "random")]
        assert point.cpu_s is not None
        assert point.cpu_s.value == pytest.approx(5e-6)
        assert point.latency_s["p99"] == near(2 * 16 / iops_of(4096, 16, "random"))
        assert point.device_requests == pytest.approx(1.0)

    def test_joined_requests_are_seen(self, tmp_path: Path) -> None:
        joined = [disk_trial(n, 4096, 16, "sequential", device_requests=100) for n in (1, 2, 3)]
        (point,) = disk_points(read_ceiling(write_ceiling(tmp_path, disk=joined)))
        assert point.device_requests is not None
        assert point.device_requests < 0.1

    def test_what_others_did_to_the_device_is_not_taken_for_ours(self, tmp_path: Path) -> None:
        disturbed = [disk_trial(n, 4096, 1, "random", device_bytes=1 << 40) for n in (1, 2, 3)]
        (point,) = disk_points(read_ceiling(write_ceiling(tmp_path, disk=disturbed)))
        assert point.device_requests is None


class TestMedium:
    def signs(self, tmp_path: Path, **given: object) -> list[str]:
        environment = {"medium": MEDIUM, "device": HOST["data_device"], "disk": None} | given
        ceiling = read_ceiling(write_ceiling(tmp_path, disk=environment["disk"]))
        return hiding_signs(ceiling, environment["medium"], environment["device"])

    def test_a_disk_that_finds_slowly_shows_itself(self, tmp_path: Path) -> None:
        assert self.signs(tmp_path) == []

    def test_a_virtual_disk_hides_what_is_behind_it(self, tmp_path: Path) -> None:
        (sign,) = self.signs(tmp_path, medium=MEDIUM | {"model": None, "driver": "virtio_blk"})
        assert "virtual disk (virtio_blk)" in sign

    def test_an_unknown_medium_is_told(self, tmp_path: Path) -> None:
        assert "whose nature is known" in self.signs(tmp_path, medium=None)[0]

    def test_patterns_that_are_alike_are_told(self, tmp_path: Path) -> None:
        alike = [
            disk_trial(n, 4096, 1, "random", latency_p50_ns=90_000) | {"pattern": pattern}
            for n in (1, 2, 3)
            for pattern in ("sequential", "random")
        ]
        device = HOST["data_device"] | {"rotational": True}
        first, second = self.signs(tmp_path, disk=alike, device=device)
        assert "takes this one for turning" in first
        assert "nothing that turns is as quick" in second

    def test_reads_that_are_too_quick_for_flash_are_told(self, tmp_path: Path) -> None:
        quick = [disk_trial(n, 4096, 1, "random", latency_p50_ns=9_000) for n in (1, 2, 3)]
        (sign,) = self.signs(tmp_path, disk=quick)
        assert "memory answers" in sign

    def test_flushes_that_are_too_quick_are_told(self, tmp_path: Path) -> None:
        flushed = {"operation": "fdatasync", "cache": "buffered", "latency_p50_ns": 20_000}
        quick = [disk_trial(n, 8192, 1, "sequential", **flushed) for n in (1, 2, 3)]
        (sign,) = self.signs(tmp_path, disk=quick)
        assert "a cache answers" in sign

    @pytest.mark.parametrize(
        ("driver", "model"),
        [("virtio_blk", None), ("nvme", "Amazon Elastic Block Store"), ("sd", "QEMU HARDDISK")],
    )
    def test_virtual_disks_are_known(self, driver: str, model: str | None) -> None:
        assert is_virtual({"driver": driver, "model": model})

    def test_a_real_one_is_none(self) -> None:
        assert not is_virtual(MEDIUM)
        assert not is_virtual(None)


class TestChecks:
    def verdicts(self, tmp_path: Path, **given: object) -> dict[str, Verdict]:
        return {
            check_result.check: check_result.verdict
            for check_result in judge(write_ceiling(tmp_path, **given))
        }

    def test_a_quiet_host_is_valid(self, tmp_path: Path) -> None:
        assert set(self.verdicts(tmp_path).values()) == {Verdict.VALID}

    def test_others_on_the_device_make_it_unknown(self, tmp_path: Path) -> None:
        disturbed = [row | {"device_bytes": 10**12} for row in disk_trials()]
        verdicts = self.verdicts(tmp_path, disk=disturbed)
        assert verdicts["other_io"] is Verdict.UNKNOWN
        assert verdicts["other_cpu"] is Verdict.VALID

    def test_others_on_the_cpus_make_it_unknown(self, tmp_path: Path) -> None:
        busy = [row | {"host_busy_ns": 2 * row["elapsed_ns"]} for row in disk_trials()]
        verdicts = self.verdicts(tmp_path, disk=busy)
        assert verdicts["other_cpu"] is Verdict.UNKNOWN
        assert verdicts["other_io"] is Verdict.VALID

    def test_stolen_time_makes_it_unknown(self, tmp_path: Path) -> None:
        stolen = [row | {"host_steal_ns": row["elapsed_ns"]} for row in disk_trials()]
        assert self.verdicts(tmp_path, disk=stolen)["steal"] is Verdict.UNKNOWN

    def test_a_sweep_that_was_stopped_is_unknown(self, tmp_path: Path) -> None:
        verdicts = self.verdicts(tmp_path, status="interrupted")
        assert verdicts["completeness"] is Verdict.UNKNOWN

    def test_nothing_measured_is_never_valid(self, tmp_path: Path) -> None:
        verdicts = self.verdicts(tmp_path, disk=[])
        assert verdicts["other_io"] is verdicts["other_cpu"] is Verdict.UNKNOWN

    def test_a_record_that_was_changed_is_invalid(self, tmp_path: Path) -> None:
        run = write_ceiling(tmp_path)
        (run.dir / "environment.json").write_text("{}", encoding="utf-8")
        assert {check_result.check: check_result.verdict for check_result in judge(run)}[
            "completeness"
        ] is Verdict.INVALID


class TestFinding:
    def test_the_newest_complete_one_of_the_host_is_found(self, tmp_path: Path) -> None:
        first = write_ceiling(tmp_path, "20260102T000000Z-ceiling-host-aaaaaa")
        write_ceiling(tmp_path, "20260103T000000Z-ceiling-host-bbbbbb", status="interrupted")
        write_ceiling(tmp_path, "20260104T000000Z-ceiling-host-cccccc", host=HOST | {"host": "x"})
        other_disk = HOST | {"data_device": {"disks": ["sdb"]}}
        last = write_ceiling(tmp_path, "20260105T000000Z-ceiling-host-dddddd", host=other_disk)
        assert newest_ceiling(tmp_path, HOST) == first.dir
        assert newest_ceiling(tmp_path) == last.dir

    def test_there_may_be_none(self, tmp_path: Path, synthetic: SyntheticRun) -> None:
        synthetic.write()
        assert newest_ceiling(synthetic.runs_dir) is None
        assert newest_ceiling(tmp_path / "nowhere") is None

    def test_verbs_of_workloads_pass_over_it(self, synthetic: SyntheticRun) -> None:
        run = synthetic.write()
        late = write_ceiling(synthetic.runs_dir, "20260102T050505Z-ceiling-host-abc124")
        assert Run(find_run("latest", synthetic.runs_dir)).id == late.id
        assert find_workload_run("latest", synthetic.runs_dir).id == run.id
        with pytest.raises(
            RecordUnreadableError, match="is a host's ceiling, not a run of a workload:"
        ):
            find_workload_run(late.id, synthetic.runs_dir)
