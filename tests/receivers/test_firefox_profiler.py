"""Firefox Profiler's own code loads the profile, brings it up to its version, and counts."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from assay.report.profile_exports import firefox
from tests.receivers.conftest import exported, node, node_json

CLI = "@firefox-devtools/profiler-cli/dist/profiler-cli.js"
LATE = re.compile(r"did not become ready within.*still be running as pid (?P<pid>\d+)", re.DOTALL)
ATTEMPTS = 10


def load(cli: Path, profile: Path, place: Path) -> dict[str, str]:
    """Load a profile; return the environment of commands that ask about it.

    `load` gives its server half a second to start, which is too short on a busy host. Each attempt
    has its own directory, and begins after the server of the one before was ended.
    """
    for attempt in range(1, ATTEMPTS + 1):
        own = place / str(attempt)
        own.mkdir()
        session = {"PROFILER_CLI_SESSION_DIR": str(own), "HOME": str(own)}
        try:
            node(cli, "load", profile, **session)
        except AssertionError as error:
            late = LATE.search(str(error))
            if late is None or attempt == ATTEMPTS:
                raise
            with suppress(ProcessLookupError):
                os.kill(int(late["pid"]), signal.SIGTERM)
        else:
            break
    return session


@pytest.fixture(scope="module")
def ask(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Any]]:
    """Asks of the loaded profile: `ask("thread", "list")`. What answers ends with the tests."""
    place = tmp_path_factory.mktemp("firefox")
    profile = exported(firefox, place)
    session = load(installed / CLI, profile, place)
    try:
        yield lambda *message: node_json(installed / CLI, *message, "--json", **session)
    finally:
        node(installed / CLI, "stop", **session)


def of(ask: Callable[..., Any], name: str) -> str:
    return next(t["threadHandle"] for t in ask("thread", "list")["threads"] if t["name"] == name)


def test_it_is_brought_up_to_the_version_of_the_reader(ask: Callable[..., Any]) -> None:
    meta = ask("profile", "meta")
    assert meta["preprocessedProfileVersion"] > firefox.VERSION
    assert meta["startTimeFormatted"] == "2026-11-18T11:06:45.000Z"
    assert meta["interval"] == 2
    assert meta["product"] == "tpch on PostgreSQL"
    entries = {entry["label"]: entry["value"] for entry in meta["extra"][0]["entries"]}
    assert entries["Event"] == "cpu-clock"
    assert entries["Note 1"] == "Hardware cycles are not to be had here."


def test_threads_have_the_cpu_time_that_was_sampled(ask: Callable[..., Any]) -> None:
    threads = ask("thread", "list")["threads"]
    assert {(t["name"], t["processName"], t["pid"], round(t["cpuMs"], 6)) for t in threads} == {
        ("postgres", "postgres", "50", 16.0),
        ("helping", "postgres", "50", 2.0),
        ("worker", "worker", "51", 2.0),
        ("session 0", "operations", "driver", 0.0),
    }


def test_functions_are_counted_and_know_their_file(ask: Callable[..., Any]) -> None:
    answer = ask("thread", "samples", "--thread", of(ask, "postgres"))
    functions = {
        f["nameWithLibrary"]: (f["totalSamples"], f["selfSamples"])
        for f in answer["topFunctionsByTotal"]
    }
    assert functions == {
        "postgres!ExecutorRun": (8, 0),
        "postgres!ExecHashJoin": (7, 2),
        "postgres!heap_getnext": (3, 2),
        "[kernel]!copy_to_user": (1, 1),
        "libfilter.so!<[u8; 16] as filter::Filter>::keep": (2, 1),
        "libfilter.so!libfilter.so+0x1f00..0x1f80": (1, 1),
        "0x7f0000000000": (1, 1),
    }


def test_kinds_of_work_are_categories(ask: Callable[..., Any]) -> None:
    answer = ask("thread", "samples", "--thread", of(ask, "postgres"))
    works = {c["name"]: c["samples"] for c in answer["categoryBreakdown"]["categories"]}
    assert works == {
        "scan": 2,
        "filter": 2,
        "hash probe": 1,
        "kernel I/O": 1,
        "unclassified": 1,
        "artefact": 1,
    }


def test_operations_are_intervals(ask: Callable[..., Any]) -> None:
    answer = ask("thread", "markers", "--thread", of(ask, "session 0"), "--list")
    markers = [(m["name"], m["start"], m["duration"], m["data"]) for m in answer["flatMarkers"]]
    assert markers == [
        ("q01", 1, 18, {"sequence": 0, "samples": 6, "cpu_ms": 12}),
        ("q09", 21, 18, {"sequence": 1, "samples": 4, "cpu_ms": 8}),
    ]
