"""An agent of a run's own that ends at once is told of at once, with what it wrote last."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace

import pytest

from assay.model.errors import RunFailedError
from assay.running.fleet import meeting
from assay.running.processes.launcher import Guardian
from assay.verbs.shared.watching import Logged

DIES = "import sys; sys.exit('no module named dask')"


def test_an_agent_that_ends_before_it_joined_ends_the_run_with_its_last_words(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(meeting, "AGENT", [sys.executable, "-c", DIES])
    request = SimpleNamespace(fleet="2", fleet_tls=None, engine_host=None)
    words = r"agent-\d ended with status 1 before it had joined: no module named dask"
    begun_s = time.monotonic()
    with (
        Guardian("fleet", tmp_path) as guardian,
        pytest.raises(RunFailedError, match=words),
        meeting.gathered(request, guardian, tmp_path, Logged()),
    ):
        pass
    assert time.monotonic() - begun_s < meeting.JOINING_S / 2
