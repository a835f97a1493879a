"""Ctrl-C and signals end a command with exit code 2 and one document, however many come."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest

from assay.cli.main import run_command

STOPPED = 2
PATIENCE_S = 60.0
PAUSE_S = 0.002
# `assay show`, which does `{act}` and then waits, as it would for a large record.
WAITING = """
import sys, time
from importlib import import_module
def show(which, runs=None):
    {act}
    print("waiting", file=sys.stderr, flush=True)
    time.sleep(60)
import_module("assay.verbs.show").show = show
sys.argv = ["assay", "show", *sys.argv[1:]]
import_module("assay.cli.main").main()
"""
SAY = 'import_module("assay.cli.shared.output").say_json([1])'


@contextmanager
def waiting(*arguments: str, act: str = "pass") -> Iterator[subprocess.Popen[str]]:
    """Start `assay show`, and wait until it waits."""
    command = [sys.executable, "-c", WAITING.format(act=act), *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as started:
        try:
            assert started.stderr is not None
            assert started.stderr.readline() == "waiting\n", started.communicate()[1]
            yield started
        finally:
            started.kill()


@pytest.mark.parametrize(
    ("number", "name"),
    [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM"), (signal.SIGHUP, "SIGHUP")],
)
def test_the_error_is_one_document_with_the_signal(number: int, name: str) -> None:
    with waiting("--json") as started:
        started.send_signal(number)
        printed, errors = started.communicate(timeout=PATIENCE_S)
    assert started.returncode == STOPPED
    assert json.loads(printed) == {"error": f"stopped by {name}", "exit_code": STOPPED}
    assert errors == f"assay: stopped by {name}\n"


def test_without_json_nothing_is_printed() -> None:
    with waiting() as started:
        started.send_signal(signal.SIGINT)
        assert started.communicate(timeout=PATIENCE_S) == ("", "assay: stopped by Ctrl-C\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_further_signals_change_nothing(number: int) -> None:
    with waiting("--json") as started:
        begun_s = time.monotonic()
        while started.poll() is None:
            assert time.monotonic() - begun_s < PATIENCE_S
            started.send_signal(number)
            time.sleep(PAUSE_S)
        printed, errors = started.communicate(timeout=PATIENCE_S)
    assert started.returncode == STOPPED, errors
    assert json.loads(printed)["exit_code"] == STOPPED
    assert len(errors.splitlines()) == 1


def test_a_document_that_was_printed_remains_the_only_one() -> None:
    with waiting("--json", act=SAY) as started:
        started.send_signal(signal.SIGINT)
        printed, _ = started.communicate(timeout=PATIENCE_S)
    assert started.returncode == STOPPED
    assert json.loads(printed) == [1]


def test_a_signal_that_the_caller_ignores_stays_ignored() -> None:
    """`nohup` ignores SIGHUP, and a shell ignores SIGINT for commands in the background."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with waiting() as started:
            started.send_signal(signal.SIGHUP)
            started.send_signal(signal.SIGTERM)
            _, errors = started.communicate(timeout=PATIENCE_S)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert errors == "assay: stopped by SIGTERM\n"


@pytest.mark.parametrize("verb", ["show", "report", "export"])
def test_it_does_not_say_that_something_is_kept(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt("SIGTERM")

    monkeypatch.setattr(import_module(f"assay.verbs.{verb}"), verb, stop)
    assert run_command([verb, "--runs", str(tmp_path)]) == STOPPED
    assert capsys.readouterr().err == "assay: stopped by SIGTERM\n"
