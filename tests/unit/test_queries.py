"""What a text of SQL reads, whether it may change anything, and by what its rows are ordered."""

from __future__ import annotations

import pytest

from assay.workloads.discovery import find_workload
from assay.workloads.queries import ordered_by, reads, why_unrepeatable, with_one_more_row
from assay.workloads.refreshing import refresh_statement

GRAMMAR = "postgres"


class TestReads:
    @pytest.mark.parametrize(
        ("text", "tables"),
        [
            ("select 1", set()),
            ("select * from A, b as x join c on true", {"a", "b", "c"}),
            ("select (select max(n) from t) from u where exists (select 1 from v)", set("tuv")),
            ("with w as (select * from t) select * from w", {"t", "w"}),
            ("(select a from t) union all values (1)", {"t"}),
            ("values (1)", set()),
            ("-- a question\nselect 'delete from x' from t", {"t"}),
        ],
    )
    def test_a_query_reads_its_tables(self, text: str, tables: set[str]) -> None:
        query_reads = reads(text, GRAMMAR)
        assert query_reads is not None
        assert (set(query_reads.tables), query_reads.changes) == (tables, False)

    @pytest.mark.parametrize(
        "text",
        [
            "insert into t select 1",
            "with gone as (delete from t returning *) select * from gone",
            "update t set a = 1",
            "create table x as select 1",
            "select * into y from t",
            "begin; update t set a = 1; commit",
            "select 1; drop table t",
            "select * from t for update",
            "vacuum",
            "truncate t",
        ],
    )
    def test_what_is_more_than_a_query_may_change_something(self, text: str) -> None:
        query_reads = reads(text, GRAMMAR)
        assert query_reads is None or query_reads.changes

    def test_what_is_no_sql_is_not_known(self) -> None:
        assert reads("select ((", GRAMMAR) is None

    def test_queries_of_tpch_change_nothing_and_its_refreshes_do(self) -> None:
        workload = find_workload("tpch")
        texts = {name: workload.statement(name, (), 1).text for name in workload.facts.order}
        assert [name for name, text in texts.items() if reads(text, GRAMMAR).changes] == []  # type: ignore[union-attr]
        for function in workload.facts.refresh_operations:
            text = refresh_statement(workload, function, 1, 1, (), 1).text
            query_reads = reads(text, GRAMMAR)
            assert query_reads is not None
            assert query_reads.changes


class TestOrder:
    @pytest.mark.parametrize(
        ("text", "columns", "expected"),
        [
            ("select a, b from t order by b desc, a", ["a", "b"], ["b", "a"]),
            ("select a, b from t", ["a", "b"], []),
            ("select a as x, b from t order by 2, 1", ["x", "b"], ["b", "x"]),
            ("select a, sum(b) from t group by a order by sum(b)", ["a", "sum"], ["sum"]),
            ("select t.a from t order by t.a", ["a"], ["a"]),
            ("select * from t order by B", ["a", "b"], ["b"]),
            # A key that nobody sees ends what is known of the order.
            ("select a, b from t order by a, c, b", ["a", "b"], ["a"]),
            ("select a from t order by 7", ["a"], []),
            ("select a from (select a from t order by a) as s", ["a"], []),
            ("select a from t union select b from u order by 1", ["a"], ["a"]),
            ("no sql at all ((", ["a"], []),
        ],
    )
    def test_it_is_what_the_last_order_by_says(
        self, text: str, columns: list[str], expected: list[str]
    ) -> None:
        assert ordered_by(text, columns, GRAMMAR) == expected


class TestLimit:
    def test_one_row_more_is_asked_for(self) -> None:
        assert with_one_more_row("select a from t order by a limit 10\n") == (
            "select a from t order by a limit 11",
            10,
        )
        assert with_one_more_row("select a from t LIMIT 9;") == ("select a from t LIMIT 10", 9)

    @pytest.mark.parametrize("text", ["select 1", "select * from (select 1 limit 2) as t"])
    def test_where_nothing_is_cut_off_nothing_is_asked(self, text: str) -> None:
        assert with_one_more_row(text) is None


class TestRepeatable:
    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("select a from t order by random()", "random() gives another value at each execution"),
            ("select now ( )", "now() gives another value at each execution"),
            ("select CURRENT_DATE", "current_date gives another value at each execution"),
            ("select date('now')", "'now' gives another value at each execution"),
            ("select a from t limit 10", "it has a limit without an order"),
            ("select a from t offset 3", "it has a limit without an order"),
        ],
    )
    def test_rows_that_may_differ_next_time_have_a_reason(self, text: str, why: str) -> None:
        assert why_unrepeatable(text, 10, GRAMMAR) == why

    @pytest.mark.parametrize(
        "text",
        [
            "select a from t",
            "select a from t order by a limit 10",
            # More rows than there are: nothing is cut off.
            "select a from t limit 11",
            "select a from t where b = 'random()' -- now()",
            "select randomness, known(a) from t",
            "no sql at all ((",
        ],
    )
    def test_no_other_rows_have_one(self, text: str) -> None:
        assert why_unrepeatable(text, 10, GRAMMAR) is None
