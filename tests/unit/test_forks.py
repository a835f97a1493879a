"""A command in a fork does what the executable does."""

import os
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests.e2e.conftest import wait_until
from tests.forks import ASSAY, forks, read_all

PATIENCE_S = 60.0


def of_the_executable(arguments, env):
    return subprocess.run(
        [str(ASSAY), *arguments], env=env, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("engines", "show", "sqlite", "--json"),
        ("run", "tpch", "--engine", "sqlit"),
        ("runs",),
        ("show", "no such run", "--json"),
    ],
)
def test_exit_code_and_output_are_the_same(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    env = {**os.environ, "ASSAY_RUNS": "here"}
    forked, plain = forks().run(arguments, env, PATIENCE_S), of_the_executable(arguments, env)
    assert (forked.returncode, forked.stdout) == (plain.returncode, plain.stdout)
    assert forked.stderr == plain.stderr
    assert forked.args == plain.args


def test_a_variable_that_is_read_at_the_start_takes_a_new_process():
    assert forks().fit({**os.environ, "ASSAY_RUNS": "elsewhere"})
    assert not forks().fit({**os.environ, "LC_ALL": "C"})


def test_a_command_that_takes_too_long_is_killed():
    def children() -> str:
        server = forks().server
        return Path(f"/proc/{server}/task/{server}/children").read_text()

    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
    with pytest.raises(TimeoutError, match="did not end in time"):
        forks().run(("agent", address, "--plain", "--listen"), {**os.environ}, 0.5)
    wait_until(lambda: not children(), "the command is there yet")


def test_all_of_an_output_that_fills_a_pipe_is_read():
    reader, writer = os.pipe()
    with subprocess.Popen(["head", "-c", "1000000", "/dev/zero"], stdout=writer):
        os.close(writer)
        (text,) = read_all([reader], time.monotonic() + PATIENCE_S)
    assert len(text) == 1_000_000
