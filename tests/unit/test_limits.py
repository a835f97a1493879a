"""Limits: what is understood, how either version of control groups is told, and that they limit.

Trees of version 2 are made of plain files; those of this host are real where it lets us.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.model.errors import RunFailedError, UsageError
from assay.model.limit import NAMES
from assay.running.asked.request import RunRequest
from assay.running.changes import undo
from assay.running.changes.block_device import BlockDevice
from assay.running.changes.limits import group as groups
from assay.running.changes.limits.contract import COUNTERS, Wish
from assay.running.changes.limits.hierarchies import Hierarchies, find_hierarchies
from assay.running.changes.limits.limit import parse_limits, period_us, quota_us
from assay.running.changes.limits.placing import cpus_for
from assay.running.changes.limits.second import parent_for
from assay.running.changes.undo import Journal

MIB = 1 << 20
DISK = BlockDevice("sdx", "8:16", Path("/sys/block/sdx"))
ALL = {
    "cpu": 0.5,
    "cpus": 1.0,
    "read-iops": 500.0,
    "write-iops": 400.0,
    "read-rate": 50.0 * MIB,
    "write-rate": 40.0 * MIB,
    "memory": 256.0 * MIB,
}


class TestAsked:
    def test_each_in_its_unit(self) -> None:
        amounts = {
            "cpu": "0.5",
            "cpus": "2",
            "read-iops": "500",
            "write-rate": "50MB",
            "memory": "1GB",
        }
        assert parse_limits(amounts) == {
            "cpu": 0.5,
            "cpus": 2,
            "read-iops": 500,
            "write-rate": 50 * MIB,
            "memory": 1 << 30,
        }
        assert parse_limits({"read-rate": "50MB/s"}) == {"read-rate": 50 * MIB}

    @pytest.mark.parametrize(
        ("name", "text", "message"),
        [
            ("disk", "1", "did you mean|known"),
            ("read-iop", "1", "did you mean 'read-iops'"),
            ("cpu", "half", "write it like"),
            ("cpu", "nan", "the minimum is"),
            ("cpu", "inf", "the minimum is"),
            ("cpu", "0", "the minimum is"),
            ("cpus", "0.5", "write it like"),
            ("cpus", "0", "the minimum is"),
            ("read-iops", "-5", "the minimum is"),
            ("memory", "1MB", "the minimum is"),
            ("memory", "0", "write it like"),
            ("cpu", "1e300", "the maximum is 65,536; remove"),
            ("memory", "9" * 320 + "GB", "write it like"),
            ("memory", "5000000TB", "the maximum is 4194304TB; remove"),
            ("read-rate", "5000000TB/s", "the maximum is 4194304TB; remove"),
            ("read-iops", str(2**32 - 1), "the maximum is 4,294,967,294; remove"),
            ("write-iops", "9" * 5000, "write it like"),
        ],
    )
    def test_what_is_no_limit_is_refused(self, name: str, text: str, message: str) -> None:
        with pytest.raises(UsageError, match=message):
            parse_limits({name: text})

    @pytest.mark.parametrize("cores", [0.01, 0.04, 0.05, 0.5, 1.0, 3.7])
    def test_cpu_time_is_given_in_parts_that_the_scheduler_takes(self, cores: float) -> None:
        assert quota_us(cores) >= 1000
        assert quota_us(cores) / period_us(cores) == pytest.approx(cores)

    def test_cpus_are_those_that_the_client_is_not_pinned_to(self) -> None:
        first, *others = sorted(os.sched_getaffinity(0))
        request = RunRequest(
            workload="tpch", engine="duckdb", scale=1.0, pin={"client": [first]}, limits={"cpus": 1}
        )
        assert cpus_for(request) == (others[:1] or [first])

    def test_more_cpus_than_there_are_are_refused(self) -> None:
        with pytest.raises(UsageError, match=r"Assay may use .* CPUs: write a smaller number"):
            cpus_for(RunRequest(workload="tpch", engine="duckdb", scale=1.0, limits={"cpus": 4096}))


def host(root: Path, mounts: str, members: str) -> Hierarchies:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/mountinfo").write_text(mounts)
    (root / "proc/self/cgroup").write_text(members)
    return find_hierarchies(root)


class TestWhereGroupsAre:
    def test_of_either_version_and_in_a_shared_tree(self, tmp_path: Path) -> None:
        hierarchies = host(
            tmp_path,
            "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
            "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:5 - cgroup cgroup rw,cpu,cpuacct\n"
            "33 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
            "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
            "4:memory:/user/me\n2:cpu,cpuacct:/\n0::/user.slice\n",
        )
        top = tmp_path / "sys/fs/cgroup"
        assert hierarchies.first == {
            "cpu": top / "cpu,cpuacct",
            "cpuacct": top / "cpu,cpuacct",
            "memory": top / "memory/user/me",
        }
        assert (hierarchies.second, hierarchies.top) == (
            top / "unified/user.slice",
            top / "unified",
        )

    def test_of_a_container_that_sees_its_own_part(self, tmp_path: Path) -> None:
        hierarchies = host(
            tmp_path,
            "32 31 0:29 /docker/7 /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n",
            "2:cpu:/docker/7/inner\n",
        )
        assert hierarchies.first == {"cpu": tmp_path / "sys/fs/cgroup/cpu/inner"}
        outside = host(
            tmp_path / "other",
            "32 31 0:29 /docker/7 /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n",
            "2:cpu:/elsewhere\n",
        )
        assert outside.first == {"cpu": tmp_path / "other/sys/fs/cgroup/cpu"}

    def test_where_nothing_is_told(self, tmp_path: Path) -> None:
        assert find_hierarchies(tmp_path) == Hierarchies()
        with pytest.raises(UsageError, match="no control groups for cpu \\(cpu\\)"):
            groups.check(["cpu"], Hierarchies())


@pytest.fixture
def unified(tmp_path: Path) -> Hierarchies:
    """Version 2 as systemd lays it out, with ourselves in the group of a session."""
    top = tmp_path / "cgroup"
    session = top / "user.slice" / "session-3.scope"
    session.mkdir(parents=True)
    for group, there, given, members in (
        (top, "cpuset cpu io memory pids", "cpu memory pids", "1\n"),
        (top / "user.slice", "cpu memory pids", "memory pids", ""),
        (session, "memory pids", "", "77\n"),
    ):
        (group / "cgroup.controllers").write_text(f"{there}\n")
        (group / "cgroup.subtree_control").write_text(f"{given}\n")
        (group / "cgroup.procs").write_text(members)
        if group != top:
            (group / "cgroup.type").write_text("domain\n")
    return Hierarchies({}, session, top)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    (tmp_path / "changes").mkdir()
    return Journal(tmp_path / "changes" / "a-run.json")


class TestVersion2:
    def test_the_nearest_group_that_can_give_the_controllers(self, unified: Hierarchies) -> None:
        assert unified.top is not None
        assert parent_for(["memory"], unified) == unified.top / "user.slice"
        assert parent_for(["cpu", "memory"], unified) == unified.top / "user.slice"
        assert parent_for(["read-iops"], unified) == unified.top

    def test_no_group_that_has_processes_and_does_not_give_them_yet(
        self, unified: Hierarchies
    ) -> None:
        assert unified.top is not None
        (unified.top / "user.slice" / "cgroup.procs").write_text("99\n")
        assert parent_for(["memory"], unified) == unified.top / "user.slice"
        assert parent_for(["cpu"], unified) == unified.top

    def test_no_group_that_is_not_ours(
        self, unified: Hierarchies, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "access", lambda *_: False)
        assert parent_for(["cpu"], unified) is None
        with pytest.raises(UsageError, match="systemd-run --user --scope"):
            groups.check(["cpu"], unified)

    def test_is_told_all_limits(self, unified: Hierarchies, journal: Journal) -> None:
        assert unified.top is not None
        wish = Wish("assay-a-run", ALL, [1], DISK)
        made = groups.group_of(wish, unified, journal)
        group = unified.top / "assay-a-run"
        assert made.version == 2
        assert made.members() == [group / "cgroup.procs"]
        assert (unified.top / "cgroup.subtree_control").read_text() == "+cpuset +io"
        files = {file.name: file.read_text() for file in group.iterdir()}
        assert files == {
            "cpu.max": "10000 20000",
            "cpuset.cpus": "1",
            "memory.max": str(256 * MIB),
            "io.max": f"8:16 riops=500 wiops=400 rbps={50 * MIB} wbps={40 * MIB}",
        }
        assert [step.do for step in journal.steps] == ["leave_group"]

    def test_is_read_back_and_counted(self, unified: Hierarchies, journal: Journal) -> None:
        assert unified.top is not None
        made = groups.group_of(Wish("assay-a-run", ALL, [1], DISK), unified, journal)
        group = unified.top / "assay-a-run"
        files = {
            "cpuset.cpus.effective": "1\n",
            "io.max": f"8:0 riops=9\n8:16 rbps={50 * MIB} wbps={40 * MIB} riops=500 wiops=400\n",
            "cpu.stat": "usage_usec 7\nnr_periods 5\nnr_throttled 4\nthrottled_usec 3\n",
            "io.stat": "8:0 rbytes=1 rios=1\n8:16 rbytes=8192 wbytes=512 rios=2 wios=1 dbytes=0\n",
            "memory.current": "11\n",
            "memory.peak": "12\n",
            "memory.events": "low 0\nhigh 0\nmax 6\noom 1\noom_kill 1\n",
        }
        for name, text in files.items():
            (group / name).write_text(text)
        assert made.effective() == ALL
        assert made.counted() == {
            "cpu_ns": 7000,
            "periods": 5,
            "throttled_periods": 4,
            "throttled_ns": 3000,
            "reads": 2,
            "writes": 1,
            "read_bytes": 8192,
            "written_bytes": 512,
            "memory_bytes": 11,
            "memory_peak_bytes": 12,
            "memory_limit_hits": 6,
            "oom_kills": 1,
        }

    def test_no_limit_is_told_as_none(self, unified: Hierarchies, journal: Journal) -> None:
        assert unified.top is not None
        made = groups.group_of(Wish("assay-a-run", ALL, [1], DISK), unified, journal)
        group = unified.top / "assay-a-run"
        for name, text in {"cpu.max": "max 100000", "memory.max": "max", "io.max": ""}.items():
            (group / name).write_text(text)
        assert set(made.effective().values()) == {None}

    def test_that_the_kernel_has_none_of_is_told(
        self, unified: Hierarchies, journal: Journal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refused(*_: object, **__: object) -> None:
            raise FileNotFoundError(2, "No such file or directory")

        monkeypatch.setattr(Path, "write_text", refused)
        with pytest.raises(RunFailedError, match=r"this kernel has no memory\.max"):
            groups.group_of(Wish("assay-a-run", {"memory": 1e9}), unified, journal)


def why_not_here() -> str | None:
    hierarchies = find_hierarchies()
    if "cpu" not in hierarchies.first:
        return "the CPU controller is not of version 1 here"
    try:
        groups.check(NAMES, hierarchies)
    except UsageError as error:
        return str(error)
    return None


needs_groups = pytest.mark.skipif(why_not_here() is not None, reason=str(why_not_here()))
BURN = "import time\nend = time.process_time() + 0.04\nwhile time.process_time() < end: pass"
HOLD = "kept = [b'x' * ((1 << 20) + number) for number in range(64)]"
NAME = f"assay-test-{os.getpid()}"


def within(members: list[Path], program: str) -> subprocess.CompletedProcess[bytes]:
    """Runs a program that is in groups from its first moment."""

    def enter() -> None:
        for file in members:
            file.write_text("0")

    command = [sys.executable, "-I", "-S", "-c", program]
    return subprocess.run(command, preexec_fn=enter, check=False)


@needs_groups
class TestVersion1:
    """On the real trees of this host."""

    def test_tells_all_limits_and_is_gone_after(self, journal: Journal) -> None:
        device = BlockDevice("loop0", "7:0", Path("/sys/block/loop0"))
        cpu = min(os.sched_getaffinity(0))
        made = groups.group_of(Wish(NAME, ALL, [cpu], device), find_hierarchies(), journal)
        try:
            assert made.version == 1
            assert made.effective() == ALL
            assert set(made.counted()) == set(COUNTERS)
            assert None not in made.counted().values()
            assert "--device own" in made.notes[0]
            result = within(
                made.members(), f"import os; assert os.sched_getaffinity(0) == {{{cpu}}}"
            )
            assert result.returncode == 0
        finally:
            assert journal.undo() == []
        assert not any(members.exists() for members in made.members())

    def test_holds_back_who_burns_a_cpu(self, journal: Journal) -> None:
        made = groups.group_of(Wish(NAME, {"cpu": 0.05}), find_hierarchies(), journal)
        try:
            assert within(made.members(), BURN).returncode == 0
            counted = made.counted()
        finally:
            assert journal.undo() == []
        # A millisecond a period: whoever is on a CPU at all uses it up, however busy the host.
        assert (counted["throttled_periods"] or 0) > 0
        assert (counted["cpu_ns"] or 0) > 0.04e9
        # No period gives more than its quota, but for the slices that a CPU holds.
        assert (counted["cpu_ns"] or 0) <= 0.05 * 20e6 * ((counted["periods"] or 0) + 10)

    def test_ends_who_needs_more_memory(self, journal: Journal) -> None:
        made = groups.group_of(Wish(NAME, {"memory": 32.0 * MIB}), find_hierarchies(), journal)
        try:
            assert within(made.members(), HOLD).returncode == -9
            counted = made.counted()
        finally:
            assert journal.undo() == []
        assert counted["oom_kills"] == 1
        assert (counted["memory_peak_bytes"] or 0) <= 32 * MIB

    def test_who_is_still_in_it_goes_to_the_group_above(
        self, journal: Journal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(undo, "PATIENCE_S", 0.1)
        made = groups.group_of(Wish(NAME, {"cpu": 0.5}), find_hierarchies(), journal)
        with subprocess.Popen(["sleep", "1000"]) as sleeping:
            try:
                for members in made.members():
                    members.write_text(str(sleeping.pid))
                monkeypatch.setattr(undo, "PATIENCE_S", 0.1)
                assert journal.undo() == []
                where = Path(f"/proc/{sleeping.pid}/cgroup").read_text()
                assert where == Path("/proc/self/cgroup").read_text()
                assert sleeping.poll() is None
            finally:
                sleeping.kill()

    def test_a_group_that_is_there_already_is_not_taken(self, journal: Journal) -> None:
        wish = Wish(NAME, {"cpu": 0.5})
        groups.group_of(wish, find_hierarchies(), journal)
        try:
            with pytest.raises(RunFailedError, match="exists already:"):
                groups.group_of(wish, find_hierarchies(), journal)
        finally:
            assert journal.undo() == []


def test_nobody_is_told_to_own_a_whole_controller(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    place = tmp_path / "cpu"
    with pytest.raises(UsageError) as refused:
        groups.check(["cpu"], Hierarchies(first={"cpu": place}))
    assert f"chown -R $USER {place}/assay;" in str(refused.value)
    assert f"Never chown {place} itself" in str(refused.value)
