"""Joins that compute an expression for each pair of rows, and joins that find their rows."""

from __future__ import annotations

from typing import Any

import pytest

from assay.analysis.findings.joins import expression_join
from assay.analysis.findings.joins.pair_condition import pair_condition
from assay.model.finding import Finding
from assay.model.plan import Reads
from tests.cases import case, node, operation, plan, plans

BEGINNING = "starts_with(number, prefix)"
JOIN = "select count(*) from calls c join zones z on "


def found(condition: str | None = BEGINNING, operator: str = "nested loop", **facts: Any) -> Any:
    """30,000 calls are each compared with 400 zones."""
    grammar = facts.pop("grammar", "duckdb")
    outer = node("scan", object="calls", rows=facts.pop("calls", 30_000.0), seconds=0.0)
    inside = {"condition": facts.pop("key", None), "loops": facts.pop("loops", None)}
    rows, removed = facts.pop("zones", 400.0), facts.pop("removed", None)
    scan = {"object": "zones", "rows": rows, "removed_rows": removed, "seconds": 0.1}
    inner = node(facts.pop("inner", "scan"), **scan, **inside)
    about: dict[str, Any] = {"rows": 30_000.0, "seconds": 0.9, "condition": condition} | facts
    root = node(operator, outer, inner, **about)
    return evaluated(root, grammar, execution_s=1.0)


def evaluated(root: Any, grammar: str, **facts: Any) -> list[Finding]:
    joined = operation(overrides={"seconds": 1.0})
    return expression_join.find(case(joined, plans=plans(plan(root, **facts)), grammar=grammar))


@pytest.mark.parametrize(
    "condition",
    [
        BEGINNING,
        "(number ~~ concat(prefix, '%'))",
        '("left"(number, length(prefix)) = prefix)',
        "(abs((seconds - cents)) <= 1)",
    ],
)
def test_an_expression_for_each_pair_is_a_cause(condition: str) -> None:
    (finding,) = found(condition)
    assert finding.effect_share == pytest.approx(1.0)
    assert "compares 12 M pairs of rows to return 30 k" in finding.claim
    assert finding.settle is None
    assert "equality" in (finding.to_try or "")


@pytest.mark.parametrize(
    ("condition", "grammar"),
    [
        ("filter ((c.number)::text ~~ concat(z.prefix, '%'))", "postgres"),
        ("filter ((c.number)::text ~~ ((z.prefix)::text || '%'::text))", "postgres"),
        ("filter (abs((c.seconds - z.cents)) <= 1)", "postgres"),
        ("filter (c.number like concat(z.prefix,'%'))", "mysql"),
    ],
)
def test_pairs_that_a_plan_counts_are_compared(condition: str, grammar: str) -> None:
    (finding,) = found(condition, removed_rows=1e6, rows=9e3, loops=30_000, grammar=grammar)
    assert "compares 1.01 M pairs of rows to return 9 k" in finding.claim
    assert finding.settle is None


def test_a_condition_at_the_inner_scan_is_read() -> None:
    key = "filter c.number like concat(z.prefix,'%')"
    (finding,) = found(None, key=key, zones=30e3, removed=12e6, loops=30_000, grammar="mysql")
    assert "compares 12 M pairs of rows" in finding.claim


def filtered(
    condition: str = "(c.number like concat(z.prefix,'%'))", key: str | None = None
) -> Any:
    """MySQL joins all pairs, and a filter compares them."""
    scans = [node("scan", object=name, rows=rows) for name, rows in (("c", 3e4), ("z", 400.0))]
    crossed = node("hash join", *scans, rows=12e6, seconds=0.4, condition=key)
    root = node("filter", crossed, rows=3e4, removed_rows=11.97e6, seconds=0.5, condition=condition)
    return evaluated(root, "mysql")


def test_a_filter_on_all_pairs_compares_them() -> None:
    (finding,) = filtered()
    assert "compares 12 M pairs of rows to return 30 k" in finding.claim
    assert finding.effect_share == pytest.approx(1.0)


