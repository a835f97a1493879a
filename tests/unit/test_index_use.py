"""Why an index is not used, by the conditions that plans have."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.analysis.findings.indexes import missing_index
from assay.analysis.findings.indexes.conditions import indexable
from assay.analysis.findings.indexes.index_use import Unused, unused_advice, unused_index
from assay.analysis.findings.plans.plan_time import timed_nodes
from assay.model.catalogue import Alternative, Index
from assay.model.finding import Advice
from tests.truths import hidden

INDEX = Index("lines", "lines_line", ("line",))


POSTGRESQL = "$column text_pattern_ops"


def reason(
    condition: str,
    index: Index = INDEX,
    *others: Alternative,
    prefix_key: str | None = POSTGRESQL,
) -> Unused | None:
    case = replace(
        hidden(0.7, condition),
        indexes={"lines": (index,)},
        alternatives={"q1": others},
        advice={"prefix_key": prefix_key},
    )
    (scan,) = [timed for timed in timed_nodes(case) if timed.node.operator == "scan"]
    return unused_index(case, scan)


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        ("filter (lower(lines.line) = $1)", "calls a function of line: lower(lines.line)"),
        (
            "(upper(substr(line, 1, 2)) = 'AB'::text)",
            "calls a function of line: upper(substr(line, 1, 2))",
        ),
        ("((lines.line)::text = '7'::text)", "converts line: (lines.line)::text"),
        ("((line)::numeric = 7.0)", "converts line: (line)::numeric"),
        (
            "filter (line ~~ 'abc%'::text)",
            "the index is not in byte order, which a comparison of line",
        ),
    ],
)
def test_what_hides_a_column_is_named(condition: str, why: str) -> None:
    unused = reason(condition)
    assert unused is not None
    assert why in unused.why


@pytest.mark.parametrize(
    ("condition", "key"),
    [
        ("filter (lower(lines.line) = $1)", "(lower(line))"),
        ("(lower(`shop`.`lines`.`line`) = 'x')", "(lower(`line`))"),
        ("(strftime('%Y.m', line, 'a.b') = '7')", "(strftime('%Y.m', line, 'a.b'))"),
        ("((lines.line)::text = '7'::text)", "((line)::text)"),
        ("filter (line ~~ 'abc%'::text)", "line text_pattern_ops"),
        # What comes with each execution is no part of an index.
        ("filter (substr(line, $1) = 'x')", None),
    ],
)
def test_an_index_that_serves_the_condition_can_be_tried(condition: str, key: str | None) -> None:
    unused = reason(condition)
    assert unused is not None
    assert unused.key == key
    of_engine = replace(hidden(0.7, condition), advice={"expressions": True})
    advice = unused_advice(of_engine, unused, "q", 0.5)
    assert (advice.values if advice else None) == ({"expression": key} if key else None)
    assert unused_advice(replace(of_engine, advice={}), unused, "q", 0.5) is None


# An engine whose `like` ignores case unless a setting says otherwise.
FOLDING = {
    "prefix_key": "$column collate binary",
    "ignoring_case": {
        "setting": "case_sensitive_like",
        "value": "off",
        "prefix_key": "$column collate nocase",
        "instead": "`$column glob 'abc*'`",
    },
}
LIKE, GLOB = "(line LIKE 'abc%')", "(line GLOB 'abc*')"


def folding_reason(condition: str, switch: str | None, *collations: str) -> Unused | None:
    """Return why a scan uses no index of such an engine, with indexes in these collations."""
    indexes = tuple(
        replace(INDEX, name=f"lines_{collation}", collations=(collation,))
        for collation in collations
    )
    case = replace(
        hidden(0.7, condition),
        indexes={"lines": indexes},
        advice=FOLDING,
        settings={} if switch is None else {"case_sensitive_like": switch},
    )
    (scan,) = [timed for timed in timed_nodes(case) if timed.node.operator == "scan"]
    return unused_index(case, scan)


@pytest.mark.parametrize(
    ("condition", "switch", "collation", "key"),
    [
        (LIKE, "off", "binary", "line collate nocase"),
        # Without the setting, the engine's default applies.
        (LIKE, None, "binary", "line collate nocase"),
        (LIKE, "on", "nocase", "line collate binary"),
        # This operator never ignores case.
        (GLOB, "off", "nocase", "line collate binary"),
    ],
)
def test_an_index_that_serves_a_prefix_treats_case_as_the_comparison_does(
    condition: str, switch: str | None, collation: str, key: str
) -> None:
    unused = folding_reason(condition, switch, collation)
    assert unused is not None
    assert unused.key == key
    assert unused.to_try.startswith(f"an index of lines ({key})")
    assert ("ignores case (case_sensitive_like is off)" in unused.why) is key.endswith("nocase")
    assert unused.settle is None


@pytest.mark.parametrize(
    ("condition", "switch", "collations"),
    [
        (LIKE, "off", ("nocase",)),
        (LIKE, "off", ("binary", "nocase")),
        (LIKE, "on", ("binary",)),
        (GLOB, "off", ("binary",)),
        ("(line LIKE '%abc')", "off", ("binary",)),
        ("(line GLOB '[ab]c*')", "off", ("nocase",)),
    ],
)
def test_another_index_for_a_prefix_is_not_advised_beside_one_that_serves_it(
    condition: str, switch: str, collations: tuple[str, ...]
) -> None:
    assert folding_reason(condition, switch, *collations) is None


def test_a_prefix_of_digits_needs_a_column_of_type_text() -> None:
    unused = folding_reason("(line LIKE '12%')", "off", "binary")
    assert unused is not None
    assert unused.settle is not None
    assert "declared type of line" in unused.settle


@pytest.mark.parametrize("collation", ["text_pattern_ops", "varchar_pattern_ops", "C"])
def test_an_index_in_byte_order_serves_a_prefix(collation: str) -> None:
    index = replace(INDEX, collation=collation)
    assert reason("filter (line ~~ 'abc%'::text)", index) is None
    # An index on the column in another collation does not.
    assert reason("filter (line ~~ 'abc%'::text)", replace(INDEX, collation="de_DE")) is not None


def test_a_prefix_of_a_function_of_the_column_is_a_function_call() -> None:
    unused = reason("filter (lower(line) ~~ 'abc%'::text)")
    assert unused is not None
    assert "calls a function of line" in unused.why


def test_where_any_index_serves_a_prefix_it_is_not_what_hides_the_column() -> None:
    assert reason("filter line like 'abc%'", prefix_key=None) is None


def test_without_indexes_of_expressions_the_expression_is_stored_and_indexed() -> None:
    condition = "(lower(`shop`.`lines`.`line`) = 'x')"
    unused = reason(condition)
    assert unused is not None
    engine = {"statements": {"stored-values": "stored_values.sql"}}
    advice = unused_advice(replace(hidden(0.7, condition), advice=engine), unused, "q", 0.5)
    assert advice == Advice("stored-values", "q", {"indexed": "(lower(`line`))"}, 0.5)


@pytest.mark.parametrize(
    "condition",
    [
        "(lines.line = app_tenant())",
        "filter (line = shop.app_tenant())",
        "(lines.line = (app_tenant())::integer)",
        "(line >= of_setting('lines.begin'::text))",
    ],
)
def test_a_value_that_each_row_computes_is_named(condition: str) -> None:
    unused = reason(condition)
    assert unused is not None
    assert "which is called for each row" in unused.why
    assert "stable" in unused.to_try
    assert unused.settle is not None
    case = replace(hidden(0.7, condition), indexes={"lines": (INDEX,)})
    assert not missing_index.find(case)


@pytest.mark.parametrize(
    "condition",
    [
        # A function of the row has another value for each row.
        "(lines.line = next_line(lines.other))",
        "(lines.line = next_line(other))",
        # An index is searched for the value of these.
        "(lines.line = now())",
        "(lines.line = ANY ('{7,8}'::integer[]))",
        "(lines.line = $1)",
        "(lines.other = app_tenant())",
        "(lines.line <> app_tenant())",
    ],
)
def test_a_value_of_the_statement_is_no_call_for_each_row(condition: str) -> None:
    unused = reason(condition)
    assert unused is None or "called for each row" not in unused.why


@pytest.mark.parametrize(
    "condition",
    [
        "filter (lines.line = 7)",
        "filter (lines.other = 7)",
        "((other)::text = 'line'::text)",
        "filter (line ~~ '%abc'::text)",
        "filter ((line > 7) and (lower(other) = 'a'::text))",
    ],
)
def test_a_condition_that_hides_nothing_has_no_reason(condition: str) -> None:
    assert reason(condition) is None


def test_an_index_that_is_not_valid_is_built_anew() -> None:
    unused = reason("(line = 7)", replace(INDEX, valid=False))
    assert unused is not None
    assert "not valid" in unused.why


def test_an_index_that_would_be_slower_is_rightly_not_used() -> None:
    other = Alternative("q1", 0, "rewrite", "full scans", "off", 9.0, 99.0, True, ("lines_line",))
    slower = replace(other, seconds=1.0, seconds_changed=2.0)
    assert reason("(line = 7)", INDEX, slower) is None
    faster = reason("(line = 7)", INDEX, replace(slower, seconds_changed=0.1))
    assert faster is not None
    assert "estimates it to be more expensive" in faster.why


def test_one_plan_for_all_values_is_another_finding_s() -> None:
    other = Alternative("q1", 0, "custom", "plan_mode", "custom", 9.0, 1.0, True, ("lines_line",))
    faster = replace(other, seconds=1.0, seconds_changed=0.1)
    assert reason("(line = 7)", INDEX, faster) is None


def test_no_index_is_advised_where_one_is_hidden() -> None:
    case = hidden(0.7, "(lower(line) = 'a'::text)")
    assert missing_index.find(case) == []
    assert missing_index.find(replace(case, indexes={"lines": ()})) != []


@pytest.mark.parametrize(
    ("condition", "columns"),
    [
        ("filter (<cache>(orders.id) = lines.line)", ("line",)),
        ("filter (<cache>(orders.id) = other.line)", ()),
        ("filter (orders.id = lines.line)", ()),
    ],
)
def test_a_value_of_another_table_may_stand_before_the_column(
    condition: str, columns: tuple[str, ...]
) -> None:
    assert indexable(condition, "lines") == columns
