"""Groups that a statement reads or computes in full, and uses in part."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from assay.analysis.findings.indexes import first_of_group, unused_groups
from assay.model.catalogue import Index
from tests.cases import case, node, operation, plan, plans

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.plan import PlanNode


def run_of(root: PlanNode, text: str, **facts: Any) -> Case:
    return case(operation(overrides={"seconds": 1.0}), plans=plans(plan(root, text=text)), **facts)


class TestFirstOfGroup:
    LATEST = (
        "select distinct on (r.device) r.device, r.value from readings r "
        "order by r.device, taken desc"
    )
    INDEX = Index("readings", "readings_device", ("device", "taken DESC"))

    def of(self, text: str = LATEST, kept: float = 300.0, **index: Any) -> Case:
        scan = node("index scan", object="readings", rows=3e5, seconds=0.9)
        root = node("aggregate", node("sort", scan, rows=3e5), rows=kept, seconds=0.1)
        return run_of(root, text, indexes={"readings": (replace(self.INDEX, **index),)})

    def test_all_rows_are_read_for_one_of_each_group(self) -> None:
        (finding,) = first_of_group.find(self.of())
        assert finding.effect_share == pytest.approx(0.99, abs=0.02)
        assert "reads 300 k rows of readings" in finding.claim
        assert "lateral" in (finding.to_try or "")
        assert finding.settle is None

    @pytest.mark.parametrize(
        "index", [{"columns": ("taken", "device")}, {"predicate": "x"}, {"valid": False}]
    )
    def test_without_an_index_it_is_suspected(self, index: dict[str, Any]) -> None:
        (finding,) = first_of_group.find(self.of(**index))
        assert "begins with device, taken" in (finding.settle or "")

    @pytest.mark.parametrize(
        "quiet",
        [
            {"kept": 30_000.0},
            {"text": "select distinct device from readings"},
            {"text": "select device, max(taken) from readings group by device"},
        ],
    )
    def test_its_twin_is_silent(self, quiet: dict[str, Any]) -> None:
        assert first_of_group.find(self.of(**quiet)) == []

    def test_rows_of_a_join_are_not_looked_up(self) -> None:
        sides = [node("scan", object=name, rows=3e5, seconds=0.4) for name in ("a", "b")]
        root = node("aggregate", node("hash join", *sides, rows=3e5), rows=30.0, seconds=0.2)
        assert first_of_group.find(run_of(root, self.LATEST)) == []


class TestUnusedGroups:
    def of(self, used: float = 50.0, others: float = 50.0, **groups: Any) -> Case:
        scan = node("index scan", object="payments", rows=2e5, seconds=0.9)
        facts: dict[str, Any] = {"rows": 3e4, "loops": 1.0} | groups
        made = node("materialize", node("aggregate", scan, seconds=0.05, **facts), rows=3e4)
        derived = node("index scan", made, object="p", rows=used)
        clients = node("index scan", object="clients", rows=others, seconds=0.05)
        return run_of(node("nested loop", clients, derived, rows=used), "select ...")

    def test_groups_that_the_join_does_not_use_are_named(self) -> None:
        (finding,) = unused_groups.find(self.of())
        assert finding.effect_share == pytest.approx(0.95, abs=0.02)
        assert "all rows of payments into 30 k groups" in finding.claim
        assert finding.settle is not None

    @pytest.mark.parametrize(
        "quiet",
        [
            {"used": 2e4, "others": 2e4},
            # Each row of the other table would need a look-up.
            {"others": 2e4},
            # A lateral subquery, which is computed for each row already.
            {"loops": 50.0},
            {"rows": 200.0},
        ],
    )
    def test_its_twin_is_silent(self, quiet: dict[str, Any]) -> None:
        assert unused_groups.find(self.of(**quiet)) == []
