"""A real cause in a real database is named first or second; what names it is no accident of words.

All strengths, the silence below the noise and the repetitions are in
`benchmarks/bench_planted_causes.py`: here each cause is planted once, at its strongest.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay.analysis.findings.discovery import methods
from tests.e2e.conftest import server_laboratory
from tests.planted.explained import explained
from tests.planted.naming import RANK_MAX, named
from tests.planted.outside import (
    CPU_CONTROLLER,
    GROUP_PREFIX,
    UnplantableError,
    neighbours,
    planted_outside,
)
from tests.planted.plants import PLANTED, Plant, all_plants

PLANTS = all_plants()
by_name = pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)


@by_name
def test_the_cause_is_named_first_or_second(plant: Plant, server_place):
    with server_laboratory(server_place) as lab:
        try:
            document = explained(lab, plant, "strong")
        except UnplantableError as reason:
            pytest.skip(str(reason))
        told = [(finding["method"], finding["claim"]) for finding in document["findings"]]
        naming = named(plant, document["findings"])
        assert naming is not None, told
        assert naming.rank <= RANK_MAX, told
        lab.assert_nothing_left()
    assert list(CPU_CONTROLLER.glob(f"{GROUP_PREFIX}*")) == []


@by_name
def test_a_plant_says_what_it_is(plant: Plant):
    assert set(plant.methods) <= set(methods())
    for strength in PLANTED:
        arms = plant.arm(strength), plant.twin(strength)
        assert arms[0] != arms[1]
        assert all(file.is_file() for arm in arms for file in arm.prepare)
        assert arms[0].scale == arms[1].scale
    assert plant.arm("none") == plant.twin("strong")


def a_finding(method: str, tells: str = "cause", claim: str = "") -> dict:
    return {"method": method, "tells": tells, "claim": claim, "effect_share": 0.5}


def a_plant(**told) -> Plant:
    return Plant("made", Path(), {"methods": ["spill"], **told})


class TestNaming:
    def test_a_rank_counts_causes_only(self):
        findings = [a_finding("bound-by", "bound"), a_finding("steal"), a_finding("spill")]
        assert named(a_plant(), findings).rank == 2

    def test_a_headline_that_is_the_cause_names_it(self):
        findings = [a_finding("bound-by", "bound", "Lock-bound: 80 %"), a_finding("steal")]
        assert named(a_plant(bound=["lock-bound"]), findings).rank == 1
        assert named(a_plant(), findings) is None

    def test_a_headline_that_speaks_of_it_among_others_does_not(self):
        claim = "Bound by no one thing: 45 % on a CPU, 3.0 % lock"
        assert named(a_plant(bound=["lock"]), [a_finding("bound-by", "bound", claim)]) is None

    def test_other_causes_name_nothing(self):
        assert named(a_plant(), [a_finding("steal"), a_finding("spill", "shape")]) is None


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
        with planted_outside(None, None):
            assert _children() == []


def _children(of: int | None = None) -> list[str]:
    of = "self" if of is None else of
    return [
        pid
        for thread in Path(f"/proc/{of}/task").iterdir()
        for pid in (thread / "children").read_text(encoding="ascii").split()
    ]
