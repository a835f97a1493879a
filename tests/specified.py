"""Writes whole run directories of TPC-H's tests, planned as the product plans them.

Times are made up. A power test plays one operation after another; the streams of a throughput test
begin at one moment and take `beside` times as long for each operation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from assay.record.layout import DRIVER_FILE
from assay.record.seal import write_seal
from assay.record.writer import write_json
from assay.running.asked.specified import Piece, PlannedTest, Refresh, SpecifiedTest
from assay.workloads.contract import Workload
from assay.workloads.discovery import find_workload
from assay.workloads.recording import recorded
from assay.workloads.streams import minimum_at
from tests.conftest import write_stream
from tests.records import (
    BEGUN_NS,
    ENGINE_AND_DRIVER,
    ENVIRONMENT,
    MS,
    PID,
    RSS_BYTES,
    S,
    run_facts,
    sample_times,
    task_rows,
    write_cost_streams,
    write_probe_streams,
)

RUN = "20261120T101500Z-tpch-duckdb-abc123"
QUERIES = tuple(f"q{number:02d}" for number in range(1, 23))
REFRESHES = ("rf1", "rf2")
GAP_NS = MS
MEMORY_OF_A_SESSION = 50 << 20


def even_times() -> dict[str, float]:
    """A query of n tenths of a second each, and refresh functions of half a second."""
    return {name: 0.1 * place for place, name in enumerate(QUERIES, 1)} | dict.fromkeys(
        REFRESHES, 0.5
    )


@dataclass
class PlayedTest:
    """What a synthetic test is, and how long it takes.

    Attributes:
        kind, scale, streams, refresh, parameters, standard: As in run.json's `test`.
        seconds: Of each operation in a power test.
        beside: How many times as long an operation takes beside other streams.
        factors: Of each run's power tests, of each pass of a steady one; 1 beyond them.
        gap_ns: Between the last output of a query and the submission of the next one.
        failing: Phase, session and operation of one that fails.
        absent: Phase, session and operation of one that is not played.
        untimed: Passes before the first phase of the test.
    """

    kind: str = "full"
    scale: float = 1.0
    streams: int = 2
    refresh: bool = True
    parameters: str = "drawn"
    standard: bool = True
    seconds: dict[str, float] = field(default_factory=even_times)
    beside: float = 1.5
    factors: tuple[float, ...] = (1.0, 0.9)
    gap_ns: int = GAP_NS
    failing: tuple[str, int, str] | None = None
    absent: tuple[str, int, str] | None = None
    untimed: int = 0

    @property
    def specified(self) -> SpecifiedTest:
        """The test as it stands in run.json."""
        has_streams = self.kind in ("throughput", "full")
        return SpecifiedTest(
            kind=self.kind,
            streams=self.streams if has_streams else None,
            streams_minimum=minimum_at(tpch().facts.streams, self.scale),
            scale_standard=self.standard,
            parameters=self.parameters,
            seed=1,
            refresh=Refresh(*REFRESHES, 1, 6) if self.refresh and self.kind != "steady" else None,
        )

    @property
    def planned(self) -> PlannedTest:
        """Its phases and pieces."""
        return PlannedTest(self.specified, tpch(), warmup_passes=self.untimed)

    def facts(self) -> dict[str, Any]:
        """run.json."""
        made, planned = run_facts(RUN), self.planned
        made["request"] |= {"scale": self.scale, "parameters": self.parameters}
        made["workload"] |= recorded(tpch()) | {"operation_titles": {}, "answer_columns": {}}
        made["test"] = self.specified.facts()
        made["plan"] |= {
            "operations": [name for name, _ in planned.pieces],
            "variants": [variant for _, variant in planned.pieces],
            "phases": planned.phases,
        }
        made["statements"] = {}
        return made

    def events(self) -> list[dict[str, Any]]:
        """Events of all phases, one phase after another."""
        planned, rows, now = self.planned, [], BEGUN_NS
        power = 0
        for phase in planned.phases:
            name = phase["name"]
            if name.startswith("throughput"):
                rows += self._throughput(phase, planned.pieces, now)
            else:
                passes = len(self.factors) if phase.get("steady") else 1
                for number in range(passes):
                    factor = self._factor(name, power)
                    power += name.startswith("power")
                    rows += self._session(phase["operations"], planned.pieces, now, name, factor)
                    for row in rows[-len(phase["operations"]) :]:
                        row["pass"] = number
                    now = max(row["finished_ns"] for row in rows) + self.gap_ns
            now = max(row["finished_ns"] for row in rows) + S
        rows.sort(key=lambda row: (row["started_ns"], row["session"]))
        return [row | {"sequence": place} for place, row in enumerate(rows)]

    def _factor(self, phase: str, power: int) -> float:
        is_power = phase.startswith("power") and power < len(self.factors)
        return self.factors[power] if is_power else 1.0

    def _throughput(
        self, phase: dict[str, Any], pieces: tuple[Piece, ...], now: int
    ) -> list[dict[str, Any]]:
        events = []
        for session, order in enumerate(phase["orders"]):
            events += self._session(order, pieces, now, phase["name"], self.beside, session)
        return events

    def _session(
        self,
        order: list[int],
        pieces: tuple[Piece, ...],
        now: int,
        phase: str,
        factor: float,
        session: int = 0,
    ) -> list[dict[str, Any]]:
        rows = []
        for place in order:
            name, variant = pieces[place]
            key = (phase, session, name)
            if key == self.absent:
                continue
            ended = now + round(self.seconds[name] * factor * S)
            row = _event(key, variant, now, ended)
            rows.append(row | (FAILED if key == self.failing else {}))
            now = ended + self.gap_ns
        return rows


FAILED = {"outcome": "failed", "error": "out_of_memory", "rows": None, "digest": None}


def _event(key: tuple[str, int, str], variant: int, begun: int, ended: int) -> dict[str, Any]:
    phase, session, operation = key
    return {
        "phase": phase,
        "pass": 0,
        "session": session,
        "operation": operation,
        "variant": variant,
        "scheduled_ns": begun,
        "started_ns": begun,
        "finished_ns": ended,
        "outcome": "ok",
        "error": None,
        "retries": 0,
        "rows": 4,
        "digest": 7,
    }


@cache
def tpch() -> Workload:
    """TPC-H as it ships, read once for all runs that are made up."""
    return find_workload("tpch")


def write_test(runs: Path, test: PlayedTest | None = None) -> Path:
    """Writes a whole, sealed run directory of a test and returns it."""
    played = test or PlayedTest()
    directory = runs / RUN
    raw = directory / "raw"
    (raw / "results" / "expected").mkdir(parents=True)
    (directory / "derived").mkdir()
    events, facts = played.events(), played.facts()
    write_stream(raw / "events.arrows", events)
    serial = [event for event in events if not event["phase"].startswith("throughput")]
    write_stream(raw / "tasks.arrows", task_rows(serial))
    times = sample_times(events)
    write_probe_streams(raw, times)
    write_stream(raw / "processes.arrows", process_rows(times, events))
    facts["probes"] = write_cost_streams(raw, times)
    write_json(raw / DRIVER_FILE, _driver_report(events))
    write_json(directory / "environment.json", ENVIRONMENT)
    write_json(directory / "run.json", facts)
    write_seal(directory)
    return directory


def process_rows(times: list[int], events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Samples of an engine that takes memory for each session of a throughput test."""
    streams = [event for event in events if event["phase"].startswith("throughput")]
    sessions = len({event["session"] for event in streams})
    spans = [
        (min(event["started_ns"] for event in mine), max(event["finished_ns"] for event in mine))
        for phase in {event["phase"] for event in streams}
        if (mine := [event for event in streams if event["phase"] == phase])
    ]
    return [
        {
            "time_ns": time,
            "pid": PID,
            "account": ENGINE_AND_DRIVER,
            "started_ns": 1,
            "user_ns": time - times[0],
            "system_ns": 0,
            "threads_disk": 0,
            "rss_bytes": RSS_BYTES
            + sessions * MEMORY_OF_A_SESSION * any(a < time < b for a, b in spans),
        }
        for time in times
    ]


def _driver_report(events: list[dict[str, Any]]) -> dict[str, Any]:
    counted: dict[str, dict[str, dict[str, int]]] = {}
    for event in events:
        operations = counted.setdefault(event["phase"], {})
        counts = operations.setdefault(
            event["operation"], {"ok": 0, "skipped": 0, "failed": 0, "scheduled": 0}
        )
        counts[event["outcome"]] += 1
        counts["scheduled"] += 1
    phases = [
        {
            "phase": phase,
            "operations": [
                {"operation": name, "counts": counts} for name, counts in by_name.items()
            ],
        }
        for phase, by_name in counted.items()
    ]
    return {"ended": "done", "phases": phases, "errors": [], "recorder_waits": 0}
