"""Clients that play an order by themselves, until their mixes are steady or the run is stopped."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pyarrow as pa
import pytest

from assay.record.reader import Run
from tests.e2e.conftest import Lab, end, wait_for_phase

# Each operation takes a millisecond, so that looks, of which there are twenty a second, see mixes.
SOME_LOOKS_S = 3.0
SLOWLY = ["--engine", "null", "--set", "delay=1ms", "--clients", "2"]
MANIFEST = """
title = "Three in order"
arrival = "closed"
order = ["one", "two", "one"]
[sequence]
warmup = 30
mixes = 400
rate = "QMpH"
[operations.one]
[operations.two]
"""


@pytest.fixture
def workload(tmp_path: Path) -> str:
    folder = tmp_path / "three"
    (folder / "operations").mkdir(parents=True)
    (folder / "workload.toml").write_text(MANIFEST)
    for name in ("one", "two"):
        (folder / "operations" / f"{name}.sql").write_text("values (1)\n")
    return str(folder)


def mixes(directory: Path, phase: str) -> dict[int, list[str]]:
    """By mix the operations that it played, in their order."""
    events = Run(directory).table("events").sort("started_ns")
    played: dict[int, list[str]] = {}
    for name, number, operation in events.select("phase", "pass", "operation").iter_rows():
        if name == phase:
            played.setdefault(number, []).append(operation)
    return played


def test_mixes_go_on_until_they_are_steady_and_the_run_says_so(lab: Lab, workload: str) -> None:
    most = 1_500
    asked = ["--until-steady", "--mixes-max", str(most)]
    document = lab.document("run", workload, *SLOWLY, *asked)
    directory, section = Path(document["path"]), document["steady"]
    warmup, measured = mixes(directory, "warmup"), mixes(directory, "measured")
    whole = ["one", "two", "one"]
    assert list(warmup.values()) == [whole] * 30
    assert list(measured.values()) == [whole] * len(measured)
    # However busy the host was: it went on exactly as long as the record says that it had to.
    assert section["mixes"] == len(measured)
    assert 400 <= len(measured) <= most
    assert section["steady"] is True or len(measured) == most
    assert (section["warmup_mixes"], section["mixes_max"]) == (30, most)
    assert section["why_no_reads"] is None
    assert {drift["series"] for drift in section["drifts"]} == {"throughput", "asked", "fetched"}
    shown = " ".join(lab.assay("show", "latest").stdout.split())
    assert f"of {len(measured):,} mixes" in shown or f"in {len(measured):,} mixes" in shown
    assert "over the whole measured part" in shown


def test_a_run_that_is_stopped_keeps_the_mixes_that_were_played(lab: Lab, workload: str) -> None:
    started = lab.begin("run", workload, *SLOWLY, "--mixes", "1000000", "--until-steady")
    directory = wait_for_phase(lab, started, "measured")
    # The first look at what was played comes a moment after the first mix.
    time.sleep(SOME_LOOKS_S)
    code, _ = end(started)
    assert (code, lab.status()) == (2, "interrupted")
    with pa.OSFile(str(directory / "raw" / "mixes.arrows")) as file:
        marked = pa.ipc.open_stream(file).read_all().to_pylist()
    ended = [row["mixes"] for row in marked if row["phase"] == "measured"]
    assert ended, "nobody looked"
    played = mixes(directory, "measured")
    whole = sum(operations == ["one", "two", "one"] for operations in played.values())
    # Of each client one mix at most was cut short.
    assert whole >= len(played) - 2
    assert ended == sorted(ended)
    assert ended[-1] <= whole
    document = json.loads(lab.assay("show", "latest", "--json").stdout)
    assert document["steady"]["mixes"] == ended[-1]
    lab.assert_nothing_left()
