"""Presents several client hosts as one driver: merges their messages.

After the start, a lost host is recorded as an outcome, and the others continue.
"""

from __future__ import annotations

import queue
import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.model.errors import EXIT_CODES, RunFailedError
from assay.model.units import NS_PER_S
from assay.record.layout import FLEET_DIR, RESULTS_DIR
from assay.running.asked.driver_plan import plan_sessions
from assay.running.fleet.clocks import ClockOf
from assay.running.fleet.contract import (
    BEGIN,
    DRIVEN,
    FAILED,
    FILE,
    GATE,
    GO,
    PLANNED,
    PROGRESS,
    READY,
    STREAM,
    TOLD,
    whose,
)
from assay.running.fleet.merging import (
    AgentPart,
    events_of,
    keep,
    merge_files,
    merge_streams,
    merged_report,
)
from assay.running.fleet.shares import split

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.record.writer import RunWriter
    from assay.running.fleet.meeting import Agent, Agents
    from assay.running.server.subject import Subject

# Seconds between the readiness of all hosts and their start; a message takes much less.
BEGIN_AFTER_S = 0.25
# Possible ends of a host's share.
DONE, STOPPED, DIED, BROKE = "done", "stopped", "died", "failed"


@dataclass
class _Member:
    """The known state of one client host of a fleet."""

    number: int
    agent: Agent
    share: range
    directory: Path
    same: bool
    clock: ClockOf | None = None
    ready: dict[str, Any] | None = None
    gate: int = -1
    operations_ended: int = 0
    phase: int = 0
    cpu_s: dict[str, dict[str, float]] = field(default_factory=dict)
    report: dict[str, Any] | None = None
    ended: dict[str, Any] | None = None
    files: set[str] = field(default_factory=set)

    @property
    def lost(self) -> bool:
        """True if the client host was lost before it had reported everything."""
        return self.ended is not None and self.ended["how"] in (DIED, BROKE)

    @property
    def drives(self) -> bool:
        """True if the client host is still driving its load."""
        return self.report is None and not self.lost


