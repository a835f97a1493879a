"""Which processes are asked for their compiled code, and what one that does not answer costs."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from assay.probes.jit import Started, _refusal, perf_maps, virtual_machines

HOTSPOT = "7f00-7f01 r-xp 00000000 fd:00 1 /opt/jre/lib/server/libjvm.so\n"
OPENJ9 = HOTSPOT + "7f02-7f03 r-xp 00000000 fd:00 2 /opt/jre/lib/default/libj9vm29.so\n"
OTHER = "7f00-7f01 r-xp 00000000 fd:00 3 /usr/lib/libc.so.6\n"
SIGQUIT_HANDLED = "0000000000000004"
NOTHING_HANDLED = "0000000000000000"
START_TICKS = 300


def process(
    proc: Path, pid: int, maps: str, children: str = "", handled: str = "0", parent: int = 1
) -> Path:
    place = proc / str(pid)
    (place / f"task/{pid}").mkdir(parents=True)
    (place / "root/tmp").mkdir(parents=True)
    (place / "maps").write_text(maps)
    starts(place, START_TICKS, parent)
    (place / f"task/{pid}/children").write_text(children)
    (place / "status").write_text(
        f"Name:\tjava\nUid:\t{os.getuid()}\t{os.getuid()}\t0\t0\n"
        f"Gid:\t{os.getgid()}\t{os.getgid()}\t0\t0\nNSpid:\t{pid}\t7\nSigCgt:\t{handled}\n"
    )
    return place


def starts(place: Path, start_ticks: int, parent: int = 1) -> None:
    between = "0 " * 17
    (place / "stat").write_text(f"{place.name} (java) S {parent} {between}{start_ticks} 0\n")


def started(pid: int) -> Started:
    return Started(pid, START_TICKS)


def refusals_of(pid: int, proc: Path, timeout_s: float = 5.0) -> list[str]:
    with perf_maps([started(pid)], timeout_s, proc) as refusals:
        return refusals


class AnsweringJvm:
    """Listens as the attach protocol has it, in a container whose own process number is 7."""

    def __init__(self, tmp: Path, answer: bytes) -> None:
        self.asked = b""
        self._answer = answer
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(tmp / ".java_pid7"))
        self._listening.listen()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        connection, _ = self._listening.accept()
        with connection:
            while self.asked.count(b"\0") < 5:
                self.asked += connection.recv(100)
            connection.sendall(self._answer)

    def close(self) -> None:
        self._thread.join()
        self._listening.close()


def test_only_hotspot_is_found_among_the_descendants(tmp_path):
    process(tmp_path, 1, OTHER, children="2 3 ")
    process(tmp_path, 2, HOTSPOT, children="4 ")
    process(tmp_path, 3, OPENJ9)
    process(tmp_path, 4, HOTSPOT, parent=2)
    process(tmp_path, 5, HOTSPOT)
    assert virtual_machines([started(1)], tmp_path) == [started(2), started(4)]
    roots = [started(1), started(2), started(99)]
    assert virtual_machines(roots, tmp_path) == [started(2), started(4)]


def test_who_has_the_number_of_an_engine_that_ended_is_not_asked(tmp_path):
    process(tmp_path, 1, OTHER, children="2 3 ")
    process(tmp_path, 2, HOTSPOT)
    # It was a child when it was listed, and another process has its number.
    process(tmp_path, 3, HOTSPOT, parent=9)
    assert virtual_machines([started(1)], tmp_path) == [started(2)]
    starts(tmp_path / "2", START_TICKS + 1)
    assert virtual_machines([started(2)], tmp_path) == []
    starts(tmp_path / "1", START_TICKS + 1)
    assert virtual_machines([started(1)], tmp_path) == []


def test_the_list_is_where_the_jvm_has_its_tmp(tmp_path):
    tmp = process(tmp_path, 1, HOTSPOT) / "root/tmp"
    (tmp / "perf-7.map").write_text("7f00 10 void Some.method()\n")
    jvm = AnsweringJvm(tmp, b"0\nCommand executed successfully\n")
    with perf_maps([started(1)], proc=tmp_path) as refusals:
        assert (tmp / "perf-7.map").exists()
    jvm.close()
    assert jvm.asked == b"1\0jcmd\0Compiler.perfmap\0\0\0"
    assert refusals == []
    assert not (tmp / "perf-7.map").exists()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"1\nUnknown diagnostic command\nmore\n", "Unknown diagnostic command"),
        (b"0\n", "perf-7.map is missing"),
        (b"", "no answer"),
    ],
)
def test_a_jvm_that_refuses_is_told_with_its_reason(tmp_path, answer, why):
    jvm = AnsweringJvm(process(tmp_path, 1, HOTSPOT) / "root/tmp", answer)
    (refusal,) = refusals_of(1, tmp_path)
    jvm.close()
    assert why in refusal


def test_no_signal_goes_to_one_that_would_be_ended_by_it(tmp_path):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as idle:
        process(tmp_path, idle.pid, HOTSPOT, handled=NOTHING_HANDLED)
        (refusal,) = refusals_of(idle.pid, tmp_path)
        idle.communicate(b"\n")
    assert "does not handle SIGQUIT" in refusal
    assert idle.returncode == 0


def test_one_that_does_not_listen_is_given_up(tmp_path):
    waits = (
        "import signal; signal.signal(signal.SIGQUIT, lambda *_: None); print(flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", waits], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as deaf:
        deaf.stdout.readline()
        place = process(tmp_path, deaf.pid, HOTSPOT, handled=SIGQUIT_HANDLED)
        (refusal,) = refusals_of(deaf.pid, tmp_path, timeout_s=0.1)
        deaf.communicate(b"\n")
    assert "did not answer within 0.1 s" in refusal
    assert list((place / "root/tmp").iterdir()) == []


def test_no_signal_goes_to_a_jvm_that_executes_another_program_or_has_ended(tmp_path):
    counts = (
        "import signal; seen = []; signal.signal(signal.SIGQUIT, lambda *_: seen.append(1));"
        " print(flush=True); input(); print(len(seen))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", counts], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as stranger:
        stranger.stdout.readline()
        place = process(tmp_path, stranger.pid, HOTSPOT, handled=SIGQUIT_HANDLED)
        # It is found as a JVM, and is none when it is about to be asked.
        (jvm,) = virtual_machines([started(stranger.pid)], tmp_path)
        with ExitStack() as stack:
            (place / "maps").write_text(OTHER)
            executes = _refusal(jvm, 0.1, tmp_path, stack)
            (place / "maps").write_text(HOTSPOT)
            starts(place, START_TICKS + 1)
            ended = _refusal(jvm, 0.1, tmp_path, stack)
        seen, _ = stranger.communicate(b"\n")
    for refusal in (executes, ended):
        assert refusal.endswith("did not list its compiled code: it ended.")
    assert seen == b"0\n"
    assert list((place / "root/tmp").iterdir()) == []


def test_no_list_is_left_behind_by_a_sampler_that_fails(tmp_path: Path) -> None:
    tmp = process(tmp_path, 1, HOTSPOT) / "root/tmp"
    (tmp / "perf-7.map").write_text("7f00 10 a\n")
    jvm = AnsweringJvm(tmp, b"0\n")

    def fail() -> None:
        with perf_maps([started(1)], proc=tmp_path) as refusals:
            assert refusals == []
            raise OSError("the profile probe panicked")

    with pytest.raises(OSError, match="panicked"):
        fail()
    jvm.close()
    assert not (tmp / "perf-7.map").exists()
