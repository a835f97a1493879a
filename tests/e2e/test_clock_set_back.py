"""The wall clock goes back by an hour in the middle of a run: the run and its record stay right."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

from assay.record.reader import Run, took_s
from assay.study.pace import _past
from tests.clock_set_back import SET_BACK_S, clock_set_back, why_no_clock
from tests.e2e.conftest import PATIENCE_S, Lab, wait_for_phase

pytestmark = pytest.mark.skipif(why_no_clock() is not None, reason=str(why_no_clock()))

RATE, TIME_S = 100, 4
LOAD = ["--rate", str(RATE), "--time", f"{TIME_S}s", "--warmup", "500ms", "--clients", "2"]
NS = 1_000_000_000
# A negative number of seconds or minutes, which is no part of a name or a date.
NEGATIVE_TIME = re.compile(r"(?<![\w-])[-\u2212]\d[\d.,]* ?(?:s|ms|min|h)\b")


@pytest.fixture(scope="module")
def own_places(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("clock")


@pytest.fixture(scope="module", params=["sqlite", "duckdb"])
def made(request, own_places) -> tuple[Lab, Path]:
    """A run in which the clock went back, and its laboratory, whose clock is right again."""
    place = own_places / request.param
    place.mkdir()
    lab = Lab(place)
    when = place / "now"
    lab.extra_env |= clock_set_back(place, when)
    started = lab.begin("run", "point-select", "--engine", request.param, *LOAD)
    path = wait_for_phase(lab, started, "measured")
    when.touch()
    _, errors = started.communicate(timeout=PATIENCE_S)
    assert started.returncode == 0, errors
    lab.assert_nothing_left()
    lab.extra_env.clear()
    return lab, path


def test_the_library_sets_the_clock_of_a_process_back(tmp_path) -> None:
    when = tmp_path / "now"
    environment = clock_set_back(tmp_path, when)
    code = (
        "import time, pathlib, sys, datetime\n"
        "def clocks(): return time.time(), time.monotonic(), datetime.datetime.now().timestamp()\n"
        "before = clocks(); pathlib.Path(sys.argv[1]).touch(); after = clocks()\n"
        "print(*(late - early for early, late in zip(before, after)))\n"
    )
    command = [sys.executable, "-c", code, str(when)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    wall_s, monotonic_s, date_s = map(float, ended.stdout.split())
    assert wall_s == pytest.approx(-SET_BACK_S, abs=5)
    assert date_s == pytest.approx(-SET_BACK_S, abs=5)
    assert 0 <= monotonic_s < 5


def test_the_run_ended_before_it_began_by_its_clock(made) -> None:
    _, path = made
    facts = json.loads((path / "run.json").read_text())
    assert facts["status"] == "complete"
    begun, ended = (datetime.fromisoformat(facts[key]) for key in ("started_utc", "ended_utc"))
    assert -SET_BACK_S < (ended - begun).total_seconds() < -SET_BACK_S / 2


def test_its_duration_is_that_of_the_monotonic_clock(made) -> None:
    _, path = made
    seconds = took_s(Run(path))
    assert seconds is not None
    assert TIME_S <= seconds < PATIENCE_S


def test_operations_have_their_times_and_their_order(made) -> None:
    _, path = made
    events = Run(path).table("events").filter(pl.col("phase") == "measured")
    assert events.height == pytest.approx(RATE * TIME_S, rel=0.02)
    assert events.select((pl.col("started_ns") >= pl.col("scheduled_ns")).all()).item()
    assert events.select((pl.col("finished_ns") >= pl.col("started_ns")).all()).item()
    # An hour back or forth would be between two operations, or within one.
    times = events.select(pl.min("scheduled_ns"), pl.max("finished_ns")).row(0)
    assert (times[1] - times[0]) / NS < TIME_S + PATIENCE_S
    gaps = events.sort("scheduled_ns")["scheduled_ns"].diff().drop_nulls()
    assert gaps.max() / NS < 1.0
    samples = Run(path).table("processes").sort("time_ns")["time_ns"].diff().drop_nulls()
    assert samples.max() / NS < PATIENCE_S


def test_its_report_has_a_rate_and_latencies_of_the_load(made) -> None:
    lab, path = made
    document = lab.document("show", str(path))
    (operation,) = document["operations"]
    assert 0 < operation["latency"]["max"] < PATIENCE_S
    assert operation["throughput_per_s"] == pytest.approx(RATE, rel=0.05)
    assert document["verdict"] != "invalid"


@pytest.mark.parametrize("command", ["show", "report", "explain", "export", "runs"])
def test_commands_that_read_the_record_end_well(made, command, tmp_path) -> None:
    lab, path = made
    asked = [] if command == "runs" else [str(path)]
    asked += ["--out", str(tmp_path)] if command == "export" else []
    result = lab.assay(command, *asked)
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    assert NEGATIVE_TIME.search(result.stdout) is None, result.stdout


def test_a_study_expects_equal_runs_to_take_as_long(made) -> None:
    """A budget is divided by the times of earlier runs."""
    lab, path = made
    ((facts, seconds),) = _past(lab.runs)
    assert facts["workload"] == "point-select"
    assert seconds == took_s(Run(path))
