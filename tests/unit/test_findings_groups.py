"""Groups that a statement reads or computes in full, and uses in part."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from assay.analysis.findings.indexes import first_of_group
from assay.analysis.findings.joins import unused_groups
from assay.model.catalogue import Index
from assay.model.plan import Reads
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

    BY_VALUE = (
        "select * from clients c join (select client, sum(amount) as paid from payments "
        "group by client) p on p.client = c.id where c.id = $1"
    )
    INDEX = Index("payments", "payments_client", ("client", "day"))

    def test_a_value_and_an_index_show_that_few_groups_are_faster(self) -> None:
        case_of = self.of()
        (by_plan,) = case_of.plans["q1"]
        by_value = {"q1": (replace(by_plan, text=self.BY_VALUE),)}
        (finding,) = unused_groups.find(replace(case_of, plans=by_value))
        assert "create an index of payments (client)" in (finding.settle or "")
        indexed = replace(case_of, plans=by_value, indexes={"payments": (self.INDEX,)})
        (finding,) = unused_groups.find(indexed)
        assert finding.settle is None
        assert "`where client = ...` before `group by`, as for c.id" in (finding.to_try or "")

    def derived(self, condition: str, *above: str, rows: float = 1.0) -> Case:
        """MariaDB's plan of groups in the order of an index, which has no operator for them."""
        source = node("index scan", object="payments", rows=2e5, seconds=0.9)
        for operator in above:
            source = node(operator, source, rows=3e4)
        facts: dict[str, Any] = {"rows": rows, "removed_rows": 3e4, "seconds": 0.1}
        made = node("scan", node("materialize", source), object="<derived2>", condition=condition)
        first = node("index scan", object="clients", estimated_rows=1.0)
        return run_of(node("nested loop", first, replace(made, **facts), rows=rows), "select ...")

    def test_a_derived_table_whose_filter_looks_up_a_group(self) -> None:
        (finding,) = unused_groups.find(self.derived("filter trigcond(p.client = 77)"))
        assert "all rows of payments into 30 k groups" in finding.claim
        assert finding.effect_share == pytest.approx(1.0, abs=0.01)

    @pytest.mark.parametrize(
        "quiet",
        [
            # The filter computes with the groups, or the table is not of groups.
            ("filter p.paid > 1000",),
            ("filter p.client = 77 and p.paid > 1000",),
            ("filter p.client = 77", "set operation"),
            ("filter p.client = 77", "window"),
        ],
    )
    def test_other_derived_tables_are_silent(self, quiet: tuple[str, ...]) -> None:
        assert unused_groups.find(self.derived(*quiet)) == []

    def apart(self, scans: int) -> Case:
        """A common table expression of groups, which scans elsewhere read."""
        source = node("scan", object="payments", rows=2e5, seconds=0.8)
        made = node("cte", node("aggregate", source, rows=3e4, seconds=0.1), object="paid")
        reads = [node("cte", object="paid", rows=3e4, seconds=0.0) for _ in range(scans)]
        clients = node("scan", object="clients", rows=5.0, seconds=0.0)
        root = node("hash join", reads[0], clients, rows=5.0, seconds=0.1)
        for read in reads[1:]:
            root = node("hash join", root, read, rows=5.0, seconds=0.0)
        return run_of(replace(root, children=(*root.children, made)), "select ...")

    def test_a_common_table_expression_that_is_read_once(self) -> None:
        (finding,) = unused_groups.find(self.apart(1))
        assert finding.effect_share == pytest.approx(0.9, abs=0.01)
        assert unused_groups.find(self.apart(2)) == []

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


class TestUncountedGroups:
    """SQLite's plans have neither rows nor times of operators."""

    TEXT = (
        "select c.id, t.total from customers c left join (select customer, sum(amount) as total "
        "from orders group by customer) t on t.customer = c.id where c.id = $1"
    )
    INDEX = Index("orders", "orders_customer", ("customer",))

    def of(self, text: str = TEXT, key: str | None = None, **facts: Any) -> Case:
        source = node("index scan", object="orders", condition=key)
        made = node("cte", *facts.get("made", (source,)), object=facts.get("named", "t"))
        first = node("index scan", object="c", condition=facts.get("first", "rowid=?"))
        root = node("nested loop", first, node("scan", object="t"), made)
        reads = Reads("steps of scans", scan_rows=facts.get("read", 160e3))
        captured = plan(root, text=text, timed=False, reads=reads, execution_s=0.2)
        indexes = {"orders": (self.INDEX,)} if facts.get("indexed", True) else {}
        its = operation(overrides={"seconds": 1.0})
        return case(its, plans=plans(captured), grammar="sqlite", indexes=indexes)

    def test_groups_of_all_rows_for_one_value(self) -> None:
        (finding,) = unused_groups.find(self.of())
        assert finding.effect_share == pytest.approx(1.0)
        assert "t.customer is equal to c.id" in finding.claim
        assert "reads 160 k rows" in finding.claim
        assert finding.settle is None

    def test_without_an_index_of_the_key_it_is_suspected(self) -> None:
        (finding,) = unused_groups.find(self.of(indexed=False))
        assert "index of orders (customer)" in (finding.settle or "")

    def test_a_view_is_suspected(self) -> None:
        text = "select c.id, t.total from customers c join totals t on t.customer = c.id "
        (finding,) = unused_groups.find(self.of(text + "where c.id in (1, 2)", named="totals"))
        assert finding.settle is not None
        assert "A view has to be replaced by its query" in (finding.to_try or "")

    def test_a_common_table_expression(self) -> None:
        text = (
            "with t as (select customer as k, count(*) as n from orders group by customer) "
            "select * from customers c join t on t.k = c.id where c.id = ?"
        )
        (finding,) = unused_groups.find(self.of(text))
        assert "`where customer = ...`" in (finding.to_try or "")

    @pytest.mark.parametrize(
        "twin",
        [
            # The subquery has the condition, or the statement wants all groups.
            {"key": "customer=?"},
            {"text": TEXT.partition(" where ")[0]},
            {"text": TEXT.replace("c.id = $1", "c.id > $1")},
            {"text": TEXT.replace("where c.id", "and c.id")},
            # The compared column is not a key of the groups, or the groups are limited.
            {"text": TEXT.replace("t.customer = c.id", "t.total = c.id")},
            {"text": TEXT.replace("group by customer)", "group by customer limit 9)")},
            # Other operators read as much, or the subquery reads little.
            {"first": None},
            {"read": 500.0},
            {"made": (node("window", node("scan", object="orders")),)},
        ],
    )
    def test_its_twins_are_silent(self, twin: dict[str, Any]) -> None:
        assert unused_groups.find(self.of(**twin)) == []
