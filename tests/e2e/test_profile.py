"""CPU samples from the command to the table, on real engines."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.analysis.profile.samples import read_profile, shares
from assay.record.reader import Run
from tests.e2e.conftest import (
    FEW,
    POSTGRESQL,
    Lab,
    end,
    run_once,
    server_laboratory,
    wait_for_phase,
    wait_until,
)

WITHOUT_PERF = Path(__file__).with_name("without_perf.py")
# At this scale a query takes a millisecond or two, of which a sample falls into each second one.
PROFILED = ["--scale", "0.01", "--min-time", "3s", "--profile"]
# Of a thousand samples, chance alone is three in a hundred; three times that is beyond chance.
CPU_TOLERANCE = 0.1


@pytest.fixture(scope="module")
def on_duckdb(shared, tmp_path_factory) -> tuple[Lab, dict]:
    """One run with samples that several tests look at."""
    return run_once(shared, tmp_path_factory.mktemp("profiled"), *PROFILED)


@pytest.fixture(scope="module")
def on_postgresql(server_place) -> Iterator[tuple[Lab, dict]]:
    """The same on a server."""
    with server_laboratory(server_place) as lab:
        yield lab, lab.document("run", "tpch", "--engine", POSTGRESQL, *PROFILED)


@pytest.mark.parametrize("profiled", ["on_duckdb", "on_postgresql"])
def test_samples_become_a_table(request, profiled):
    lab, document = request.getfixturevalue(profiled)
    run = Run(lab.latest())
    profile = read_profile(run)
    assert profile is not None
    assert profile.sampling.lost == 0
    share_values = shares(run, profile)
    assert share_values.samples > 300
    assert share_values.sampled_s == pytest.approx(share_values.metered_s, rel=CPU_TOLERANCE)
    assert document["profile"] is not None
    table = lab.assay("explain", "latest")
    assert table.returncode == 0, table.stderr
    assert "samples" in table.stdout
    most = max(document["profile"]["work"], key=lambda row: row["samples"])
    assert most["work"] in table.stdout
    lab.assert_nothing_left()


def test_a_mix_is_read_by_session(server_lab):
    lab = server_lab
    load = ("--clients", "2", "--time", "3s", "--warmup", "0s", "--profile")
    lab.document("run", "tpcb", "--engine", POSTGRESQL, *load)
    profile = read_profile(Run(lab.latest()))
    assert profile is not None
    assert set(profile.samples["operation"].drop_nulls()) == {"transfer"}
    assert set(profile.samples["session"].drop_nulls()) == {0, 1}


def test_a_kernel_that_refuses_is_told_with_its_mend(lab):
    prefix = (sys.executable, str(WITHOUT_PERF))
    document = lab.document("run", "tpch", *FEW, "--profile", prefix=prefix)
    assert document["profile"] is None
    error = json.loads((lab.latest() / "run.json").read_text())["probes"]["profile"]["error"]
    assert "perf_event_paranoid" in error
    result = lab.assay("explain", "latest")
    assert result.returncode == 0, result.stderr
    assert "perf_event_paranoid" in result.stdout


def test_a_run_without_samples_says_how_to_take_them(tpch_run):
    lab, _ = tpch_run
    result = lab.assay("explain", "latest")
    assert result.returncode == 0, result.stderr
    assert "--profile" in result.stdout
    assert "Computing, and waiting for a CPU" in result.stdout


def test_a_killed_run_keeps_its_samples(lab):
    started = lab.begin("run", "tpch", "--scale", "0.01", "--min-time", "10m", "--profile")
    wait_for_phase(lab, started, "measured")
    samples = lab.latest() / "raw" / "samples.arrows"
    some = samples.stat().st_size
    wait_until(lambda: samples.stat().st_size > some, "no samples of the measured part")
    os.kill(started.pid, signal.SIGKILL)
    started.communicate()
    result = lab.assay("explain", "latest")
    assert result.returncode == 0, result.stderr
    assert "CPU samples within operations" in result.stdout
    assert "functions were not named, the run ended before" in " ".join(result.stdout.split())
    profile = read_profile(Run(lab.latest()))
    assert profile is not None
    assert profile.sampling.taken > 0
    lab.assert_nothing_left()


def test_ctrl_c_names_what_was_seen(lab):
    started = lab.begin("run", "tpch", "--scale", "0.01", "--min-time", "10m", "--profile")
    wait_for_phase(lab, started, "measured")
    end(started, signal.SIGINT)
    profile = read_profile(Run(lab.latest()))
    assert profile is not None
    assert profile.sampling.symbols
    lab.assert_nothing_left()


def test_rules_of_a_stranger_come_first(on_duckdb, tmp_path):
    lab, _ = on_duckdb
    rules = tmp_path / "mine.toml"
    rules.write_text(
        '[[rules]]\nwork = "window"\nsymbols = ["duckdb::*Table*", "malloc"]\nsays = "Mine."\n'
    )
    document = lab.document("explain", "latest", "--operations", str(rules))
    works = {row["work"]: row["samples"] for row in document["profile"]["work"]}
    assert works["window"] > 0
    without = lab.document("explain", "latest")["profile"]["work"]
    assert "window" not in {row["work"] for row in without}


def test_a_refused_rule_is_named(on_duckdb, tmp_path):
    lab, _ = on_duckdb
    rules = tmp_path / "mine.toml"
    rules.write_text('[[rules]]\nwork = "scann"\nsymbols = ["a"]\nsays = "A."\n')
    result = lab.assay("explain", "latest", "--operations", str(rules))
    assert result.returncode == 1
    assert "rule 1" in result.stderr
    assert "did you mean 'scan'?" in result.stderr
