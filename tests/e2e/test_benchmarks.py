"""Every benchmark still runs, in its smallest form, and brings what it needs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import run
from tests.forks import forks


@pytest.mark.parametrize("path", run.benchmarks(), ids=run.name_of)
def test_it_runs_in_its_smallest_form(path: Path) -> None:
    run.RESULTS.mkdir(parents=True, exist_ok=True)
    shared = forks()
    ended = run.ran(path, smoke=True, variables=shared.shared(), pass_fds=[shared.channel.fileno()])
    if ended.status == run.LEFT_OUT:
        pytest.skip(ended.last)
    log = run.RESULTS / f"{ended.name}.txt"
    assert ended.is_right, f"{ended.line()}\n{log.read_text(encoding='utf-8')[-3000:]}"
