"""Rows that are skipped, counted or read again, though a statement needs few of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.client import counted_existence, skipped_rows
from assay.analysis.findings.joins import range_join
from assay.analysis.findings.programs import function_per_row
from assay.model.catalogue import Index
from assay.model.finding import Advice
from assay.model.plan import PlanNode
from tests.cases import case, node, operation, plan, plans


def run_of(root: PlanNode, text: str, rows: int | None = 1, **facts: Any) -> Case:
    its = operation(cpu_user=1.0, overrides={"rows": rows})
    return case(its, plans=plans(plan(root, text=text)), **facts)


class TestSortedPage:
    PAGE = "select id, title from recipes order by published desc limit 20 offset $1"
    INDEX = Index("recipes", "recipes_published", ("published",))

    def of(self, text: str = PAGE, rows: int | None = 20, index: Index = INDEX) -> Case:
        scan = node("scan", object="recipes", rows=6e4, seconds=0.9)
        sort = node("sort", scan, condition="recipes.published desc", rows=6e4, seconds=0.1)
        return run_of(sort, text, rows, indexes={"recipes": (index,)})

    def test_an_index_has_the_order_that_the_page_is_sorted_by(self) -> None:
        (finding,) = skipped_rows.find(self.of())
        assert finding.claim.startswith("Large offset: q1 reads and sorts 60 k rows of recipes")
        assert finding.effect_share == pytest.approx(1.0)
        assert finding.settle is not None
        assert "where key > ..." in (finding.to_try or "")
        assert finding.advice is None

    def test_a_limit_has_the_rows_of_the_page(self) -> None:
        sorted_page = self.of(rows=None).plans["q1"][0].root
        limited = run_of(
            node("limit", sorted_page, rows=20.0),
            self.PAGE,
            None,
            indexes={"recipes": (self.INDEX,)},
        )
        assert len(skipped_rows.find(limited)) == 1

    @pytest.mark.parametrize(
        "twin",
        [
            {"text": "select id, title from recipes order by published desc limit 20"},
            {"rows": 5000},
            {"rows": None},
            {"index": Index("recipes", "recipes_title", ("title", "published"))},
        ],
        ids=["first page", "large page", "not known", "other index"],
    )
    def test_its_twins_are_silent(self, twin: dict[str, Any]) -> None:
        assert skipped_rows.find(self.of(**twin)) == []

    def test_an_order_by_a_key_finds_the_keys_of_the_page_first(self) -> None:
        index = Index("recipes", "recipes_published", ("published", "id"), unique=True)
        scan = node("scan", object="recipes", rows=6e4, seconds=0.9)
        sort = node("sort", scan, condition="published, id", rows=6e4, seconds=0.1)
        (finding,) = skipped_rows.find(run_of(sort, self.PAGE, 20, indexes={"recipes": (index,)}))
        assert finding.advice == Advice("late-look-up", "q1", {}, finding.effect_share)
        assert "`assay try a-run skipped-rows:q1` measures it" in (finding.to_try or "")

    @pytest.mark.parametrize(
        ("order", "facts", "is_advised"),
        [
            ("published desc, id", {}, True),
            ("r.published", {}, False),
            ("published + 1, id", {}, False),
            ("published, id", {"unique": False}, False),
            ("published, id", {"valid": False}, False),
            ("published, id", {"predicate": "id > 7"}, False),
        ],
    )
    def test_a_page_in_the_order_of_an_index(
        self, order: str, facts: dict[str, Any], is_advised: bool
    ) -> None:
        key = Index("recipes", "recipes_key", ("id",), **{"unique": True} | facts)
        scan = node("index scan", object="recipes", rows=2e4, seconds=0.9)
        text = " ".join(("select * from recipes r order by", order, "limit 20 offset 20000"))
        (finding,) = skipped_rows.find(
            run_of(node("limit", scan, rows=20.0), text, indexes={"recipes": (key,)})
        )
        assert (finding.advice is not None) == is_advised
        assert ("read its rows by key" in (finding.to_try or "")) == is_advised


class TestCountedExistence:
    TEXT = "select case when count(*) > 0 then 1 else 0 end from sightings where moth = $1"

    def of(self, text: str = TEXT, rows: float | None = 900.0) -> Case:
        scan = node("index scan", object="sightings", rows=rows, seconds=0.6)
        return run_of(node("aggregate", scan, rows=1.0, seconds=0.2), text)

    @pytest.mark.parametrize(
        "text", [TEXT, "select count(1)>=1 from t", "-- Any?\nselect count( id ) <> 0 from t"]
    )
    def test_one_row_would_do(self, text: str) -> None:
        (finding,) = counted_existence.find(self.of(text))
        assert "counts 900 rows and compares the number with 0" in finding.claim
        assert "exists (select ...)" in (finding.to_try or "")
        assert finding.settle is not None

    def test_where_rows_are_not_counted_the_claim_has_none(self) -> None:
        (finding,) = counted_existence.find(self.of(rows=None))
        assert "counts rows and compares" in finding.claim

    @pytest.mark.parametrize(
        "twin",
        [
            {"text": "select count(*) from sightings where moth = $1"},
            {"text": "select exists (select 1 from sightings where moth = $1)"},
            {"text": "select moth from sightings group by moth having count(*) > 0"},
            {"text": "select count(*) > 10 from sightings"},
            {"text": "select count(*) > 0.5 from sightings"},
            {"text": "-- count(*) > 0\nselect count(*) from sightings"},
            {"rows": 3.0},
        ],
    )
    def test_its_twins_are_silent(self, twin: dict[str, Any]) -> None:
        assert counted_existence.find(self.of(**twin)) == []


class TestRunningTotal:
    TEXT = (
        "select e.id, (select sum(b.cents) from entries b where b.purse = e.purse and b.id <= e.id)"
        " from entries e"
    )
    EACH = "purse = entries.purse; filter entries.id <= entries.id"

    def of(
        self,
        text: str = TEXT,
        table: str = "entries",
        condition: str | None = EACH,
        loops: float = 2000.0,
        read: float = 4e5,
    ) -> Case:
        inner = node(
            "index scan",
            object=table,
            condition=condition,
            rows=read,
            removed_rows=read,
            loops=loops,
            seconds=0.9,
        )
        outer = node("index scan", object="entries", rows=loops, loops=1.0, seconds=0.1)
        return run_of(replace(outer, children=(node("subquery", inner, loops=loops),)), text)

    def test_each_row_reads_all_rows_before_it(self) -> None:
        (finding,) = range_join.find(self.of())
        assert "a subquery for each of 2 k rows of entries" in finding.claim
        assert "800 k rows of the same table in total, 400 each time" in finding.claim
        assert finding.effect_share == pytest.approx(0.9)
        assert (finding.to_try or "").startswith("for a sum over a range, use a window function")
        assert "`assay try a-run range-join:q1` measures it" in (finding.to_try or "")
        assert finding.advice == Advice("window-function", "q1", {}, finding.effect_share)

    @pytest.mark.parametrize(
        "twin",
        [
            {"condition": "purse = entries.purse"},
            {"table": "purses"},
            {"text": "select id from entries e where exists (select 1 from entries b)"},
            {"loops": 1.0},
            {"read": 2000.0},
        ],
        ids=["no range", "other table", "no aggregate", "once", "few rows"],
    )
    def test_its_twins_are_silent(self, twin: dict[str, Any]) -> None:
        assert range_join.find(self.of(**twin)) == []


class TestJsonPerRow:
    TEXT = (
        "select manifest::json ->> 'harbour', sum((manifest::json ->> 'grams')::int) from crates"
        " group by 1"
    )

    def of(self, text: str = TEXT, rows: float = 24e3, seconds: float = 0.16) -> Case:
        scan = node("scan", object="crates", rows=rows, seconds=seconds)
        return run_of(node("aggregate", scan, rows=80.0, seconds=seconds), text)

    @pytest.mark.parametrize("functions", [{}, {"rate_of": (1.0, 0.0)}])
    def test_documents_are_parsed_for_each_row(self, functions: dict[str, Any]) -> None:
        (finding,) = function_per_row.find(replace(self.of(), functions=functions))
        assert "computes manifest::json ->> 'harbour', manifest::json ->> 'grams'" in finding.claim
        assert "for 24 k rows" in finding.claim
        assert finding.effect_share == pytest.approx(1.0)

    def test_a_function_reads_them_too(self) -> None:
        text = "select json_extract(doc, '$.a'), count(*) from crates group by 1"
        (finding,) = function_per_row.find(self.of(text))
        assert "computes json_extract(doc, '$.a') for" in finding.claim

    @pytest.mark.parametrize(
        "twin",
        [
            {"text": "select harbour, sum(grams) from crates group by 1"},
            {"text": "-- manifest ->> 'harbour'\nselect harbour from crates group by 1"},
            {"rows": 900.0},
            # Rows that take so little cannot have been parsed.
            {"seconds": 0.004},
        ],
        ids=["columns", "remark", "few rows", "quick"],
    )
    def test_its_twins_are_silent(self, twin: dict[str, Any]) -> None:
        assert function_per_row.find(self.of(**twin)) == []
