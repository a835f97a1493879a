"""Time of row locks that the engine counted, in the sleeps that the kernel calls locks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from assay.analysis.profile.placing import measured_passes
from assay.analysis.time.lock_seconds import counted_lock_seconds, with_counted_locks
from assay.probes.streams import ENGINE, Stream
from tests.looks import MS, Lab
from tests.unit.test_thread_waits import WORDS, _document, made

if TYPE_CHECKING:
    from pathlib import Path

    from assay.record.reader import Run

TABLE_LOCK = ("Table", "t")
EVENT = {"cause": "lock", "type": "Table", "says": "x"}
COUNTER = {
    "name": "row_lock_seconds",
    "title": "x",
    "unit": "s",
    "source": "status",
    "counter": "innodb_row_lock_time",
    "scale": 1e-3,
}


def run_of(
    tmp_path: Path, seconds: float, word: tuple[str, str] = WORDS, *, until_end: bool = True
) -> Run:
    """A run of 8 s whose session waited for row locks for so long, by the engine's count."""
    document = _document()
    document["events"].append(EVENT)
    lab = Lab(tmp_path, waits=document)
    run = made(lab, word)
    run.facts["engine"]["counters"] = {"counters": [COUNTER]}
    passes = measured_passes(run.table("events"))
    begun_ns, ended_ns = passes["started_ns"].min(), passes["finished_ns"].max()
    readings = [(begun_ns, 5e3), (ended_ns if until_end else begun_ns + MS, 5e3 + seconds * 1e3)]
    with Stream(run.dir / "raw", "engine", ENGINE) as stream:
        for time_ns, value in readings:
            stream.push(time_ns, "status", "", "innodb_row_lock_time", value)
    return run


def split(lock: float, latch: float = 0.0) -> pl.DataFrame:
    return pl.DataFrame({"operation": ["q1"], "lock": [lock], "latch": [latch]})


def parts(frame: pl.DataFrame) -> tuple[float, float]:
    lock, latch = frame.select("lock", "latch").row(0)
    return lock, latch


def test_what_the_engine_did_not_count_as_a_lock_is_a_latch(tmp_path: Path) -> None:
    run = run_of(tmp_path, 1.0)
    assert counted_lock_seconds(run) == pytest.approx(1.0, rel=0.01)
    assert parts(with_counted_locks(run, split(6.0))) == pytest.approx((1.0, 5.0), rel=0.01)


def test_a_real_lock_wait_stays_one(tmp_path: Path) -> None:
    run = run_of(tmp_path, 6.0)
    assert parts(with_counted_locks(run, split(5.0, 1.5))) == pytest.approx((6.0, 0.5), rel=0.02)
    assert parts(with_counted_locks(run, split(5.0))) == (5.0, 0.0)


def test_counted_locks_that_no_sample_met_are_a_part_of_the_latches(tmp_path: Path) -> None:
    run = run_of(tmp_path, 2.0)
    assert parts(with_counted_locks(run, split(0.0, 5.0))) == pytest.approx((2.0, 3.0), rel=0.01)
    assert parts(with_counted_locks(run, split(0.0, 1.0))) == (1.0, 0.0)
    assert parts(with_counted_locks(run, split(0.0))) == (0.0, 0.0)
    run.facts["request"] = {"dsn": "mysql://localhost/shop"}
    assert parts(with_counted_locks(run, split(0.0, 5.0))) == (0.0, 5.0)


def test_locks_of_tables_are_not_in_the_count_of_row_locks(tmp_path: Path) -> None:
    run = run_of(tmp_path, 0.0, TABLE_LOCK)
    assert parts(with_counted_locks(run, split(6.0))) == (6.0, 0.0)


def test_waits_of_other_clients_in_the_count_make_no_lock_of_a_latch(tmp_path: Path) -> None:
    run = run_of(tmp_path, 7.0)
    run.facts["request"] = {"dsn": "mysql://localhost/shop"}
    assert parts(with_counted_locks(run, split(2.0, 4.0))) == (2.0, 4.0)


def test_a_count_that_ends_early_changes_nothing(tmp_path: Path) -> None:
    run = run_of(tmp_path, 1.0, until_end=False)
    assert counted_lock_seconds(run) is None
    assert parts(with_counted_locks(run, split(6.0))) == (6.0, 0.0)


def test_an_engine_without_the_counter_keeps_its_split(tmp_path: Path) -> None:
    run = run_of(tmp_path, 1.0)
    facts: dict[str, Any] = run.facts["engine"]
    facts["counters"] = {"counters": []}
    assert parts(with_counted_locks(run, split(6.0))) == (6.0, 0.0)
