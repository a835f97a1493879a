"""Benchmarks that nothing runs rot: the runner knows each, and each knows its smallest form."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(HERE))

import run  # noqa: E402 - benchmarks/run.py


def test_the_runner_knows_every_benchmark() -> None:
    assert {run.name_of(path) for path in run.benchmarks()} == set(run.SMOKE)


@pytest.mark.parametrize("name", sorted(run.SMOKE))
def test_its_smallest_form_is_in_its_own_options(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(HERE / f"{run.PREFIX}{name}.py")
    monkeypatch.setattr(sys, "argv", [path, "--help"])
    monkeypatch.setattr(sys, "path", [*sys.path])
    with pytest.raises(SystemExit) as end:
        runpy.run_path(path, run_name="__main__")
    assert not end.value.code
    help_text = capsys.readouterr().out
    for option in run.SMOKE[name]:
        if option.startswith("--"):
            assert option.partition("=")[0] in help_text


def test_one_that_fails_is_told_and_the_others_run_on() -> None:
    ended = [
        run.Ended("good", 0, 1.0, "done"),
        run.Ended("bad", 1, 1.0, "KeyError: 'language'"),
        run.Ended("slow", None, 120.0, ""),
        run.Ended("absent", run.LEFT_OUT, 0.1, "left out: sysbench is not installed"),
    ]
    assert [one.is_right for one in ended] == [True, False, False, True]
    assert "failed with 1" in ended[1].line()
    assert "took too long" in ended[2].line()


WITH_A_CHILD = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
time.sleep(60)
"""


def test_one_that_takes_too_long_ends_with_all_that_it_began(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    with log.open("w") as out:
        assert run.waited_for([sys.executable, "-c", WITH_A_CHILD], out, 2.0) is None
    child = Path("/proc") / log.read_text().split()[0] / "cmdline"
    assert not child.exists() or not child.read_bytes()
