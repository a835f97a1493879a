"""The judge of planted causes, on findings that are made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.planted.cells import Arm, Cause, Cell, read_cell
from tests.planted.measuring import ArmRun, Measured
from tests.planted.scoring import errors, scored, wilson, wrong

INDEX = Cause("missing-index", ("missing-index",), ("orders.*customer",))
SORT = Cause("spill", ("spill",), ("work_mem",))


def a_cell(*causes: Cause, **more) -> Cell:
    arm = Arm({})
    return Cell("made", "calibration", Path(), "", "duckdb", causes or (INDEX,), arm, arm, **more)


def a_finding(method: str = "missing-index", share: float | None = 0.5, **more) -> dict:
    common = {"claim": "", "to_try": None, "evidence": [], "tells": "cause"}
    return common | {"method": method, "effect_share": share} | more


def score(*findings: dict, cell: Cell | None = None, share: float = 0.5, host_busy: float = 0.0):
    return scored(cell or a_cell(), list(findings), share, host_busy)


class TestNamed:
    def test_a_cause_among_the_first_three_is_named(self):
        others = [a_finding("other"), a_finding("another")]
        assert score(*others, a_finding()).named == (True,)
        assert score(*others, a_finding("third"), a_finding()).named == (False,)

    def test_findings_that_tell_no_cause_take_no_rank(self):
        shapes = [a_finding("steady", tells="shape")] * 3
        assert score(*shapes, a_finding()).named == (True,)

    def test_each_of_two_causes_is_judged(self):
        cell = a_cell(INDEX, SORT)
        judged = score(a_finding("spill", claim="raise work_mem"), cell=cell)
        assert judged.named == (False, True)
        assert judged.root == (False, True)
        assert judged.error is None


class TestRoot:
    @pytest.mark.parametrize(
        "said",
        [
            {"claim": "Orders are scanned for one customer"},
            {"to_try": "create index on orders (customer)"},
            {"evidence": [{"says": "orders is filtered by customer", "at": "plan:q"}]},
        ],
    )
    def test_it_may_stand_anywhere_in_the_finding(self, said):
        assert score(a_finding(**said)).root == (True,)

    def test_another_finding_does_not_name_it(self):
        other = a_finding("parallelism", claim="orders by customer ran on one core")
        judged = score(other, a_finding(claim="an index is missing"))
        assert judged.named == (True,)
        assert judged.root == (False,)


class TestWrong:
    def test_a_sure_cause_of_another_method_is_wrong(self):
        assert len(score(a_finding("jit")).wrong) == 1

    @pytest.mark.parametrize(
        "finding",
        [
            a_finding("jit", certainty="suspected"),
            a_finding("jit", 0.049),
            a_finding("jit", None),
            a_finding("jit", tells="shape"),
            a_finding(),
        ],
    )
    def test_what_is_not(self, finding):
        assert score(finding).wrong == ()

    def test_what_the_cell_allows_may_claim_its_share(self):
        cell = a_cell(also={"jit": (0.1, 0.4)})
        assert score(a_finding("jit", 0.3), cell=cell).wrong == ()
        assert len(score(a_finding("jit", 0.6), cell=cell).wrong) == 1

    def test_the_host_is_true_where_others_used_it(self):
        assert score(a_finding("steal"), host_busy=0.2).wrong == ()
        assert len(score(a_finding("steal"), host_busy=0.0).wrong) == 1

    def test_without_the_cause_its_own_finding_is_false(self):
        assert list(wrong(a_cell(), [a_finding()], 0.0, planted=False)) == [a_finding()]

    def test_silence(self):
        assert score().silent
        assert score(a_finding(share=0.04)).silent
        assert not score(a_finding("jit")).silent


class TestErrors:
    def test_a_range_that_holds_the_truth_has_none(self):
        assert errors(a_finding(share=0.9, saved=[0.4, 0.6]), 0.5) == pytest.approx((0.0, 0.4))

    @pytest.mark.parametrize(("saved", "error"), [([0.6, 0.8], 0.1), ([0.1, 0.3], 0.2)])
    def test_else_it_is_the_distance_to_the_nearer_end(self, saved, error):
        assert errors(a_finding(saved=saved), 0.5)[0] == pytest.approx(error)

    def test_without_a_range_the_claimed_share_counts(self):
        assert errors(a_finding(share=0.7), 0.5) == pytest.approx((0.2, 0.2))


def test_wilson_bounds():
    # Newcombe 1998, table I: 81 of 263 is 0.2553 to 0.3662.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(10, 10)[1] == pytest.approx(1.0)


def test_shares_are_of_rounds_in_either_order():
    seconds = [("with", 4.0), ("without", 1.0), ("without", 1.0), ("with", 2.0)]
    runs = tuple(ArmRun(arm, "", value, []) for arm, value in seconds)
    measured = Measured("made", "calibration", "duckdb", ("spill",), runs)
    assert measured.shares == [0.75, 0.5]
    assert measured.share == 0.625


def test_a_key_that_no_cell_has_is_refused(tmp_path):
    (tmp_path / "plant.toml").write_text('says = ""\nengine = "duckdb"\n[with]\nset = {}\n')
    with pytest.raises(ValueError, match="no cell has set"):
        read_cell(tmp_path, "calibration")


def test_what_both_arms_share_stands_first(tmp_path):
    (tmp_path / "plant.toml").write_text(
        'says = ""\nengine = "duckdb"\nkind = "a"\nmethods = ["a"]\nroot = ["a"]\nclients = 2\n'
        'settings = { threads = "1", x = "1" }\noptions = ["--seed", "3"]\n'
        '[with]\nsettings = { x = "2" }\noptions = ["--retries", "1"]\n'
    )
    cell = read_cell(tmp_path, "calibration")
    load = ("--clients", "2", "--time", "3s", "--warmup", "1s", "--seed", "3")
    assert cell.planted == Arm({"threads": "1", "x": "2"}, (*load, "--retries", "1"))
    assert cell.free == Arm({"threads": "1", "x": "1"}, load)
