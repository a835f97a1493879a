"""Several hosts drive one run: agents of our own on this host, one of which is killed."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from assay.record.reader import Run
from tests.e2e.conftest import Lab

AGENT = "assay.running.fleet.agent"
PATIENCE_S = 60.0
MIX = ["run", "point-select", "--engine", "null", "--set", "delay=1ms", "--clients", "5"]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    return Lab(tmp_path_factory.mktemp("fleet"))


def processes(lab: Lab, word: str) -> dict[int, str]:
    """Command lines of processes of this laboratory that have a word in them, by number."""
    processes_by_host = {}
    for directory in Path("/proc").iterdir():
        if not directory.name.isdigit():
            continue
        try:
            mark = f"ASSAY_TEST_LAB={lab.root}".encode()
            ours = mark in (directory / "environ").read_bytes().split(b"\0")
            line = (directory / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if ours and word in line:
            processes_by_host[int(directory.name)] = line
    return processes_by_host


def wait_for(what):
    deadline_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline_s:
        if answer := what():
            return answer
        time.sleep(0.05)
    raise AssertionError("it did not come")


def test_one_of_three_hosts_is_killed_and_the_others_go_on(lab):
    begun = lab.begin(
        *MIX, "--time", "2s", "--warmup", "100ms", "--no-plans", "--fleet", "3", "--json"
    )

    def driving():
        streams = list(lab.runs.glob("*/raw/fleet/1/events.arrows"))
        return [stream for stream in streams if stream.stat().st_size > 20_000]

    wait_for(driving)
    (victim,) = [pid for pid, line in processes(lab, AGENT).items() if "agent-1" in line]
    os.kill(victim, signal.SIGKILL)
    out, err = begun.communicate(timeout=PATIENCE_S)
    assert begun.returncode == 3, err
    document = json.loads(out)
    checks = {check["check"]: check for check in document["checks"]}
    assert checks["fleet"]["verdict"] == "invalid"
    assert "agent-1" in checks["fleet"]["reason"]
    assert "2 of 5 clients" in checks["fleet"]["reason"]
    # What is recorded of all hosts adds up, and the others played to the end.
    assert checks["outcomes"]["verdict"] == "valid", checks["outcomes"]
    assert document["conditions"]["fleet"] == {
        "hosts": 3,
        "lost": 1,
        "clock_uncertainty_s": 0.0,
        "engine_host": None,
    }
    run = Run(Path(document["path"]))
    hosts = run.facts["fleet"]["hosts"]
    assert [host["ended"]["how"] for host in hosts] == ["done", "died", "done"]
    assert [(host["first_session"], host["sessions"]) for host in hosts] == [(0, 2), (2, 2), (4, 1)]
    events = run.table("events")
    assert events["sequence"].n_unique() == events.height
    ends = {
        number: events.filter(events["sequence"] % 3 == number)["finished_ns"].max()
        for number in range(3)
    }
    assert ends[1] < min(ends[0], ends[2])
    # One clock, measured as if it were several: the truth is within what it was known to.
    for host in hosts:
        before = host["clock"]["before"]
        assert host["clock"]["same"]
        assert abs(before["offset_ns"]) <= before["uncertainty_ns"]
    assert not processes(lab, "assay.running")
    assert not list(lab.instances.glob("*"))
