"""A fleet as one driver, with hosts that are scripted: gates, deaths, one record of all."""

from __future__ import annotations

import json
import queue
import time
from pathlib import Path

import polars as pl
import pytest

from assay import _core
from assay.checks.fleet import check
from assay.checks.outcomes import identity_broken
from assay.model.errors import RunFailedError, UsageError
from assay.model.verdict import Verdict
from assay.record.reader import Run
from assay.record.writer import RunWriter
from assay.running.fleet import meeting
from assay.running.fleet.asked import security
from assay.running.fleet.clocks import Offset
from assay.running.fleet.contract import whose
from assay.running.fleet.hosts import FleetDriver
from assay.running.fleet.meeting import Agent
from assay.running.server.subject import Subject

AHEAD_NS = 7_000_000_000_000
SESSIONS, OPERATIONS = 5, 600


def plan():
    closed = {"shape": "closed", "clients": SESSIONS}
    mix = {"operations": [0, 1], "weights": [2, 1], "deck": True, "arrival": closed}
    phases = [{"name": "before", "arrival": {"shape": "power"}, "operations": [1]}]
    phases.append({"name": "measured", **mix, "operations_max": OPERATIONS})
    return {"operations": ["read", "write"], "phases": phases, "seed": 3}


class Agents:
    """Hosts whose clock is ahead by as many times `AHEAD_NS` as their number says."""

    def __init__(self, hosts: int) -> None:
        owners = whose()
        self.met = [
            Agent(f"h{n}", "", owners | {"clock": str(n), "network": "x"}) for n in range(hosts)
        ]
        self.inbox: queue.SimpleQueue = queue.SimpleQueue()
        self.said: list[tuple[int, str, dict]] = []
        self.jobs: dict[int, dict] = {}
        self.left: set[int] = set()

    def drive(self, number, job):
        self.jobs[number] = job

    def say(self, number, kind, **facts):
        self.said.append((number, kind, facts))

    def leave(self, number):
        self.left.add(number)

    def clock(self, number):
        return Offset(time.monotonic_ns(), number * AHEAD_NS, 1_000, 40)

    def tell(self, number, kind, **facts):
        message = {"kind": kind, **facts, "cpu_s": {"driver": 1.0, "agent": 0.5}}
        self.inbox.put((number, {"kind": "told", "message": message}))

    def send(self, number, directory: Path, streams=("events", "statements", "attempts")):
        for name in streams:
            data = (directory / f"{name}.arrows").read_bytes()
            for at in range(0, len(data), 1000):
                chunk = data[at : at + 1000]
                self.inbox.put((number, {"kind": "stream", "name": name, "bytes": chunk}))

    def die(self, number):
        self.inbox.put((number, None))


@pytest.fixture
def fleet(tmp_path):
    """Three hosts with their shares, ready, and the writer of their record."""
    agents = Agents(3)
    facts = {"plan": plan(), "request": {}, "engine": {"kind": "server"}}
    with RunWriter(tmp_path, "run", facts) as run:
        subject = Subject("null", {"address": {}}, reachable=True)
        driver = FleetDriver(agents, subject, {"plan": plan(), "plans": False}, run)
        driver.start()
        for number in range(3):
            agents.tell(number, "ready", effective_settings={"a": "b"}, pid=1)
        assert driver.next(5)["kind"] == "ready"
        driver.send("go")
        yield agents, driver, run


def driven(directory: Path, share: list[int]) -> dict:
    """What the real driver writes and reports of a share, on this host's clock."""
    directory.mkdir()
    sessions = [_core.NullSession(0, 50) for _ in range(*share)]
    gate = lambda _: time.monotonic_ns()  # noqa: E731
    report_text = _core.drive(
        json.dumps(plan()),
        sessions,
        directory,
        _core.CancelFlag(),
        lambda *_: None,
        first_session=share[0],
        gate=gate,
    )
    return json.loads(report_text)


def heard(driver):
    """All that the driver tells until nothing is left to be heard."""
    messages = []
    while (message := driver.next_within(0.2)) is not None:
        messages.append(message)
    return messages


