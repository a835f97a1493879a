"""A kill of a run ends the engine's processes and nobody else's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from assay.running.processes.process_table import live_descendants, read_process
from assay.running.server.faults import _killed

if TYPE_CHECKING:
    import pytest

    from assay.running.processes.process_table import Process

SLEEP = "import time; time.sleep(60)"


def test_a_process_is_killed_with_all_below_it() -> None:
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SLEEP!r}])"
    with subprocess.Popen([sys.executable, "-c", parent]) as root:
        while not (below := live_descendants(root.pid)):
            time.sleep(0.01)
        assert [process.pid for process in _killed(root.pid)] == [below[0].pid, root.pid]
    assert root.returncode == -signal.SIGKILL


def test_children_of_who_gets_the_number_at_the_last_moment_are_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SLEEP!r}])"

    def listed_earlier(ancestor: int) -> list[Process]:
        processes = live_descendants(ancestor)
        engine = [process._replace(start_ticks=0) for process in processes]
        return engine if ancestor == os.getpid() else processes

    with subprocess.Popen([sys.executable, "-c", parent]) as stranger:
        while not (below := live_descendants(stranger.pid)):
            time.sleep(0.01)
        monkeypatch.setattr("assay.running.server.faults.live_descendants", listed_earlier)
        killed, left = _killed(stranger.pid), live_descendants(stranger.pid)
        for process in below:
            os.kill(process.pid, signal.SIGKILL)
        stranger.kill()
    assert killed == []
    assert [process.pid for process in left] == [process.pid for process in below]


def test_who_has_the_number_of_an_engine_that_ended_is_left_alone() -> None:
    told = subprocess.check_output(["sh", "-c", "sleep 60 >/dev/null & echo $!"])
    stranger = int(told)
    try:
        assert _killed(stranger) == []
        process = read_process(stranger)
        assert process is not None
        # It may be still on its way to sleep.
        assert process.state in {"R", "S"}
    finally:
        os.kill(stranger, signal.SIGKILL)
