"""The probe of what threads wait for, on threads of this process, and what it leaves on disk."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay._core import Sampler
from assay.model.errors import RecordUnreadableError
from assay.probes.contract import Target
from assay.probes.discovery import find_probes
from assay.probes.waits import WaitsProbe
from assay.record.reader import Run
from assay.record.writer import write_json
from tests.conftest import stream_schema

ENGINE, EMBEDDED, DRIVER = "engine", "engine and driver", "driver"


def target(raw: Path, *followed: tuple[int, str]) -> Target:
    return Target(raw, 0.1, followed)


def observed(run_dir: Path) -> Run:
    """A run in which the probe looked at this process, of which one thread slept throughout."""
    (run_dir / "raw").mkdir()
    write_json(run_dir / "run.json", {"schema": 1, "id": "x", "status": "running"})
    ending, probe = threading.Event(), WaitsProbe()
    sleeper = threading.Thread(target=ending.wait, name="sleeper")
    sleeper.start()
    try:
        probe.start(target(run_dir / "raw", (os.getpid(), ENGINE), (1, DRIVER)))
        cost = probe.stop()
    finally:
        ending.set()
        sleeper.join()
    assert cost.error is None
    return Run(run_dir)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return observed(tmp_path_factory.mktemp("run"))


class TestWhomItFollows:
    def test_the_engine_however_it_lives_and_nobody_else(self, tmp_path: Path) -> None:
        probe = WaitsProbe()
        everyone = target(tmp_path, (1, ENGINE), (2, DRIVER), (3, EMBEDDED), (4, "probes"))
        assert probe.followed(everyone) == [(1, ENGINE), (3, EMBEDDED)]

    def test_it_is_found_and_applies_where_the_engine_is(self, tmp_path: Path) -> None:
        probe = next(probe for probe in find_probes() if probe.name == "waits")
        assert probe.applies(target(tmp_path, (1, ENGINE)))
        assert not probe.applies(target(tmp_path, (1, DRIVER)))


class TestTheRecord:
    def test_its_columns_are_those_that_the_core_tells(self, run: Run) -> None:
        table = run.table("waits")
        assert table.columns == stream_schema("waits").names
        # What other tests began lives below this process and is followed with it.
        assert os.getpid() in table["pid"]

    def test_every_thread_has_a_first_row_and_ours_have_none(self, run: Run) -> None:
        first = run.table("waits").filter(pl.col("seen_ns").is_null())
        assert os.getpid() in first["tid"].to_list()
        assert first["tid"].is_unique().all()
        assert not first["comm"].str.starts_with("assay-").any()

    def test_its_cost_has_the_time_between_looks(self, tmp_path: Path) -> None:
        probe = WaitsProbe()
        probe.start(target(tmp_path, (os.getpid(), EMBEDDED)))
        cost = probe.stop()
        assert (cost.look_interval_s, cost.interval_s) == (0.01, 1.0)
        assert cost.samples >= 2
        waits = pl.read_ipc_stream(tmp_path / "probe-waits.arrows")
        assert waits["probe"].cast(pl.String).unique().to_list() == ["waits"]

    def test_without_a_limit_of_cpu_time_there_is_no_stream_of_it(self, tmp_path: Path) -> None:
        proc = tmp_path / "proc"
        task = proc / "7" / "task" / "7"
        task.mkdir(parents=True)
        (task / "schedstat").write_text("5 6 7\n")
        stat = "7 (server) S 1 7 7 0 -1 0 0 0 0 0 5 6 0 0 20 0 1 0 7 0 8"
        (task / "stat").write_text(stat)
        sampler = Sampler("waits", tmp_path, 10_000_000, [(7, ENGINE)], proc)
        report = sampler.stop()
        rows = pl.read_ipc_stream(tmp_path / "waits.arrows").to_dicts()
        assert [(row["state"], row["on_cpu_ns"], row["call"]) for row in rows] == [("S", 5, None)]
        assert len(report["notes"]) == 2
        assert not (tmp_path / "cgroup.arrows").exists()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_of_a_stream_cut_anywhere_the_rows_before_are_read(run: Run, data: st.DataObject) -> None:
    whole = (run.dir / "raw" / "waits.arrows").read_bytes()
    rows = run.table("waits").rows()
    torn = run.dir.with_name("torn")
    (torn / "raw").mkdir(parents=True, exist_ok=True)
    (torn / "run.json").write_text(json.dumps(run.facts))
    length = data.draw(st.integers(0, len(whole)))
    (torn / "raw" / "waits.arrows").write_bytes(whole[:length])
    try:
        kept = Run(torn).table("waits").rows()
    except RecordUnreadableError as error:
        kept, refused = [], str(error)
    else:
        refused = None
    assert kept == rows[: len(kept)]
    assert refused is None or "waits.arrows" in refused
