"""The probe of an engine's counters, with an engine that is made up, and what it leaves on disk."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.model.units import NS_PER_S
from assay.probes import engine as engine_module
from assay.probes.contract import Refusing, Target
from assay.probes.discovery import find_probes
from assay.probes.engine import DEFECT, EngineProbe, RunningCost, Watch
from assay.probes.operation_counters import operation_counters
from assay.probes.streams import ACTIVITY, ENGINE, Stream
from assay.record.streams import frame, opened, whole_batches

INTERVAL_S = 0.01
# Generous: a slow host makes the test slow, not red.
PATIENCE_S = 30.0


def _read_stream(path: Path) -> pl.DataFrame:
    with opened(path) as reader:
        return frame(list(whole_batches(reader)), reader.schema, path)


@dataclass(frozen=True)
class Doing:
    """One process of an engine that is made up."""

    pid: int
    backend_type: str = "client"
    leader_pid: int | None = None
    application: str | None = None
    state: str | None = None
    wait_event_type: str | None = None
    wait_event: str | None = None
    tid: int | None = None
    connection: int | None = None


class FakeCounters:
    """Counts how often it was asked; goes away after some answers."""

    def __init__(self, answers: int | None = None) -> None:
        self.asked = 0
        self.answers = answers
        self.closed = False
        self.gone = threading.Event()
        self.by = ""

    def read(self) -> list[tuple[str, str, str, float]]:
        self.by = threading.current_thread().name
        if self.answers is not None and self.asked >= self.answers:
            self.gone.set()
            raise ConnectionResetError("the server went away")
        self.asked += 1
        return [("table", "t", "reads", float(self.asked)), ("log", "log", f"n{self.asked}", 1.0)]

    def close(self) -> None:
        self.closed = True


class FakeActivity(FakeCounters):
    """An engine that tells what its processes do, as well."""

    def activity(self) -> list[Doing]:
        return [Doing(7, application="assay", state="active"), Doing(8, "writer", leader_pid=7)]


class CountsLooks(FakeActivity):
    """Counts how often it was asked what its processes do."""

    looks = 0

    def activity(self) -> list[Doing]:
        self.looks += 1
        return super().activity()


class FakeStanding(FakeCounters):
    """An engine that tells how it stands, and counts anew when told to."""

    def __init__(self) -> None:
        super().__init__()
        self.stood = 0
        self.was_read = threading.Event()

    def reset(self) -> None:
        assert self.asked == 0, "counts begin before the first reading"
        self.asked = 100

    def status(self) -> tuple[list[tuple[str, str, str, float]], str]:
        self.stood += 1
        if self.stood > 1:
            self.was_read.set()
        return [("pool", "pool", "pages", float(self.stood))], f"reading {self.stood}"


def rows(raw: Path, stream: str) -> list[dict[str, Any]]:
    return _read_stream(raw / f"{stream}.arrows").to_dicts()


def target(raw: Path, counters: FakeCounters | None) -> Target:
    return Target(raw, INTERVAL_S, (), counters)


class DearCounters(FakeCounters):
    """Every reading takes the CPU for a while."""

    SPENT_NS = 4_000_000

    def read(self) -> list[tuple[str, str, str, float]]:
        begun_ns = time.thread_time_ns()
        while time.thread_time_ns() - begun_ns < self.SPENT_NS:
            pass
        return super().read()


class TestWhatReadingCosts:
    def test_dear_counters_are_read_less_often_and_it_is_said(self, tmp_path: Path) -> None:
        probe = EngineProbe()
        probe.start(target(tmp_path, DearCounters()))
        interval_s = probe.stop().interval_s
        least_s = DearCounters.SPENT_NS / NS_PER_S / engine_module.COUNTERS_CORE_SHARE_MAX
        assert interval_s is not None
        assert least_s <= interval_s <= engine_module.COUNTERS_INTERVAL_S_MAX

    def test_however_dear_they_are_they_are_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(engine_module, "COUNTERS_CORE_SHARE_MAX", 1e-9)
        probe = EngineProbe()
        probe.start(target(tmp_path, FakeCounters()))
        assert probe.stop().interval_s == engine_module.COUNTERS_INTERVAL_S_MAX

    def test_cheap_ones_are_read_once_a_second(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(engine_module, "COUNTERS_CORE_SHARE_MAX", 1.0)
        probe = EngineProbe()
        probe.start(target(tmp_path, FakeCounters()))
        assert probe.stop().interval_s == engine_module.COUNTERS_INTERVAL_S


class TestTheProbe:
    def test_it_is_found_and_applies_to_engines_that_count(self, tmp_path: Path) -> None:
        probe = next(probe for probe in find_probes() if probe.name == "engine")
        assert probe.applies(target(tmp_path, FakeCounters()))
        assert not probe.applies(target(tmp_path, None))

    def test_those_of_the_host_apply_to_every_engine(self, tmp_path: Path) -> None:
        applying = {probe.name for probe in find_probes() if probe.applies(target(tmp_path, None))}
        assert applying == {"system", "processes", "disks", "neighbours"}

    def test_a_profile_has_to_be_asked_for_and_needs_processes(self, tmp_path: Path) -> None:
        probe = next(probe for probe in find_probes() if probe.name == "profile")
        asked = target(tmp_path, None)
        assert not probe.applies(replace(asked, followed=((1, "engine"),)))
        assert not probe.applies(replace(asked, followed=((1, "driver"),), profile_hz=499))
        assert probe.applies(replace(asked, followed=((1, "engine"),), profile_hz=499))

    def test_a_profile_that_was_asked_for_in_vain_says_why(self, tmp_path: Path) -> None:
        probe = next(probe for probe in find_probes() if probe.name == "profile")
        assert isinstance(probe, Refusing)
        asked = replace(target(tmp_path, None), followed=((1, "driver"),))
        assert probe.refusal(asked) is None
        assert "without --dsn" in (probe.refusal(replace(asked, profile_hz=499)) or "")
        served = replace(asked, followed=((1, "engine"),), profile_hz=499)
        assert probe.refusal(served) is None

    def test_it_reads_before_it_says_that_it_has_started_and_once_more_at_the_end(
        self, tmp_path: Path
    ) -> None:
        counters, probe = FakeCounters(), EngineProbe()
        probe.start(target(tmp_path, counters))
        assert [row["value"] for row in rows(tmp_path, "engine")] == [1.0, 1.0]
        cost = probe.stop()
        assert cost.error is None
        reads = [row for row in rows(tmp_path, "engine") if row["counter"] == "reads"]
        assert [row["value"] for row in reads] == [float(n + 1) for n in range(counters.asked)]
        assert counters.asked >= 2
        times = [row["time_ns"] for row in reads]
        assert times == sorted(set(times))
        assert not counters.closed, "it belongs to whoever made it"
        assert counters.by == "assay-probe-engine"

    def test_how_it_stands_is_read_at_edges_and_anew_after_a_warm_up(self, tmp_path: Path) -> None:
        counters, probe = FakeStanding(), EngineProbe()
        probe.start(target(tmp_path, counters))
        assert (tmp_path / "status-start.txt").read_text() == "reading 1"
        probe.measured()
        assert counters.was_read.wait(PATIENCE_S)
        cost = probe.stop()
        assert cost.error is None
        edges = [(row["edge"], row["value"]) for row in rows(tmp_path, "engine-status")]
        assert edges == [("start", 1.0), ("start", 2.0), ("end", 3.0)]
        assert (tmp_path / "status-start.txt").read_text() == "reading 2"
        assert (tmp_path / "status-end.txt").read_text() == "reading 3"
        assert rows(tmp_path, "engine")[0]["value"] == 101

    def test_an_engine_that_does_not_tell_how_it_stands_leaves_nothing(
        self, tmp_path: Path
    ) -> None:
        probe = EngineProbe()
        probe.start(target(tmp_path, FakeCounters()))
        probe.measured()
        assert probe.stop().error is None
        assert not list(tmp_path.glob("*status*"))

    def test_activity_is_kept_where_it_is_told(self, tmp_path: Path) -> None:
        counters, probe = FakeActivity(), EngineProbe()
        probe.start(target(tmp_path, counters))
        cost = probe.stop()
        first, second = rows(tmp_path, "activity")[:2]
        assert first | {"time_ns": 0} == {
            "time_ns": 0,
            "pid": 7,
            "backend_type": "client",
            "leader_pid": None,
            "application": "assay",
            "state": "active",
            "wait_event_type": None,
            "wait_event": None,
            "tid": None,
            "connection": None,
        }
        assert (second["leader_pid"], second["application"]) == (7, None)
        assert len(rows(tmp_path, "activity")) == 2 * cost.samples

    def test_without_activity_there_is_no_such_stream(self, tmp_path: Path) -> None:
        probe = EngineProbe()
        probe.start(target(tmp_path, FakeCounters()))
        probe.stop()
        assert {path.name for path in tmp_path.iterdir()} == {
            "engine.arrows",
            "probe-engine.arrows",
        }

    def test_it_confesses_its_cost(self, tmp_path: Path) -> None:
        probe = EngineProbe()
        probe.start(target(tmp_path, FakeActivity()))
        cost = probe.stop()
        assert cost.cpu_ns > 0
        assert cost.longest_ns > 0
        table_rows = rows(tmp_path, "probe-engine")
        assert {row["probe"] for row in table_rows} == {"engine"}
        assert table_rows[-1]["samples"] == cost.samples
        assert table_rows[-1]["cpu_ns"] <= cost.cpu_ns

    def test_an_engine_that_goes_away_ends_it_and_is_told(self, tmp_path: Path) -> None:
        counters, probe = FakeCounters(answers=1), EngineProbe()
        probe.start(target(tmp_path, counters))
        cost = probe.stop()
        assert counters.gone.is_set()
        assert cost.error == "the server went away"
        assert len(rows(tmp_path, "engine")) == 2, "what was read before is kept"

    def test_an_engine_that_never_answered_is_an_error_at_once(self, tmp_path: Path) -> None:
        with pytest.raises(OSError, match="the server went away"):
            EngineProbe().start(target(tmp_path, FakeCounters(answers=0)))

    def test_a_stream_that_cannot_be_made_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(OSError, match=r"missing/engine\.arrows"):
            EngineProbe().start(target(tmp_path / "missing", FakeCounters()))

    def test_an_engine_that_hangs_holds_nobody_up(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        hanging = threading.Event()

        class Hanging(FakeCounters):
            def read(self) -> list[tuple[str, str, str, float]]:
                if self.asked:
                    hanging.wait(PATIENCE_S)
                return super().read()

        monkeypatch.setattr(engine_module, "PATIENCE_S", 0.05)
        probe = EngineProbe()
        try:
            probe.start(target(tmp_path, Hanging()))
            error = probe.stop().error
        finally:
            hanging.set()
        assert error is not None
        assert "did not report its counters" in error
        assert probe._thread is not None
        probe._thread.join(PATIENCE_S)

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
    def test_a_defect_of_a_reader_is_told_as_one(self, tmp_path: Path) -> None:
        class Defective(FakeCounters):
            def read(self) -> list[tuple[str, str, str, float]]:
                if self.asked:
                    raise KeyError("defect")
                return super().read()

        probe = EngineProbe()
        probe.start(target(tmp_path, Defective()))
        assert probe.stop().error == DEFECT


class TestStreams:
    def test_words_that_come_later_do_not_change_those_before(self, tmp_path: Path) -> None:
        with Stream(tmp_path, "engine", ENGINE) as stream:
            for number, word in enumerate("abacab"):
                stream.push(number, word, "o", "c", 1.0)
                stream.flush()
        assert "".join(row["source"] for row in rows(tmp_path, "engine")) == "abacab"

    def test_what_was_flushed_can_be_read_before_the_end(self, tmp_path: Path) -> None:
        stream = Stream(tmp_path, "activity", ACTIVITY)
        stream.push(1, 7, "client", *[None] * 7)
        stream.flush()
        assert rows(tmp_path, "activity")[0]["application"] is None
        stream.close()

    def test_a_stream_has_one_writer(self, tmp_path: Path) -> None:
        with (
            Stream(tmp_path, "engine", ENGINE),
            pytest.raises(FileExistsError, match=r"engine\.arrows"),
        ):
            Stream(tmp_path, "engine", ENGINE)


class TestOperations:
    def test_both_edges_of_an_operation_are_read(self, tmp_path: Path) -> None:
        counters = FakeCounters()
        with operation_counters(counters, tmp_path) as around:
            around.read(3, "start")
            around.read(3, "end")
        read = [row for row in rows(tmp_path, "engine-operations") if row["counter"] == "reads"]
        edges = [(row["sequence"], row["edge"], row["value"]) for row in read]
        assert edges == [(3, "start", 1.0), (3, "end", 2.0)]
        assert counters.closed

    def test_short_operations_are_read_as_a_sample_and_always_at_both_edges(
        self, tmp_path: Path
    ) -> None:
        counters = FakeCounters()
        with operation_counters(counters, tmp_path) as around:
            for sequence in range(200):
                around.read(sequence, "start")
                around.read(sequence, "end")
        assert 2 <= counters.asked < 400, "reading would take more than its share otherwise"
        read = _read_stream(tmp_path / "engine-operations.arrows")
        edges = read.group_by("sequence").agg(pl.col("edge").n_unique())
        assert edges["edge"].to_list() == [2] * edges.height

    def test_an_engine_that_goes_away_is_an_error(self, tmp_path: Path) -> None:
        counters = FakeCounters(answers=1)
        with operation_counters(counters, tmp_path) as around:
            around.read(0, "start")
            with pytest.raises(ConnectionResetError):
                around.read(0, "end")
        assert counters.closed
        assert len(rows(tmp_path, "engine-operations")) == 2


class TestWhenItLooksAtSessions:
    """Looks come at uneven times, so what recurs evenly is met as often as it is there."""

    LOOKS = 400

    @pytest.mark.parametrize("periods_between_looks", [1, 2, 3])
    def test_what_recurs_evenly_is_met_as_often_as_it_is_there(
        self, tmp_path: Path, periods_between_looks: int
    ) -> None:
        period_s = engine_module.ACTIVITY_INTERVAL_S / periods_between_looks
        counters = CountsLooks()
        # Ahead of the clock, so that no look is late.
        begun_s = time.monotonic() + PATIENCE_S
        looks_s: list[float] = []
        with Watch(target(tmp_path, counters), counters, RunningCost()) as watch:
            watch.look(begun_s, edge="start")
            while len(looks_s) < self.LOOKS:
                due_s, looks = watch.due_s, counters.looks
                watch.look(due_s)
                if counters.looks > looks:
                    looks_s.append(due_s - begun_s)
        held = sum(at_s % period_s < period_s / 2 for at_s in looks_s)
        assert 0.35 * self.LOOKS < held < 0.65 * self.LOOKS

    def test_a_measured_part_of_two_seconds_has_about_twenty_looks(self) -> None:
        assert 14 <= self._looks_within(2.0) <= 30

    def test_looks_thin_out_to_the_usual_pause(self) -> None:
        early, late = self._looks_within(10.0), self._looks_within(60.0)
        usual = 50.0 / engine_module.ACTIVITY_INTERVAL_S
        assert 0.8 * usual < late - early < 1.25 * usual

    def test_a_dear_look_is_not_repeated_sooner_than_it_may_cost(self) -> None:
        assert self._looks_within(2.0, reading_ns=10_000_000) <= 5

    @staticmethod
    def _looks_within(length_s: float, reading_ns: int = 400_000) -> int:
        pauses = engine_module.SessionPauses(INTERVAL_S)
        pauses.reading_ns, pauses.measured_s = reading_ns, 100.0
        now_s, looks = 100.0, 0
        while now_s < 100.0 + length_s:
            now_s += pauses.next_s(now_s)
            looks += 1
        return looks
