"""MySQL without a server: settings and plans."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from assay.analysis.plans.work import work_of
from assay.engines.discovery import find_engine
from assay.engines.mysql.plans import normalised
from assay.engines.mysql.server import CONF
from assay.engines.mysql_family.configuration import read_configuration
from assay.model.plan import OPERATORS, Plan

NATIVE = Path(__file__).parents[1] / "native_plans" / "mysql"


def plan(name: str) -> Plan:
    return normalised((NATIVE / f"{name}.json").read_text("utf-8"), name, 0, f"{name}.json")


class TestSettings:
    def test_every_setting_of_ours_has_a_reason_beside_it(self) -> None:
        for name in ("run.cnf", "load.cnf"):
            lines = (CONF / name).read_text("utf-8").splitlines()
            assert read_configuration(CONF / name)
            said = [text for text, two in itertools.pairwise(lines) if "=" in two]
            assert all(text.startswith("#") or "=" in text for text in said)

    @pytest.mark.parametrize("name", ["mysql", "mariadb"])
    def test_what_a_run_begins_with_is_fully_durable(self, name: str) -> None:
        folder = find_engine(name)
        run = read_configuration(folder.folder / "conf" / "run.cnf")
        full = folder.facts.durability["full"].settings
        # What is not said is the product's default, and the same.
        assert {key: value for key, value in full.items() if key in run} == {
            key: run[key] for key in full if key in run
        }


class TestPlans:
    @pytest.mark.parametrize("name", [file.stem for file in sorted(NATIVE.glob("*.json"))])
    def test_each_is_a_tree_of_known_operators(self, name: str) -> None:
        made = plan(name)
        operators = {node.operator for node in made.root.walk()}
        assert operators <= set(OPERATORS) - {"other"}
        assert Plan.read(made.facts()) == made
        if made.timed and made.seconds is not None and made.execution_s is not None:
            assert made.seconds <= made.execution_s * 1.5

    def test_tables_that_are_read_while_planning_have_index_and_columns(self) -> None:
        root = plan("tpcc-customer").root
        assert root.native == "Rows fetched before execution"
        customer, warehouse = root.children
        assert (customer.object, customer.index, customer.operator) == (
            "customer",
            "PRIMARY",
            "index scan",
        )
        assert customer.columns == ("c_id", "c_d_id", "c_w_id", "c_last", "c_credit", "c_discount")
        assert (warehouse.object, warehouse.columns) == ("warehouse", ("w_id", "w_tax"))

    def test_a_change_of_joined_tables_stands_above_the_join(self) -> None:
        root = plan("tpcc-update-stock").root
        assert (root.operator, root.object) == ("modify", "stock")
        (join,) = root.children
        line, stock = join.children
        assert (line.operator, line.object) == ("scan", "line")
        assert {node.operator for node in line.walk()} >= {"materialize", "set operation"}
        assert (stock.index, stock.columns[-1] if stock.columns else "") == (
            "PRIMARY",
            "s_remote_cnt",
        )

    def test_a_derived_table_with_a_window_has_rows_times_and_kinds_of_work(self) -> None:
        times = {"actual_loops": 1, "actual_rows": 300.0}
        scan = times | {"access_type": "table", "table_name": "e", "actual_last_row_ms": 10.0}
        window = times | {"access_type": "window", "actual_last_row_ms": 30.0, "inputs": [scan]}
        made = {"access_type": "materialize", "actual_last_row_ms": 90.0, "inputs": [window]}
        look_up = {"access_type": "index", "table_name": "r", "actual_rows": 1.0}
        look_up |= {"actual_loops": 20, "actual_last_row_ms": 5.0, "inputs": [times | made]}
        root = normalised(json.dumps({"query_plan": look_up}), "q1", 0, "q1.json").root
        (filled,) = root.children
        assert (root.operator, root.object, root.rows) == ("index scan", "r", 20.0)
        assert (filled.operator, filled.rows, filled.seconds) == ("materialize", 300.0, 0.06)
        assert [work_of(node) for node in filled.walk()] == ["aggregate", "window", "scan"]

    def test_parts_that_are_appended_are_one_set(self) -> None:
        root = plan("tpcc-oldest").root
        assert (root.operator, len(root.children)) == ("set operation", 10)
        assert root.children[0].children[0].children[0].columns == ("no_o_id", "no_d_id", "no_w_id")

    def test_rows_are_of_all_loops(self) -> None:
        part = next(node for node in plan("q02").root.walk() if node.object == "part")
        assert (part.operator, part.rows, part.loops) == ("scan", 4, 1)
        supply = next(node for node in plan("q02").root.walk() if node.object == "partsupp")
        assert (supply.index, supply.loops, supply.rows) == ("PRIMARY", 4, 16)
        assert supply.condition == "ps_partkey = part.p_partkey"

    def test_filters_say_what_they_removed(self) -> None:
        nodes = [node for node in plan("q02").root.walk() if "'%BRASS'" in str(node.condition)]
        assert [(node.operator, node.rows, node.removed_rows) for node in nodes] == [
            ("scan", 4, 1996)
        ]

    def test_subqueries_stand_apart(self) -> None:
        assert any(node.operator == "subquery" for node in plan("q02").root.walk())

    def test_a_change_stands_above_what_it_reads(self) -> None:
        made = plan("update")
        assert (made.root.operator, made.root.native, made.timed) == ("modify", "update", False)
        (read,) = made.root.children
        assert (read.object, read.index, read.estimated_rows) == ("nation", "PRIMARY", 1)

    def test_what_only_inserts_names_its_table(self) -> None:
        (node,) = plan("insert").root.walk()
        assert (node.native, node.object) == ("insert", "region")

    @pytest.mark.parametrize("text", ["[]", "{}", '{"query_plan": 1}', "nonsense"])
    def test_other_words_are_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"."):
            normalised(text, "q", 0, "q.json")