def test_each_host_has_its_share_of_the_same_plan(fleet):
    agents, _, _ = fleet
    assert [agents.jobs[number]["share"] for number in range(3)] == [[0, 2], [2, 4], [4, 5]]
    assert all(job["plan"] == plan() for job in agents.jobs.values())


def test_a_phase_begins_for_all_at_one_moment_of_each_one_s_own_clock(fleet):
    agents, driver, _ = fleet
    agents.said.clear()
    for number in (2, 0):
        agents.tell(number, "gate", phase="before")
    assert heard(driver) == []
    assert agents.said == []
    agents.tell(1, "gate", phase="before")
    now_ns = time.monotonic_ns()
    heard(driver)
    assert [(number, kind) for number, kind, _ in agents.said] == [(n, "begin") for n in range(3)]
    instants = {facts["at_ns"] - number * AHEAD_NS for number, _, facts in agents.said}
    assert len(instants) == 1
    assert instants.pop() > now_ns


def test_a_host_that_dies_keeps_nobody_waiting_at_the_gate(fleet):
    agents, driver, _ = fleet
    agents.said.clear()
    agents.tell(0, "gate", phase="before")
    agents.tell(2, "gate", phase="before")
    agents.die(1)
    heard(driver)
    assert [number for number, kind, _ in agents.said if kind == "begin"] == [0, 2]


def test_events_of_all_are_one_record_on_the_run_s_clock(fleet, tmp_path):
    agents, driver, run = fleet
    begun_ns = time.monotonic_ns()
    for number in range(3):
        report = driven(tmp_path / str(number), agents.jobs[number]["share"])
        agents.send(number, tmp_path / str(number))
        agents.tell(number, "driven", report=report)
    ended_ns = time.monotonic_ns()
    (last,) = heard(driver)
    driver.close()
    assert last["kind"] == "driven"
    read = Run(run.dir)
    events = read.table("events")
    assert identity_broken(events, counted(last["report"])) is None
    measured = events.filter(pl.col("phase") == "measured")
    for number in range(3):
        own = set(measured.filter(pl.col("sequence") % 3 == number)["session"])
        assert own
        assert own <= set(range(*agents.jobs[number]["share"]))
    operations = dict(measured.group_by("operation").len().iter_rows())
    assert operations == {"read": 400, "write": 200}
    # The streams were of this host's clock; of clocks that are ahead, these moments are earlier.
    for number in range(3):
        own = events.filter(pl.col("sequence") % 3 == number)
        moved = own["started_ns"] + number * AHEAD_NS
        assert begun_ns - 2_000 <= moved.min()
        assert moved.max() <= ended_ns + 2_000
    assert not (run.raw / "fleet").exists()
    assert check(read).verdict is Verdict.VALID
    assert [host["ended"]["recorded_operations"] for host in read.facts["fleet"]["hosts"]] == [
        events.filter(pl.col("session").is_in(list(range(*agents.jobs[n]["share"])))).height
        for n in range(3)
    ]


def counted(report):
    """Outcomes of a report, with the identity that it keeps."""
    all_counts = [
        operation["counts"] for phase in report["phases"] for operation in phase["operations"]
    ]
    for host_count in all_counts:
        assert (
            host_count["scheduled"]
            == host_count["ok"] + host_count["skipped"] + host_count["failed"]
        )
    return {
        word: sum(all_count[word] for all_count in all_counts)
        for word in ("ok", "skipped", "failed")
    }


