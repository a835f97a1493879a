"""A resource is as much slower as was asked, for whom it was asked, and nobody stays stopped.

The loads burn CPU time by their own clock and tell how long they waited for a CPU, so that a busy
host changes neither what is expected of them nor what they show.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from assay.model.errors import RunFailedError, UsageError
from assay.record.layout import ACCOUNT_PROBES
from assay.running.asked.request import RunRequest
from assay.running.host.slowing import check_slow, parse_slow, slowed
from assay.running.processes.launcher import Guardian
from assay.running.processes.process_table import all_processes, read_process
from assay.running.server.instances import LaunchError
from assay.running.server.subject import Subject
from tests.reused import skip_unless_numbers_can_be_chosen, started_as

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.running.processes.launcher import Child

PATIENCE_S = 30.0
NS_PER_MS = 1_000_000
# Milliseconds of CPU time and of sleep by turns, as often as it is told; then what they took.
LOAD = """
import json, sys, time
cpu_ms, sleep_ms, rounds = map(float, sys.argv[1:])

def delay_ms():
    return int(open("/proc/self/schedstat").read().split()[1]) / 1e6

print("ready", flush=True)
sys.stdin.readline()
begun, waited, used = time.perf_counter(), delay_ms(), time.thread_time()
for _ in range(int(rounds)):
    until = time.thread_time() + cpu_ms / 1e3
    while time.thread_time() < until:
        pass
    if sleep_ms:
        time.sleep(sleep_ms / 1e3)
seconds = time.perf_counter() - begun
cpu_ms, wall_ms = 1e3 * (time.thread_time() - used), 1e3 * seconds - (delay_ms() - waited)
print(json.dumps({"wall_ms": wall_ms, "cpu_ms": cpu_ms}), flush=True)
sys.stdin.readline()
"""
# So many reads of 8 KiB at random places of a file, past the page cache; then what they took.
READER = """
import json, mmap, os, random, sys, time
path, reads = sys.argv[1], int(sys.argv[2])
descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
pages, page = os.fstat(descriptor).st_size // 8192, mmap.mmap(-1, 8192)

def delay_ms():
    return int(open("/proc/self/schedstat").read().split()[1]) / 1e6

print("ready", flush=True)
sys.stdin.readline()
begun, waited, used = time.perf_counter(), delay_ms(), time.thread_time()
for _ in range(reads):
    os.preadv(descriptor, [page], random.randrange(pages) * 8192)
seconds = time.perf_counter() - begun
cpu_ms, wall_ms = 1e3 * (time.thread_time() - used), 1e3 * seconds - (delay_ms() - waited)
print(json.dumps({"wall_ms": wall_ms, "cpu_ms": cpu_ms}), flush=True)
sys.stdin.readline()
"""
FILE_BYTES = 8 << 20
READS = 2000
BURN = [sys.executable, "-I", "-S", "-c", "while True: pass"]


class Recorded:
    """The parts of a run's writer that slowing needs."""

    def __init__(self, raw: Path) -> None:
        self.raw = raw
        self.facts: dict[str, Any] = {}

    def update(self, **facts: Any) -> None:
        self.facts |= facts


class Slowed:
    """A process that is slowed through a guardian, as an engine's is."""

    def __init__(self, root: Path) -> None:
        self.guardian = Guardian("run", root / "instances")
        self.raw = root / "raw"
        self.raw.mkdir()
        self.run = Recorded(self.raw)

    def of(self, pid: int, slow: dict[str, float], last_words: str | None = None) -> Any:
        request = RunRequest(workload="tpch", engine="duckdb", scale=0.01, slow=slow)
        subject = Subject("duckdb", {}, embedded=True, last_words=lambda: last_words)
        run: Any = self.run
        return slowed(request, self.guardian, subject, [pid], self.raw, run)

    @property
    def slowing(self) -> dict[str, Any]:
        facts: dict[str, Any] = self.run.facts["slowing"]
        return facts

    def stops(self) -> pl.DataFrame:
        return pl.read_ipc_stream(self.raw / "slowing.arrows")


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Slowed]:
    lab = Slowed(tmp_path)
    with lab.guardian:
        yield lab


