"""A real cause in a real database is named; what judges it is no accident of words.

The whole set, with what causes cost, is in `benchmarks/bench_planted_causes.py`; here a sample of
it is planted once.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay.analysis.findings.discovery import methods
from tests.e2e.conftest import server_laboratory
from tests.forks import forks
from tests.planted.arms import explained
from tests.planted.cells import HALVES, HERE, Cell, all_cells, read_cell
from tests.planted.outside import (
    CPU_CONTROLLER,
    GROUP_PREFIX,
    UnplantableError,
    neighbours,
    planted_outside,
)
from tests.planted.scoring import RANK_MAX, scored

CELLS = all_cells()
METHODS = frozenset(methods())
# Engines that every virtual environment has, and causes of each sort: data, settings, other
# sessions. Each takes about ten seconds.
SAMPLE = ("columns-read", "dead-rows", "lock-wait", "missing-index", "spill")


@pytest.mark.parametrize("name", SAMPLE)
def test_a_planted_cause_is_named(name: str, server_place):
    cell = read_cell(HERE / "calibration" / name, "calibration")
    with server_laboratory(server_place) as lab:
        try:
            document = explained(lab, cell, cell.planted)
        except UnplantableError as reason:
            pytest.skip(str(reason))
        score = scored(cell, document["findings"], share=0.5, host_busy=0.0)
        claims = [(finding["method"], finding["claim"]) for finding in document["findings"]]
        assert all(score.named), f"not among the first {RANK_MAX} causes: {claims}"
        lab.assert_nothing_left()
    assert list(CPU_CONTROLLER.glob(f"{GROUP_PREFIX}*")) == []


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_a_cell_can_be_planted(cell: Cell):
    assert cell.planted != cell.free
    assert all(cause.methods and cause.root for cause in cell.causes)
    assert cell.methods <= METHODS, "no finding has this method"
    for arm in (cell.planted, cell.free):
        assert all(file.is_file() for file in arm.prepare)
        assert arm.operations is None or list(arm.operations.glob("*.sql"))


def test_halves_share_no_name_and_no_table():
    names = [cell.name for cell in CELLS]
    assert len(set(names)) == len(names)
    of_halves = [_tables(half) for half in HALVES]
    assert of_halves[0]
    assert of_halves[0] & of_halves[1] == set()


def _tables(half: str) -> set[str]:
    texts = [file.read_text().lower() for file in (HERE / half).glob("*/schema/*.sql")]
    lines = [line for text in texts for line in text.splitlines()]
    return {line.split()[2] for line in lines if line.startswith("create table ")}


class TestOutside:
    def test_neighbours_are_gone_when_the_block_is_left(self):
        with neighbours(None, count=2, cpu=0):
            burning = _children()
            assert len(burning) == 2
        assert _children() == []

    def test_neighbours_do_not_outlive_us(self, tmp_path):
        program = (
            "import time, sys; sys.path.insert(0, sys.argv[1])\n"
            "from tests.planted.outside import neighbours\n"
            "block = neighbours(None, count=1, cpu=0); block.__enter__()\n"
            "print('burning', flush=True); time.sleep(600)\n"
        )
        root = str(Path(__file__).parents[2])
        started = subprocess.Popen(
            [sys.executable, "-c", program, root], stdout=subprocess.PIPE, text=True
        )
        assert started.stdout.readline() == "burning\n"
        (burning,) = _children(started.pid)
        started.kill()
        started.wait()
        started.stdout.close()
        deadline_s = time.monotonic() + 30
        while Path(f"/proc/{burning}").exists():
            assert time.monotonic() < deadline_s
            time.sleep(0.05)

    def test_nothing_is_planted_where_nothing_is_asked(self):
        with planted_outside((), None):
            assert _children() == []


def _children(of: int | None = None) -> list[str]:
    """The children of a process, ours by default, without the one that commands are forked from."""
    of = "self" if of is None else of
    return [
        pid
        for thread in Path(f"/proc/{of}/task").iterdir()
        for pid in (thread / "children").read_text(encoding="ascii").split()
        if int(pid) != forks().server
    ]