def test_a_filter_on_other_joins_is_silent() -> None:
    assert filtered(key="(c.zone = z.id)") == []
    assert filtered("(c.amount < z.amount)") == []


@pytest.mark.parametrize(
    "facts",
    [
        {"condition": "(text ~~ concat('%', word, '%'))"},
        {"condition": "(levenshtein(name, name) < 2)"},
        {"rows": 1e6},
    ],
    ids=["anywhere", "function", "many match"],
)
def test_without_a_plain_equality_it_is_suspected(facts: dict[str, Any]) -> None:
    (finding,) = found(**facts)
    assert finding.settle is not None


@pytest.mark.parametrize(
    "twin",
    [
        # An equality or an inequality of one side with the other finds the rows.
        {"condition": "(lower(c.mail) = lower(z.mail)) AND starts_with(c.number, z.prefix)"},
        {"condition": "(c.seconds >= z.low) AND (c.seconds < z.high)"},
        {"condition": "(c.seconds >= (z.low - 5))"},
        {"condition": "((phone = phone) OR (mail = mail))"},
        # One side alone is compared, or an index of another kind finds the pairs.
        {"condition": "starts_with(c.number, '100')"},
        {"condition": "(st_distance(c.place, z.place) < 10)"},
        {"condition": "(c.spans && z.spans)"},
        {"condition": "this is ( no condition"},
        {"condition": None},
        # A hash table or an index finds the rows.
        {"operator": "hash join"},
        {"inner": "index scan", "key": "prefix = left(c.number, 3)"},
        # Few pairs, or most of them are wanted.
        {"calls": 200.0, "rows": 200.0},
        {"rows": 6e6},
    ],
)
def test_its_twins_are_silent(twin: dict[str, Any]) -> None:
    assert found(**twin) == []


class TestWithoutCountedRows:
    """SQLite counts the rows that a statement reads, and tells no conditions."""

    def of(self, condition: str, read: float = 12e6, inner: str = "scan") -> list[Finding]:
        scans = [node("scan", object="calls"), node(inner, object="zones", condition=None)]
        reads = Reads("steps of scans", scan_rows=read)
        text = JOIN + condition
        return evaluated(node("nested loop", *scans), "sqlite", text=text, reads=reads)

    def test_the_statement_has_the_condition(self) -> None:
        (finding,) = self.of("c.number like z.prefix || '%'")
        assert "c.number LIKE z.prefix || '%'" in finding.claim
        assert finding.effect_share == pytest.approx(1.0)
        assert finding.settle is not None

    @pytest.mark.parametrize(
        ("condition", "read"),
        [
            ("c.zone = z.id", 12e6),
            ("c.number between z.low and z.high", 12e6),
            ("c.number like z.prefix || '%' and c.day = z.day", 12e6),
            ("c.number like z.prefix || '%'", 9e3),
            ("c.number like z.prefix || '%' join others o on o.id = c.id", 12e6),
        ],
    )
    def test_its_twins_are_silent(self, condition: str, read: float) -> None:
        assert self.of(condition, read) == []


@pytest.mark.parametrize(
    ("condition", "kind"),
    [
        ("instr(a.text, b.word) > 0", "other"),
        ("a.x - b.x between -5 and 5", "distance"),
        ("substr(a.text, 1, length(b.word)) = b.word", "beginning"),
        ("substr(a.text, b.start, 2) = b.word", "other"),
        ("a.text like concat(b.word, '%') escape '!'", "beginning"),
        ("not (a.text like b.word)", "other"),
        ("(a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) < 9", "distance"),
        ("abs(date_diff('minute', a.at, b.at)) <= 5", "distance"),
        ("list_contains(a.tags, b.tag)", "other"),
        ("b.tag = any(string_to_array(a.tags, ','))", "other"),
    ],
)
def test_kinds_of_conditions(condition: str, kind: str) -> None:
    read = pair_condition(condition, "duckdb")
    assert read is not None
    assert read.kind == kind