@pytest.fixture
def busy() -> Iterator[int]:
    """A process that computes and is no child of a guardian."""
    with _burning() as process:
        yield process.pid


@contextmanager
def _burning() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(BURN) as process:
        yield process
        process.send_signal(signal.SIGCONT)
        process.kill()


def eventually(what: Callable[[], object]) -> bool:
    deadline_s = time.monotonic() + PATIENCE_S
    while not what():
        if time.monotonic() > deadline_s:
            return False
        time.sleep(0.001)
    return True


def is_stopped(pid: int) -> bool:
    process = read_process(pid)
    return process is not None and process.state == "T"


def stays_awake(pid: int) -> bool:
    """Whether it is never seen stopped for a while that is longer than any stop."""
    looks = []
    for _ in range(100):
        looks.append(is_stopped(pid))
        time.sleep(0.002)
    return not any(looks)


def while_stopped(lab: Slowed, pid: int, act: Callable[[int], None]) -> None:
    """Slows a process, and acts while it is stopped; `act` gets the slower's number."""
    with lab.of(pid, {"cpu": 50.0}) as accounts:
        assert eventually(lambda: is_stopped(pid))
        act(next(iter(accounts)))


def played(
    lab: Slowed, load: tuple[object, ...], slow: dict[str, float], script: str = LOAD
) -> dict[str, float]:
    """What a load tells of itself."""
    argv = [sys.executable, "-c", script, *map(str, load)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(argv, **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        with lab.of(process.pid, slow):
            process.stdin.write("\n")
            process.stdin.flush()
            document: dict[str, float] = json.loads(process.stdout.readline())
        process.stdin.close()
    return document


@dataclass(frozen=True)
class Taken:
    """Milliseconds of a load that was played as it is, and then with computing slowed."""

    plain_ms: float
    slowed_ms: float
    cpu_ms: float


def taken_by(root: Path, load: tuple[float, float, int], factor: float) -> Taken:
    """Plays a load twice."""
    root.mkdir()
    lab = Slowed(root)
    with lab.guardian:
        plain = played(lab, load, {})
        slow = played(lab, load, {"cpu": factor})
    assert lab.slowing["error"] is None
    assert lab.slowing["taken_cpu_ns"] / NS_PER_MS == pytest.approx(slow["cpu_ms"], rel=0.1, abs=25)
    return Taken(plain["wall_ms"], slow["wall_ms"], slow["cpu_ms"])


class TestTruth:
    """What it takes longer is what was asked for, of each part of a known mixture."""

    @pytest.mark.parametrize(
        ("load", "factor"),
        [
            pytest.param((5.0, 0.0, 30), 1.5, id="computing"),
            pytest.param((5.0, 0.0, 30), 3.0, id="computing thrice"),
            pytest.param((0.3, 0.3, 400), 2.0, id="fine mixture"),
            pytest.param((10.0, 10.0, 12), 2.0, id="coarse mixture"),
        ],
    )
    def test_computing_takes_so_many_times_as_long(
        self, tmp_path: Path, load: tuple[float, float, int], factor: float
    ) -> None:
        """It never takes less; a busy host adds to it, so the least of three is looked at.

        How late the sleeps of the load end is in the time that it takes as it is.
        """
        too_much = []
        for attempt in range(3):
            taken = taken_by(tmp_path / str(attempt), load, factor)
            whole_ms = factor * taken.cpu_ms + load[1] * load[2]
            assert taken.slowed_ms > 0.93 * whole_ms
            owed_ms = (factor - 1) * taken.cpu_ms
            too_much.append((taken.slowed_ms - taken.plain_ms - owed_ms) / whole_ms)
        assert min(too_much) < 0.1

    @pytest.mark.parametrize("factor", [1.0, 3.0])
    def test_waiting_for_a_disk_takes_so_many_times_as_long(
        self, lab: Slowed, tmp_path: Path, factor: float
    ) -> None:
        """Oracle: what is left of the reader's own time without its CPU time and its stops."""
        file = tmp_path / "file"
        file.write_bytes(os.urandom(FILE_BYTES))
        with file.open("rb") as written:
            os.fsync(written.fileno())
        try:
            os.close(os.open(file, os.O_RDONLY | os.O_DIRECT))
        except OSError:
            pytest.skip("this file system has no reads past the page cache: set TMPDIR to a disk")
        times = played(lab, (file, READS), {"disk": factor}, READER)
        facts = lab.slowing
        waited_ms = times["wall_ms"] - times["cpu_ms"] - facts["stopped_ns"] / NS_PER_MS
        assert facts["taken_disk_ns"] / NS_PER_MS == pytest.approx(waited_ms, rel=0.25, abs=10)
        assert facts["owed_ns"] == pytest.approx((factor - 1) * facts["taken_disk_ns"], rel=1e-3)
        assert facts["stopped_ns"] >= 0.9 * (facts["owed_ns"] - 5 * NS_PER_MS)

    def test_sleeping_is_slowed_by_nothing(self, lab: Slowed) -> None:
        played(lab, (0.0, 5.0, 40), {"cpu": 3.0, "disk": 3.0})
        slowing = lab.slowing
        assert slowing["stopped_ns"] < 0.2 * 200 * NS_PER_MS


class TestRecord:
    def test_every_stop_is_in_the_record(self, lab: Slowed, busy: int) -> None:
        with lab.of(busy, {"cpu": 2.0}) as accounts:
            assert list(accounts.values()) == [ACCOUNT_PROBES]
            assert eventually(lambda: is_stopped(busy))
            time.sleep(0.2)
        slowing, stops = lab.slowing, lab.stops()
        assert slowing["asked"] == {"cpu": 2.0}
        assert stops.filter(pl.col("until_ns") > pl.col("time_ns")).height == slowing["stops"] > 0
        assert stops["stopped_ns"][-1] == slowing["stopped_ns"]
        assert stops["cpu_ns"].is_sorted()
        assert (self_cost := pl.read_ipc_stream(lab.raw / "probe-slowing.arrows")).height > 0
        assert self_cost["probe"].cast(pl.String).unique().to_list() == ["slowing"]
        assert stays_awake(busy)

    def test_nothing_asked_is_nothing_done(self, lab: Slowed, busy: int) -> None:
        with lab.of(busy, {}) as accounts:
            assert accounts == {}
        assert lab.run.facts == {}


class TestNobodyStaysStopped:
    def test_where_the_slower_is_killed(self, lab: Slowed) -> None:
        """The guardian has its descendants go on."""
        engine = lab.guardian.start(BURN, env=os.environ, cwd=lab.raw, log=lab.raw / "log")
        with lab.of(engine.pid, {"cpu": 50.0}) as accounts:
            (slower,) = accounts
            assert eventually(lambda: is_stopped(engine.pid))
            os.kill(slower, signal.SIGKILL)
            assert eventually(lambda: not _lives(slower))
            assert eventually(lambda: not is_stopped(engine.pid))
            assert stays_awake(engine.pid)
        assert lab.slowing["error"] == "the slower went away before the end"

    def test_where_the_guardian_is_killed(self, tmp_path: Path, busy: int) -> None:
        """What is no child of it is not ended with it, and the slower ends in order."""
        lab = Slowed(tmp_path)

        def kill_guardian(slower: int) -> None:
            os.kill(lab.guardian.pid, signal.SIGKILL)
            assert eventually(lambda: not _lives(slower))
            assert stays_awake(busy)

        with pytest.raises(LaunchError, match="ended from outside"):
            while_stopped(lab, busy, kill_guardian)
        lab.guardian.close()

    def test_where_the_run_is_left_by_an_error(self, lab: Slowed, busy: int) -> None:
        def fail(_: int) -> None:
            raise RuntimeError("of the run")

        with pytest.raises(RuntimeError, match="of the run"):
            while_stopped(lab, busy, fail)
        assert stays_awake(busy)

    def test_who_has_the_number_of_an_engine_that_ended_is_let_go(self, lab: Slowed) -> None:
        with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as stranger:
            try:
                with (
                    pytest.raises(RunFailedError, match="cannot be slowed: it was ended by signal"),
                    lab.of(stranger.pid, {"cpu": 50.0}, "it was ended by signal 9"),
                ):
                    pytest.fail("it was slowed")
                process = read_process(stranger.pid)
                assert process is not None
                assert process.state == "R"
            finally:
                stranger.kill()

    def test_who_gets_the_number_before_the_slower_starts_is_not_stopped(
        self, lab: Slowed, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        skip_unless_numbers_can_be_chosen()
        start = lab.guardian.start
        with ExitStack() as stack:
            engine = stack.enter_context(_burning())

            def start_late(*args: Any, **facts: Any) -> Child:
                engine.kill()
                engine.wait()
                stranger = started_as(engine.pid, lambda: subprocess.Popen(BURN))
                stack.callback(stranger.wait)
                stack.callback(stranger.kill)
                return start(*args, **facts)

            monkeypatch.setattr(lab.guardian, "start", start_late)
            with (
                pytest.raises(RunFailedError, match="none of the processes"),
                lab.of(engine.pid, {"cpu": 50.0}),
            ):
                pytest.fail("it was slowed")
            assert stays_awake(engine.pid)

    def test_who_is_no_process_of_ours_is_not_stopped(self, lab: Slowed) -> None:
        pid = int(subprocess.check_output(["sh", "-c", "sleep 60 >/dev/null & echo $!"]))
        try:
            with (
                pytest.raises(RunFailedError, match=f"none of the processes {pid} is there"),
                lab.of(pid, {"cpu": 50.0}),
            ):
                pytest.fail("it was slowed")
        finally:
            os.kill(pid, signal.SIGKILL)

    def test_who_is_not_there_cannot_be_slowed(self, lab: Slowed) -> None:
        with subprocess.Popen(["true"]) as gone:
            pass
        with (
            pytest.raises(RunFailedError, match="none of the processes"),
            lab.of(gone.pid, {"cpu": 2.0}),
        ):
            pass


def _lives(pid: int) -> bool:
    return any(process.pid == pid and process.alive for process in all_processes())


class TestAsked:
    def test_factors_are_numbers(self) -> None:
        assert parse_slow({"cpu": "2", "disk": " 1.5 "}) == {"cpu": 2.0, "disk": 1.5}

    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            ({"cpus": "2"}, "cpus=2: unknown"),
            ({"cpu": "0.5"}, "from 1"),
            ({"cpu": "twice"}, "such as cpu=2"),
            ({"disk": "nan"}, "such as disk=2"),
            ({"disk": "1000"}, "to 100"),
        ],
    )
    def test_what_slows_nothing_is_refused(self, asked: dict[str, str], message: str) -> None:
        with pytest.raises(UsageError, match=message):
            parse_slow(asked)

    def test_a_running_server_is_not_stopped(self) -> None:
        request = RunRequest(
            workload="tpch",
            engine="postgresql",
            scale=0.01,
            dsn="postgresql://x",
            slow={"cpu": 2.0},
        )
        with pytest.raises(
            UsageError, match="Assay does not pause the processes of a running server"
        ):
            check_slow(request, "server")

    def test_the_null_engine_is_not_slowed(self) -> None:
        request = RunRequest(workload="tpch", engine="null", scale=0.01, slow={"cpu": 2.0})
        with pytest.raises(UsageError, match="no process"):
            check_slow(request, "none")
