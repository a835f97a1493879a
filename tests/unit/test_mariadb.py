"""MariaDB without a server: versions, settings, plans."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from assay.engines.contract import EngineError
from assay.engines.discovery import find_engine
from assay.engines.mariadb.engine import CONF, MariaEngine
from assay.engines.mariadb.plans import normalised
from assay.engines.mysql_family.configuration import read_configuration
from assay.model.plan import OPERATORS, Plan, PlanNode

NATIVE = Path(__file__).parents[1] / "native_plans" / "mariadb"


def read_version(text: str) -> str:
    return MariaEngine(find_engine("mariadb").facts).read_version(text)


class TestServers:
    @pytest.mark.parametrize(
        "version", ["10.11.19-MariaDB-0+deb12u1", "11.4.2-MariaDB", "10.5.0-MariaDB"]
    )
    def test_those_that_can_be_spoken_to(self, version: str) -> None:
        assert read_version(version).count(".") == 2

    @pytest.mark.parametrize("version", ["8.4.3", "10.4.34-MariaDB", "MariaDB"])
    def test_others_are_refused(self, version: str) -> None:
        with pytest.raises(EngineError, match=r"MariaDB 10\.5 and later"):
            assert read_version(version).count(".") == 2

    def test_every_setting_of_ours_has_a_reason_beside_it(self) -> None:
        for name in ("run.cnf", "load.cnf"):
            lines = (CONF / name).read_text("utf-8").splitlines()
            assert read_configuration(CONF / name)
            said = [text for text, two in itertools.pairwise(lines) if "=" in two]
            assert all(text.startswith("#") or "=" in text for text in said)


def plan(name: str) -> Plan:
    return normalised((NATIVE / f"{name}.json").read_text("utf-8"), name, 0, f"{name}.json")


def scans(made: Plan) -> dict[str | None, PlanNode]:
    return {node.object: node for node in made.root.walk() if node.object}


class TestPlans:
    @pytest.mark.parametrize("name", [file.stem for file in sorted(NATIVE.glob("*.json"))])
    def test_each_is_a_tree_of_known_operators(self, name: str) -> None:
        made = plan(name)
        nodes = list(made.root.walk())
        assert {node.operator for node in nodes} <= set(OPERATORS)
        assert Plan.read(made.facts()) == made
        # What operators took is what the query took, but for what runs around them.
        if made.timed and made.seconds is not None and made.execution_s is not None:
            assert made.seconds <= made.execution_s * 1.5

    def test_rows_are_those_that_the_condition_let_through(self) -> None:
        nation = scans(plan("q20"))["nation"]
        assert (nation.operator, nation.rows, nation.removed_rows) == ("scan", 1, 24)
        assert nation.condition is not None
        assert "CANADA" in nation.condition

    def test_joins_have_the_rows_of_all_tables_before(self) -> None:
        made = plan("q02")
        join = next(node for node in made.root.walk() if node.operator == "nested loop")
        assert join.rows == 44
        assert made.root.operator == "sort"
        assert made.root.rows == 44

    def test_indexes_are_named(self) -> None:
        partsupp = scans(plan("q02"))["partsupp"]
        assert (partsupp.operator, partsupp.index) == ("index scan", "PRIMARY")
        assert partsupp.condition == "ps_partkey = part.p_partkey"

    def test_pages_are_bytes(self) -> None:
        region = scans(plan("q02"))["nation"]
        assert region.cached_bytes is not None
        assert region.cached_bytes % 16384 == 0
        assert region.read_bytes == 0

    def test_derived_tables_have_what_fills_them_below(self) -> None:
        derived = scans(plan("q13"))["<derived2>"]
        (made,) = derived.children
        assert made.operator == "materialize"
        assert {node.object for node in made.walk()} >= {"customer", "orders"}

    def test_a_derived_table_with_a_window_has_the_rows_of_its_sort(self) -> None:
        table = {"table_name": "e", "access_type": "ALL", "r_loops": 1, "r_rows": 300.0}
        sort = {"filesort": {"sort_key": "e.day", "r_loops": 1, "r_output_rows": 300}}
        window = {"sorts": [sort], "temporary_table": {"nested_loop": [{"table": table}]}}
        inner = {"query_block": {"r_loops": 1, "window_functions_computation": window}}
        derived = {"table_name": "<derived2>", "access_type": "ref", "key": "key0"}
        derived |= {"r_loops": 20, "r_rows": 1.0, "materialized": inner}
        text = json.dumps({"query_block": {"r_loops": 1, "nested_loop": [{"table": derived}]}})
        look_up = normalised(text, "q1", 0, "q1.json").root
        made, over = list(look_up.walk())[1:3]
        assert (look_up.operator, look_up.rows) == ("index scan", 20.0)
        assert [(node.operator, node.rows) for node in (made, over)] == [
            ("materialize", 300.0),
            ("window", 300.0),
        ]

    def test_subqueries_may_be_cut_short(self) -> None:
        nodes = [node for node in plan("q22").root.walk() if node.operator == "subquery"]
        assert len(nodes) == 2
        orders = scans(plan("q22"))["orders"]
        assert orders.cut_short
        assert orders.loops == 1856

    def test_a_change_stands_above_what_it_reads(self) -> None:
        made = plan("update")
        assert (made.root.operator, made.root.native) == ("modify", "update")
        (read,) = made.root.children
        assert (read.index, read.rows, read.loops) == ("PRIMARY", 1, 1)

    def test_a_table_whose_access_is_chosen_for_each_row_is_shown(self) -> None:
        (scan,) = [node for node in plan("range_checked").root.walk() if node.operator == "scan"]
        assert (scan.object, scan.loops, scan.rows) == ("t", 134, 134)
        assert scan.seconds == pytest.approx(2.62, abs=0.01)

    def test_a_row_that_was_read_while_planning_has_no_count(self) -> None:
        (node,) = plan("constant").root.walk()
        assert (node.native, node.rows, node.loops) == ("const", None, None)

    def test_what_only_inserts_names_its_table(self) -> None:
        (node,) = plan("insert").root.walk()
        assert (node.operator, node.native, node.object) == ("modify", "insert", "history")

    @pytest.mark.parametrize("text", ["[]", "{}", '{"query_block": 1}', "nonsense"])
    def test_other_words_are_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"."):
            normalised(text, "q", 0, "q.json")
