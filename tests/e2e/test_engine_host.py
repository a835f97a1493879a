"""An agent that drives nothing observes the engine on its host, beside another one that drives."""

from __future__ import annotations

import json
import os
import signal
import socket
from contextlib import contextmanager

import polars as pl
import pytest

from assay.record.reader import Run
from tests.e2e.conftest import HAS_POSTGRESQL, PATIENCE_S, Lab, wait_until
from tests.e2e.server import PASSWORD
from tests.e2e.test_running_server import url_of

MIX = ["run", "point-select", "--scale", "0.01", "--clients", "2", "--no-plans", "--warmup", "100ms"]
WORDS = {"processes": "engine", "run-host/processes": "driver"}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@pytest.fixture
def lab(server, server_lab):
    """Two agents beside the meeting place, one of them for the engine's host."""
    server_lab.extra_env["ASSAY_RUN_DSN"] = url_of(server)
    yield server_lab
    for process in server_lab.begun:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PATIENCE_S)
    server_lab.close()
    server_lab.assert_nothing_left()