def test_a_host_that_dies_is_an_outcome_and_its_events_until_then_are_kept(fleet, tmp_path):
    agents, driver, run = fleet
    for number in (0, 2):
        report = driven(tmp_path / str(number), agents.jobs[number]["share"])
        agents.send(number, tmp_path / str(number))
        agents.tell(number, "driven", report=report)
    driven(tmp_path / "1", agents.jobs[1]["share"])
    whole = (tmp_path / "1" / "events.arrows").read_bytes()
    # It was cut off in the middle of what it sent last.
    (tmp_path / "1" / "events.arrows").write_bytes(whole[: len(whole) * 2 // 3])
    agents.send(1, tmp_path / "1", ["events"])
    agents.tell(1, "progress", phase="measured", ended=10_000, begun_s=1.0 + 7_000)
    agents.die(1)
    *_, last = heard(driver)
    # Whoever kills the run now leaves it so.
    killed = check(Run(run.dir))
    assert killed.verdict is Verdict.UNKNOWN
    assert "not merged; raw/fleet has a folder for each host" in killed.reason
    driver.close()
    assert (last["kind"], last["report"]["ended"]) == ("driven", "done")
    read = Run(run.dir)
    events = read.table("events")
    assert identity_broken(events, counted(last["report"])) is None
    ended = read.facts["fleet"]["hosts"][1]["ended"]
    recorded = events.filter(pl.col("sequence") % 3 == 1).height
    assert ended["how"] == "died"
    assert ended["recorded_operations"] == recorded
    assert ended["lost_operations"] == 10_000 - recorded
    assert ended["under_way_max"] == 2
    result = check(read)
    assert result.verdict is Verdict.INVALID
    assert "h1" in result.reason
    assert "2 of 5 clients" in result.reason


def test_a_driver_that_breaks_is_an_outcome_with_its_words(fleet):
    agents, driver, run = fleet
    agents.tell(1, "failed", message="the server said no", exit_code=2)
    heard(driver)
    host = json.loads((run.dir / "run.json").read_text())["fleet"]["hosts"][1]
    assert (host["ended"]["how"], host["ended"]["words"]) == ("failed", "the server said no")


def test_a_run_without_hosts_fails(fleet):
    agents, driver, _ = fleet
    for number in range(3):
        agents.die(number)
    with pytest.raises(RunFailedError, match="all hosts of the fleet failed"):
        heard(driver)
    driver.close()


def test_before_the_word_to_go_a_host_s_failure_is_the_run_s(tmp_path):
    agents = Agents(1)
    with RunWriter(tmp_path, "run", {"plan": plan()}) as run:
        subject = Subject("null", {"address": {}}, reachable=True)
        driver = FleetDriver(agents, subject, {"plan": plan(), "plans": False}, run)
        driver.start()
        agents.tell(0, "failed", message="no such database", exit_code=1)
        with pytest.raises(UsageError, match="h0: no such database"):
            driver.next(5)
        agents.die(0)
        with pytest.raises(RunFailedError, match="connection to host h0 was lost: "):
            driver.next(5)
        driver.close()


def test_another_host_cannot_reach_an_engine_of_ours(tmp_path):
    subject = Subject("postgresql", {"address": {}}, pids=(1,))
    with (
        RunWriter(tmp_path, "run", {"plan": plan()}) as run,
        pytest.raises(RunFailedError, match="--dsn"),
    ):
        FleetDriver(Agents(2), subject, {"plan": plan(), "plans": False}, run)


def test_a_file_of_a_host_stays_in_its_directory(fleet):
    agents, driver, _ = fleet
    agents.inbox.put((0, {"kind": "file", "name": "../../run.json", "bytes": b"x"}))
    with pytest.raises(RunFailedError, match=r"run\.json"):
        driver.next(5)


def test_nobody_waits_for_a_silent_inbox_longer_than_asked(fleet):
    _, driver, _ = fleet
    assert driver.next_within(0.01) is None
    with pytest.raises(RunFailedError, match="the hosts of the fleet sent no message"):
        driver.next(0.01)


def test_an_agent_that_went_away_before_its_share_fails_the_run(monkeypatch):
    monkeypatch.setattr(meeting, "ANSWERING_S", 0.2)
    agents = meeting.Agents(security(None))
    try:
        agents.met = [Agent("gone", "tcp://127.0.0.1:1", {})]
        with pytest.raises(RunFailedError, match="the connection to host gone was lost"):
            agents.drive(0, {})
    finally:
        agents.close()