class FleetDriver:
    """All client hosts of a fleet, with the interface of one driver process."""

    def __init__(
        self, agents: Agents, subject: Subject, job: dict[str, Any], run: RunWriter
    ) -> None:
        self._agents = agents
        self._job = job
        self._run = run
        self._phases = [phase["name"] for phase in job["plan"]["phases"]]
        self._going = self._merged = False
        self._phase = 0
        ours = whose()
        directory = run.raw / FLEET_DIR
        shares = split(plan_sessions(job["plan"]), len(agents.met))
        self._members = [
            _Member(
                number, agent, share, directory / str(number), agent.who["clock"] == ours["clock"]
            )
            for number, (agent, share) in enumerate(zip(agents.met, shares, strict=True))
        ]
        for member in self._members:
            _check_reach(member, ours, subject)
        self._here = [
            member for member in self._members if member.agent.who["processes"] == ours["processes"]
        ]

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the load generators on this host; empty until they are ready."""
        return tuple(member.ready["pid"] for member in self._here if member.ready is not None)

    def start(self) -> None:
        """Give each client host its share of the load."""
        for member in self._members:
            (member.directory / RESULTS_DIR).mkdir(parents=True)
            own = {
                # The engine's processes are metered on their own host.
                "metered": None,
                "reads_of": None,
                "probed_s": None,
                "device_stat": None,
                "share": [member.share.start, member.share.stop],
                "plans": self._job["plans"] and member is self._members[0],
            }
            self._agents.drive(member.number, self._job | own)

    def send(self, kind: str, **facts: object) -> None:
        """Send a message to all client hosts; requests for plans go to the first only."""
        if kind == GO:
            self._going = True
        asked = self._members[:1] if kind == "plan" else self._members
        for member in asked:
            if not member.lost:
                self._agents.say(member.number, kind, **facts)

    def next(self, timeout_s: float | None = None) -> dict[str, Any]:
        """Return the next message of all client hosts together."""
        message = self.next_within(timeout_s)
        if message is None:
            raise RunFailedError(f"the hosts of the fleet sent no message for {timeout_s} s")
        return message

    def next_within(self, timeout_s: float | None) -> dict[str, Any] | None:
        """Return the next message of all client hosts; None if there was none in time."""
        deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            rest_s = None if deadline_s is None else max(0.0, deadline_s - time.monotonic())
            try:
                number, message = self._agents.inbox.get(timeout=rest_s)
            except queue.Empty:
                return None
            answer = self._heard(self._members[number], message)
            if answer is not None:
                return answer

    def close(self) -> None:
        """Close the connections to all client hosts and record how each ended."""
        for member in self._members:
            self._agents.leave(member.number)
        if not self._merged:
            self._merge()
        # Plans arrive after the load has ended.
        merge_files([member.directory for member in self._members], self._run.raw)
        shutil.rmtree(self._run.raw / FLEET_DIR, ignore_errors=True)

    def _heard(self, member: _Member, message: dict[str, Any] | None) -> dict[str, Any] | None:
        if message is None:
            return self._gone(member, DIED, "its connection broke, or it said nothing any more")
        kind = message["kind"]
        if kind in (STREAM, FILE):
            keep(member.directory, member.agent.name, message)
        elif kind == FAILED:
            if not self._going:
                text = f"{member.agent.name}: {message['message']}"
                raise EXIT_CODES[message["exit_code"]](text)
            return self._gone(member, BROKE, message["message"])
        elif kind == TOLD:
            return self._take(member, message["message"])
        return None

    def _take(self, member: _Member, message: dict[str, Any]) -> dict[str, Any] | None:
        kind = message["kind"]
        if kind == FAILED:
            return self._heard(member, message)
        if kind == READY:
            return self._ready(member, message)
        if kind == GATE:
            member.gate = self._phases.index(message["phase"])
            self._note_cpu(member, message["phase"], message)
            self._open_gate()
            return None
        if kind == PROGRESS:
            return self._progress(member, message)
        if kind == DRIVEN:
            member.report = message["report"]
            self._note_cpu(member, "", message)
            stopped = message["report"]["ended"] != "done"
            self._end(member, STOPPED if stopped else DONE, None)
            self._open_gate()
            return self._driven()
        return message

    def _ready(self, member: _Member, message: dict[str, Any]) -> dict[str, Any] | None:
        member.ready = message
        if any(host.ready is None for host in self._members):
            return None
        for host in self._members:
            offset = self._agents.clock(host.number)
            if offset is None:
                raise RunFailedError(f"--fleet: the clock of {host.agent.name} cannot be read")
            host.clock = ClockOf(offset, same=host.same)
        self._note()
        return self._members[0].ready

    def _open_gate(self) -> None:
        """Start the next phase once all client hosts wait for it."""
        waiting = [member for member in self._members if member.drives]
        if not waiting or any(member.gate != waiting[0].gate for member in waiting):
            return
        gate = waiting[0].gate
        if gate < 0 or any(member.phase > gate for member in waiting):
            return
        unsure_s = max(_clock(member).before.uncertainty_ns for member in waiting) / NS_PER_S
        at_ns = time.monotonic_ns() + round((BEGIN_AFTER_S + 2 * unsure_s) * NS_PER_S)
        for member in waiting:
            member.phase = gate + 1
            self._agents.say(member.number, BEGIN, at_ns=_clock(member).theirs_ns(at_ns))

    def _progress(self, member: _Member, progress: dict[str, Any]) -> dict[str, Any] | None:
        """Return the progress of all client hosts in the phase that all have begun."""
        member.operations_ended = max(member.operations_ended, progress["ended"])
        phase = self._phases.index(progress["phase"])
        if phase < self._phase:
            return None
        self._phase = phase
        begun_ns = _clock(member).ours_ns(round(progress["begun_s"] * NS_PER_S))
        ended = sum(host.operations_ended for host in self._members)
        return progress | {"ended": ended, "begun_s": begun_ns / NS_PER_S}

    def _gone(self, member: _Member, how: str, reason: str) -> dict[str, Any] | None:
        """Handle a client host's end: normal after its last message, else a loss."""
        self._agents.leave(member.number)
        if member.ended is not None:
            # The plans requested from the first host will not arrive.
            asked = self._job["plans"] and member is self._members[0]
            if asked and self._merged:
                return {"kind": PLANNED, "error": f"the host {member.agent.name} went away"}
            return None
        if not self._going:
            raise RunFailedError(
                f"--fleet: the connection to host {member.agent.name} was lost: {reason}"
            )
        self._end(member, how, reason)
        if all(host.lost for host in self._members):
            raise RunFailedError(
                f"--fleet: all hosts of the fleet failed; the last was {member.agent.name}: "
                f"{reason}"
            )
        self._open_gate()
        return self._driven()

    def _end(self, member: _Member, how: str, reason: str | None) -> None:
        phase = self._phases[min(max(0, member.phase - 1), len(self._phases) - 1)]
        member.ended = {"how": how, "at_ns": time.monotonic_ns(), "phase": phase, "words": reason}
        self._note()

    def _driven(self) -> dict[str, Any] | None:
        """Return the combined report of all client hosts once each has ended."""
        if self._merged or any(member.drives for member in self._members):
            return None
        for member in self._members:
            after = None if member.lost else self._agents.clock(member.number)
            member.clock = replace(_clock(member), after=after)
        report = self._merge()
        return {"kind": DRIVEN, "report": report, "probes": {}, "mixes": None}

    def _merge(self) -> dict[str, Any]:
        """Merge the records of all client hosts into one."""
        self._merged = True
        parts = [
            AgentPart(member.directory, member.number, member.clock, member.report)
            for member in self._members
            if member.clock is not None
        ]
        if not parts:
            return {}
        merge_streams(parts, self._run.raw)
        events = events_of(self._run.raw / "events.arrows")
        report = merged_report(parts, events, self._job["plan"])
        for member in self._members:
            self._count(member, events)
        self._note()
        return report

    def _count(self, member: _Member, events: pl.DataFrame) -> None:
        """Record how many operations of a lost client host are known."""
        recorded = events.filter(
            pl.col("session").is_between(member.share.start, member.share.stop, closed="left")
        ).height
        if member.ended is None:
            self._end(member, STOPPED, "the run ended before it")
        assert member.ended is not None  # noqa: S101 - noted just now
        lost = member.lost
        member.ended |= {
            "recorded_operations": recorded,
            # The driver counts ended operations; those of the last moment were not sent yet.
            "lost_operations": max(0, member.operations_ended - recorded) if lost else 0,
            "under_way_max": len(member.share) if lost else 0,
        }

    def _note_cpu(self, member: _Member, phase: str, message: dict[str, Any]) -> None:
        """Record the CPU time of a client host's processes at a phase's start or end."""
        if message["cpu_s"]["driver"] is not None:
            member.cpu_s[phase] = message["cpu_s"]

    def _note(self) -> None:
        self._run.update(fleet={"hosts": [self._facts(member) for member in self._members]})

    def _facts(self, member: _Member) -> dict[str, Any]:
        who = member.agent.who
        return {
            "name": member.agent.name,
            "host": who["host"],
            "kernel": who["kernel"],
            "machine": who["machine"],
            "cpus": who["cpus"],
            "first_session": member.share.start,
            "sessions": len(member.share),
            "clock": None if member.clock is None else member.clock.facts(),
            "driver_cpu_s": self._cpu_by_phase(member, "driver"),
            "agent_cpu_s": self._cpu_by_phase(member, "agent"),
            "ended": member.ended,
        }

    def _cpu_by_phase(self, member: _Member, whose: str) -> dict[str, float]:
        """Return the CPU seconds of a process in each phase that its host completed."""
        edges = [*self._phases, ""]
        return {
            phase: member.cpu_s[after][whose] - member.cpu_s[phase][whose]
            for phase, after in pairwise(edges)
            if phase in member.cpu_s and after in member.cpu_s
        }


@contextmanager
def fleet_driver(
    agents: Agents, subject: Subject, job: dict[str, Any], run: RunWriter
) -> Iterator[FleetDriver]:
    """Yield all client hosts as one driver; at the end of the block their data are merged."""
    driver = FleetDriver(agents, subject, job, run)
    try:
        driver.start()
        yield driver
    finally:
        driver.close()


def _clock(member: _Member) -> ClockOf:
    assert member.clock is not None  # noqa: S101 - asked before the word to go
    return member.clock


def _check_reach(member: _Member, ours: dict[str, Any], subject: Subject) -> None:
    """Refuse client hosts that could not reach the engine."""
    elsewhere = member.agent.who["network"] != ours["network"]
    if elsewhere and "address" in subject.reached and not subject.reachable:
        raise RunFailedError(
            f"--fleet: {member.agent.name} is another host, which cannot reach a private engine "
            "or its bridge on this host: name a server that all hosts reach with --dsn"
        )
