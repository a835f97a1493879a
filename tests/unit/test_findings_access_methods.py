"""Indexes of other access methods than btree, for conditions as PostgreSQL's plans write them."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.changing import change_of
from assay.analysis.findings.indexes import missing_index
from assay.model.catalogue import Index
from assay.model.finding import Advice
from tests.cases import ADVICE, case, node, operation, plan, plans

FOLDER = Path(missing_index.__file__).parents[3] / "engines" / "postgresql"
DECLARED = tomllib.loads((FOLDER / "advice.toml").read_text(encoding="utf-8"))
SEARCHES = {"searches": DECLARED["searches"], "expressions": True}
BODY = (Index("docs", "docs_pkey", ("id",), method="btree"),)


def scanned(condition: str, **fields: Any) -> Case:
    """A scan of 200,000 documents that keeps 100 of them."""
    scan = node("scan", object="docs", condition=condition, seconds=1.0)
    object.__setattr__(scan, "rows", 100.0)
    object.__setattr__(scan, "removed_rows", 199900.0)
    known: dict[str, Any] = {
        "indexes": {"docs": BODY},
        "advice": ADVICE | SEARCHES,
        "extensions": {"pg_trgm": True},
    }
    return case(operation(overrides={"seconds": 1.0}), plans=plans(plan(scan)), **(known | fields))


REMOVES: dict[str, Any] = {"rows": 0.0, "removed_rows": 100_000.0, "seconds": 1.0}

SERVED = [
    ('docs.body @> \'{"kind": "k17"}\'::jsonb', '"body" jsonb_path_ops', "gin"),
    ("docs.body ? 'zz'::text", '"body"', "gin"),
    ("docs.body ?| '{a,b}'::text[]", '"body"', "gin"),
    ("docs.tags @> '{t55}'::text[]", '"tags"', "gin"),
    ("docs.tags && '{t55,t56}'::text[]", '"tags"', "gin"),
    (
        "to_tsvector('english'::regconfig, docs.txt) @@ '''word77'''::tsquery",
        "(to_tsvector('english'::regconfig, txt))",
        "gin",
    ),
    ("docs.body @@ '($.\"size\" == 1000)'::jsonpath", '"body" jsonb_path_ops', "gin"),
    ("docs.span && '[2024-01-01,2024-02-01)'::daterange", '"span"', "gist"),
    ("docs.span @> 77", '"span"', "gist"),
    ("docs.txt ~~ 'abc12%'::text", '"txt" text_pattern_ops', "btree"),
    ("docs.txt ~~ '%word2017%'::text", '"txt" gin_trgm_ops', "gin"),
    ("(docs.name)::text ~~* '%d3f1%'::text", '"name" gin_trgm_ops', "gin"),
    ("lower(docs.txt) ~ 'and or 12'::text", "(lower(txt)) gin_trgm_ops", "gin"),
]


@pytest.mark.parametrize(("condition", "key", "method"), SERVED)
def test_an_operator_has_the_index_that_serves_it(condition: str, key: str, method: str) -> None:
    (finding,) = missing_index.find(scanned(f"filter ({condition})"))
    assert finding.advice is not None
    assert finding.advice.values["expression"] == key
    assert finding.advice.values["method"] == method
    assert f"using {method} ({key}), because" in (finding.to_try or "")
    is_pattern = key.endswith("gin_trgm_ops")
    assert (finding.settle is not None) is is_pattern
    assert {"plan", "catalogue"} == set(finding.witnesses)


@pytest.mark.parametrize(
    "condition",
    [
        "docs.body @@ '($.\"size\" > 1000)'::jsonpath",
        "docs.body @> $1",
        "docs.body @> other.body",
        "docs.txt ~~ '%ab%'::text",
        "docs.txt !~~ '%abc%'::text",
        "(docs.txt ~~ '%abc%'::text) OR (docs.n = 1)",
        "docs.n <> 5",
        "docs.tags <@ '{t55}'::text[]",
    ],
)
def test_other_conditions_have_no_such_index(condition: str) -> None:
    for finding in missing_index.find(scanned(f"filter ({condition})")):
        assert finding.advice is None
        assert finding.settle is not None


def test_a_comparison_for_equality_needs_the_default_index() -> None:
    (finding,) = missing_index.find(scanned("filter (docs.code = 'C77 @> x'::text)"))
    assert finding.advice is not None
    assert dict(finding.advice.values) == {"columns": "code"}
    assert finding.settle is None


def test_elements_of_an_array_are_no_expression_of_an_index() -> None:
    (finding,) = missing_index.find(scanned("filter ('t55'::text = ANY (docs.tags))"))
    assert finding.advice is None
    assert finding.settle is not None
    assert "write `tags @> array['t55']`" in (finding.to_try or "")
    assert "create an index of docs using gin (tags)" in (finding.to_try or "")


def test_an_index_of_the_elements_serves_the_statement_in_another_form() -> None:
    condition = "filter (('t55'::text = ANY (docs.tags)) AND ('t7'::text = ANY (docs.tags)))"
    indexes = {"docs": (Index("docs", "i", ("tags",), method="gin"),)}
    (finding,) = missing_index.find(replace(scanned(condition), indexes=indexes))
    assert finding.advice is not None
    assert (finding.advice.kind, finding.advice.subject) == ("array-element", "q1")
    to_try = finding.to_try or ""
    assert "`tags @> array['t55']` and `tags @> array['t7']` instead of `= any (tags)`" in to_try
    assert "create" not in to_try


def test_other_conditions_beside_an_element_get_no_advice_on_elements() -> None:
    condition = "filter (('t55'::text = ANY (docs.tags)) AND (length(docs.body) = 3))"
    (finding,) = missing_index.find(scanned(condition))
    assert "@>" not in (finding.to_try or "")


@pytest.mark.parametrize(
    ("index", "is_missing"),
    [
        (Index("docs", "i", ("body",), method="gin"), False),
        (Index("docs", "i", ("body",), method="gin", collation="jsonb_path_ops"), False),
        (Index("docs", "i", ("body",), method="gin", collation="my_ops"), True),
        (Index("docs", "i", ("body",), method="btree"), True),
        (Index("docs", "i", ("tags",), method="gin"), True),
        (Index("docs", "i", ("body",), method="gin", predicate="(id < 9)"), True),
    ],
)
def test_an_index_that_exists_is_not_proposed(index: Index, *, is_missing: bool) -> None:
    condition = "filter (docs.body @> '{}'::jsonb)"
    findings = missing_index.find(scanned(condition, indexes={"docs": (index,)}))
    assert any(finding.advice is not None for finding in findings) is is_missing


@pytest.mark.parametrize(
    ("extensions", "begin"),
    [({"pg_trgm": False}, "create extension pg_trgm, then create"), ({}, "install pg_trgm, then")],
)
def test_a_missing_extension_is_named_and_not_tried(
    extensions: dict[str, bool], begin: str
) -> None:
    run_case = scanned("filter (docs.txt ~~ '%word%'::text)", extensions=extensions)
    (finding,) = missing_index.find(run_case)
    assert finding.advice is None
    assert (finding.to_try or "").startswith(begin)


BY_CLASS = {"expression": '"body" jsonb_path_ops', "method": "gin", "schema": "shop"}


@pytest.mark.parametrize(
    ("values", "name", "key"),
    [
        (
            BY_CLASS,
            "assay_docs_body_jsonb_path_ops_097eb816",
            '"shop"."docs" using gin ("body" jsonb_path_ops)',
        ),
        ({"columns": "code"}, "assay_docs_code", '"docs" ("code")'),
    ],
)
def test_the_statement_names_the_access_method(values: dict[str, str], name: str, key: str) -> None:
    texts = {
        file: (FOLDER / file).read_text(encoding="utf-8")
        for file in ("conf/advice/index_running.sql", "conf/advice/index_undo.sql")
    }
    change = change_of(Advice("index", "docs", values), DECLARED | {"sql": texts})
    assert change is not None
    assert change.sql == f'create index concurrently "{name}" on {key};'


def test_conditions_of_computed_values_have_an_index_each() -> None:
    """An index of one of them does not serve the other."""
    conditions = {
        "q1": "(docs.id + 0) = 77",
        "q2": "NOT (docs.txt IS DISTINCT FROM 'x'::text)",
        "q3": "(docs.id + 0) = 78",
    }
    scans = [
        plan(node("scan", object="docs", condition=f"filter ({condition})", **REMOVES), name)
        for name, condition in conditions.items()
    ]
    run_case = case(
        *(operation(name, 1 / 3, overrides={"seconds": 1.0}) for name in conditions),
        plans=plans(*scans),
        indexes={"docs": ()},
        advice=ADVICE | SEARCHES | {"expressions": True},
    )
    findings = missing_index.find(run_case)
    advised = {finding.operations: finding.advice for finding in findings}
    assert set(advised) == {("q1", "q3"), ("q2",)}
    assert advised[("q2",)] is None
    (index,) = [advice for advice in advised.values() if advice is not None]
    assert index.values["expression"].replace(" ", "") in {"(id+0)", "((id+0))"}


@pytest.mark.parametrize(("name", "is_told"), [("docs", True), ("<derived2>", False)])
def test_the_result_of_a_subquery_has_no_index(name: str, *, is_told: bool) -> None:
    scan = node("scan", object=name, condition=f"filter ({name}.code = 'C77')", **REMOVES)
    run_case = case(
        operation(overrides={"seconds": 1.0}), plans=plans(plan(scan)), advice=ADVICE | SEARCHES
    )
    assert bool(missing_index.find(run_case)) is is_told
