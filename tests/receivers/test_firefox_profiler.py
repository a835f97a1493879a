"""Firefox Profiler's own code loads the profile, brings it up to its version, and counts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from assay.report.profile_exports import firefox
from tests.receivers.conftest import exported, node, node_json

CLI = "@firefox-devtools/profiler-cli/dist/profiler-cli.js"


@pytest.fixture
def ask(installed: Path, tmp_path: Path):
    """Asks of the loaded profile: `ask("thread", "list")`. Its process ends with the test."""
    with asking(installed, tmp_path, exported(firefox, tmp_path)) as ask:
        yield ask


@contextmanager
def asking(installed: Path, place: Path, profile: Path):
    cli = installed / CLI
    session = {"PROFILER_CLI_SESSION_DIR": str(place / "sessions"), "HOME": str(place)}
    (place / "sessions").mkdir(exist_ok=True)
    node(cli, "load", profile, **session)
    try:
        yield lambda *words: node_json(cli, *words, "--json", **session)
    finally:
        node(cli, "stop", **session)


Ask = Callable[..., Any]


def test_threads_have_the_cpu_time_that_was_sampled(ask: Ask) -> None:
    threads = ask("thread", "list")["threads"]
    assert {(t["name"], t["processName"], round(t["cpuMs"], 6)) for t in threads} == {
        ("postgres", "postgres", 16.0),
        ("helping", "postgres", 2.0),
        ("worker", "worker", 2.0),
        ("session 0", "operations", 0.0),
    }
