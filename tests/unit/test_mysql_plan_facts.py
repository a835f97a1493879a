"""Facts of the catalogue of MySQL and MariaDB, and plans whose filter is the table's own."""

from __future__ import annotations

import json
from typing import Any

from assay.analysis.findings.indexes.conditions import indexable
from assay.engines.mysql.plans import normalised
from assay.engines.mysql_family.plan_facts import SWITCH, changed_of, collations_of, indexes_of
from assay.model.catalogue import ChangedSetting, Collation, Index

TOLD = {
    "query_plan": {
        "access_type": "filter",
        "operation": "Filter: ((b.v = 7) and (b.t like '%x%'))",
        "condition": "((b.v = 7) and (b.t like '%x%'))",
        "actual_rows": 5.0,
        "actual_loops": 1,
        "estimated_rows": 6.9,
        "actual_last_row_ms": 3.0,
        "inputs": [
            {
                "access_type": "table",
                "operation": "Table scan on b",
                "table_name": "b",
                "actual_rows": 625.0,
                "actual_loops": 1,
                "estimated_rows": 625.0,
                "actual_last_row_ms": 2.0,
            }
        ],
    }
}


def test_key_columns_of_an_index_stand_in_order() -> None:
    rows = [
        ("b", "bk", "k", 1, 1, "btree", "int", None, None, "s", "desc"),
        ("b", "bk", "v", 1, 1, "btree", "varchar", None, None, "s", "asc"),
        (
            "b",
            "hidden",
            "(v + 1)",
            0,
            0,
            "btree",
            None,
            "invisible",
            "alter ...",
            "s",
            "asc",
        ),
        ("b", "bk", "w", 1, 1, "btree", "int", None, None, "t", "asc"),
    ]
    key: dict[str, Any] = {"unique": True, "method": "btree"}
    hidden: dict[str, Any] = {"valid": False, "state": "invisible", "mend": "alter ..."}
    assert indexes_of(rows) == [
        Index(
            *("b", "bk", ("k", "v")),
            types=("int", "varchar"),
            schema="s",
            directions=("desc", "asc"),
            **key,
        ),
        Index(
            *("b", "hidden", ("(v + 1)",)),
            types=("",),
            method="btree",
            schema="s",
            directions=("asc",),
            **hidden,
        ),
        Index("b", "bk", ("w",), types=("int",), schema="t", directions=("asc",), **key),
    ]


def test_collations_are_those_of_the_first_schema_with_a_table() -> None:
    rows = [
        ("shop", "towns", "town", "utf8mb3_bin", 5),
        ("shop", "towns", "state", "latin1_swedish_ci", 2),
        ("other", "towns", "town", "utf8mb4_bin", 7),
    ]
    assert collations_of(rows) == {
        "towns": {
            "town": Collation("utf8mb3_bin", 5),
            "state": Collation("latin1_swedish_ci", 2),
        }
    }


def test_only_flags_that_differ_are_changed() -> None:
    rows = [
        (SWITCH, "mrr=on,semijoin=on,hash_join=off", "mrr=on,semijoin=on,hash_join=on"),
        ("join_buffer_size", "262144", "262144"),
        ("join_cache_level", "0", "2"),
    ]
    assert changed_of(rows) == [
        ChangedSetting(SWITCH, "hash_join=off", "hash_join=on"),
        ChangedSetting("join_cache_level", "0", "2"),
    ]


def test_a_switch_as_it_is_built_is_not_changed() -> None:
    assert changed_of([(SWITCH, "mrr=on", "mrr=on")]) == []


def test_a_filter_above_a_table_is_the_condition_of_its_scan() -> None:
    root = normalised(json.dumps(TOLD), "q", 0, "q.json").root
    assert (root.operator, root.object, root.native) == ("scan", "b", "Table scan")
    assert (root.rows, root.removed_rows, root.estimated_rows) == (5, 620, 6.9)
    assert root.seconds is not None
    assert abs(root.seconds - 0.003) < 1e-9
    assert indexable(root.condition, "b") == ("v",)


def test_an_expression_that_is_computed_once_is_a_value() -> None:
    condition = "filter (t.pad = <cache>(concat('x',8123,'y')))"
    assert indexable(condition, "t") == ("pad",)
    assert indexable("filter (t.pad = concat('x',t.k))", "t") == ()


def test_a_limit_stops_no_operator_below_a_sort() -> None:
    scan = TOLD["query_plan"]["inputs"][0]
    ordered = {"access_type": "sort", "sort_fields": ["v"], "actual_rows": 5.0, "inputs": [scan]}
    limited = {"access_type": "limit", "actual_rows": 5.0, "inputs": [ordered]}
    root = normalised(json.dumps({"query_plan": limited}), "q", 0, "q-0.json").root
    assert [(node.operator, node.cut_short) for node in root.walk()] == [
        ("limit", False),
        ("sort", True),
        ("scan", False),
    ]
