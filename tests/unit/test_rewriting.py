"""What parts a query has, and what is left without each: on small queries, text by text."""

from __future__ import annotations

import pytest

from assay.model.errors import UsageError
from assay.workloads.choosing import without_parts
from assay.workloads.discovery import find_workload
from assay.workloads.rewriting import parts, without, without_computation, without_part
from assay.workloads.rewriting.declared import declared_tables
from assay.workloads.rewriting.grammar import grammar_of, text_of

POSTGRESQL, DUCKDB, SQLITE, CLICKHOUSE = ("postgresql",), ("duckdb",), ("sqlite",), ("clickhouse",)
TABLES = {"t": ("a", "b", "c"), "u": ("k", "d"), "v": ("n", "e")}


def named(sql: str, tables: dict[str, tuple[str, ...]] | None = None) -> list[str]:
    return [part.name for part in parts(sql, POSTGRESQL, TABLES if tables is None else tables)]


def left(sql: str, *names: str, dialects: tuple[str, ...] = POSTGRESQL) -> str:
    return " ".join(without(sql, dialects, names, TABLES).text.split())


class TestComputation:
    @pytest.mark.parametrize(
        ("dialects", "touching"),
        [
            (POSTGRESQL, "COUNT(a)"),
            (SQLITE, "COUNT(a)"),
            (DUCKDB, "ANY_VALUE(a)"),
            (CLICKHOUSE, "any(a)"),
        ],
    )
    def test_each_column_is_touched_as_the_engine_has_to_read_it(
        self, dialects: tuple[str, ...], touching: str
    ) -> None:
        asked = "select sum(a * 2) from t where b < 3"
        leftovers = left(asked, "computation", dialects=dialects)
        assert leftovers.partition(" AS ") == (
            "SELECT " + touching,
            " AS ",
            "touched_1 FROM t WHERE b < 3",
        )

    def test_groups_order_and_limit_go(self) -> None:
        asked = "select a, avg(b) as x from t group by a having sum(c) > 1 order by x limit 5"
        leftovers = left(asked, "computation")
        assert leftovers == (
            "SELECT COUNT(a) AS touched_1, COUNT(b) AS touched_2, COUNT(c) AS touched_3 FROM t"
        )

    def test_what_is_only_counted_is_only_counted(self) -> None:
        asked = "select a, count(b), count(distinct c) from t group by a"
        leftovers = left(asked, "computation", dialects=DUCKDB)
        assert leftovers == (
            "SELECT ANY_VALUE(a) AS touched_1, COUNT(b) AS touched_2, ANY_VALUE(c) AS touched_3"
            " FROM t"
        )

    def test_a_derived_table_hands_its_columns_on(self) -> None:
        asked = (
            "select y, sum(x) from (select a * b as x, c + 1 as y from t where a > 0) as s"
            " group by y"
        )
        leftovers = left(asked, "computation")
        assert leftovers == (
            "SELECT COUNT(s.raw_1) AS touched_1, COUNT(s.raw_2) AS touched_2, COUNT(s.raw_3) AS"
            " touched_3 FROM ( SELECT a AS raw_1, b AS raw_2, c AS raw_3 FROM t WHERE a > 0 ) AS s"
        )

    def test_a_derived_table_by_which_rows_are_chosen_stays(self) -> None:
        asked = (
            "select d, x from u, (select a, max(b) as x from t group by a) as s"
            " where k = a order by d"
        )
        query = without_computation(asked, POSTGRESQL, TABLES)
        assert "MAX(b)" in query.text
        assert set(query.stays) == {"max(b)", "group by a"}

    def test_a_common_table_of_one_reader_is_opened_and_one_of_two_is_not(self) -> None:
        once = "with s as (select a, sum(b) as x from t group by a) select max(x) from s"
        assert without_computation(once, POSTGRESQL, TABLES).stays == ()
        twice = once.replace("max(x) from s", "x from s where x = (select max(x) from s)")
        assert "sum(b)" in without_computation(twice, POSTGRESQL, TABLES).stays

    def test_what_having_reads_is_still_read(self) -> None:
        asked = "select a from t group by a having sum(b) > (select avg(d) from u where k > 1)"
        leftovers = left(asked, "computation")
        assert "( SELECT NOT COUNT(d) IS NULL FROM u WHERE k > 1 ) AS touched_3" in leftovers

    def test_a_condition_s_own_computation_stays_and_is_told(self) -> None:
        asked = "select sum(a) from t where b < (select 0.2 * avg(d) from u where k = c)"
        assert without_computation(asked, POSTGRESQL, TABLES).stays == ("avg(d)",)

    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            ("select * from t order by a", r"a query that selects \*: name its columns"),
            ("select a from t limit 3", "no part 'computation'"),
            ("select count(*) from t", "no part 'computation'"),
            ("select a from t union select d from u", "no part 'computation'"),
            ("insert into t values (1)", "only a single SELECT query"),
            ("select 1; select 2", "only a single SELECT query"),
            ("select a from t where (", "cannot be parsed as SQL"),
            (
                "select a, (select max(d) from u where k = b) as m from t order by a",
                "a subquery of the select list, which would then run once per row",
            ),
        ],
    )
    def test_what_cannot_be_done_is_refused_with_the_reason(self, asked: str, message: str) -> None:
        with pytest.raises(UsageError, match=message):
            without_computation(asked, POSTGRESQL, TABLES)


class TestParts:
    JOINED = (
        "select a, sum(d) as s, count(*) as n from t, u, v"
        " where a = k and k = n and b > 1 and e like 'x%' group by a order by s desc limit 3"
    )

    def test_are_named_in_the_query_s_own_words(self) -> None:
        descriptions = {
            part.name: part.description for part in parts(self.JOINED, POSTGRESQL, TABLES)
        }
        assert descriptions["sort"] == "order by s desc"
        assert descriptions["limit"] == "limit 3"
        assert descriptions["group"] == "group by a"
        assert descriptions["aggregate:1"] == "sum(d)"
        assert descriptions["predicate:2"] == "e like 'x%'"

    def test_joins_are_of_tables_that_hold_no_others_together(self) -> None:
        names = [name for name in named(self.JOINED) if name.startswith("join:")]
        assert names == ["join:t", "join:v"]

    def test_conditions_that_join_are_no_predicates(self) -> None:
        assert len([name for name in named(self.JOINED) if name.startswith("predicate:")]) == 2

    def test_tables_whose_columns_are_not_known_stay(self) -> None:
        assert not [name for name in named(self.JOINED, {}) if name.startswith("join:")]

    def test_a_table_leaves_with_its_conditions_and_columns(self) -> None:
        leftovers = left(self.JOINED, "join:v")
        assert " v" not in leftovers
        assert "LIKE" not in leftovers
        assert "b > 1" in leftovers

    def test_the_first_table_may_leave(self) -> None:
        asked = "select d from t join u on a = k and d > 1 where b = 2"
        assert left(asked, "join:t") == "SELECT d FROM u WHERE d > 1"

    def test_of_an_aggregate_the_columns_are_still_read(self) -> None:
        assert left("select a, sum(b * c) from t group by a", "aggregate") == (
            "SELECT a, COUNT(b) AS touched_1, COUNT(c) AS touched_2 FROM t GROUP BY a"
        )

    def test_order_by_what_is_gone_goes_too(self) -> None:
        assert "ORDER BY a" in left(
            "select a, sum(b) as s from t group by a order by s, a", "aggregate"
        )
        assert "ORDER" not in left(
            "select a, sum(b) as s from t group by a order by s", "aggregate"
        )

    def test_an_order_that_a_limit_needs_goes_with_it_where_nothing_is_grouped(self) -> None:
        assert left("select a from t order by b limit 3", "sort") == "SELECT a FROM t"
        asked = "select a, sum(b) from t group by a order by a limit 3"
        assert left(asked, "sort").endswith("LIMIT 3")

    def test_a_function_of_ones_own_goes_and_its_groups_stay_where_they_have_a_name(self) -> None:
        asked = "select band(a) as b, count(*) from t group by b order by b"
        assert "1 AS b" in left(asked, "function:band")
        assert left(asked, "function:band").endswith("GROUP BY b ORDER BY b")

    def test_nothing_is_grouped_or_ordered_by_a_function_that_is_gone(self) -> None:
        asked = "select band(a), count(*) from t where a > 1 group by band(a), k order by band(a)"
        assert left(asked, "function:band") == ("SELECT 1, COUNT(*) FROM t WHERE a > 1 GROUP BY k")

    def test_a_function_that_chooses_rows_is_a_condition(self) -> None:
        assert "function:band" not in named("select a from t where band(a) = 2")

    def test_distinct_goes_from_rows_and_from_aggregates(self) -> None:
        assert left("select distinct a from t", "distinct") == "SELECT a FROM t"
        assert "COUNT(b)" in left("select a, count(distinct b) from t group by a", "distinct")

    def test_the_only_condition_goes_with_its_clause(self) -> None:
        assert left("select a from t where a > 1", "predicate:1") == "SELECT a FROM t"

    def test_a_branch_that_joins_in_each_alternative_is_a_join(self) -> None:
        asked = "select sum(b) from t, u where (a = k and b = 1) or (a = k and b = 2)"
        assert not [name for name in named(asked) if name.startswith("predicate:")]

    @pytest.mark.parametrize(
        ("dialect", "asked", "lacking"),
        [
            ("mysql", "select a from t ignore index (i) where b = 1", "ignore index (i)"),
            ("mysql", "select /*+ no_index(t i) */ a from t", "/*+ no_index(t i) */"),
            ("sqlite", "select a from t not indexed where b = 1", "not indexed"),
            ("sqlite", "select a from t indexed by i where b = 1", "indexed by i"),
        ],
    )
    def test_hints_go_together(self, dialect: str, asked: str, lacking: str) -> None:
        (hints,) = [part for part in parts(asked, [dialect]) if part.name == "hints"]
        assert hints.description == lacking
        bare = " ".join(asked.replace(lacking, "").split())
        rewritten = without_part(asked, [dialect], "hints").text
        assert " ".join(rewritten.lower().split()) == bare

    def test_a_query_without_hints_has_no_such_part(self) -> None:
        assert "hints" not in named("select a from t where a > 1")

    @pytest.mark.parametrize("dialect", ["mysql", "mariadb"])
    def test_numbers_that_are_compared_with_columns_are_texts(self, dialect: str) -> None:
        asked = "select a from t where a = ${x} and b in (1, 2) and a < 3 and 7 = 7"
        rewritten = " ".join(without_part(asked, [dialect], "numbers").text.lower().split())
        assert "a = cast(${x} as char)" in rewritten
        assert "b in (cast(1 as char), cast(2 as char))" in rewritten
        assert "a < 3" in rewritten
        assert "7 = 7" in rewritten

    def test_other_engines_convert_the_number_and_not_the_column(self) -> None:
        for dialect in ("postgresql", "sqlite", "duckdb"):
            with pytest.raises(UsageError, match="no part 'numbers'"):
                without_part("select a from t where a = 1", [dialect], "numbers")

    def test_a_query_without_numbers_has_no_such_part(self) -> None:
        with pytest.raises(UsageError, match="no part 'numbers'"):
            without_part("select a from t where a = 'x' and b = c", ["mysql"], "numbers")

    @pytest.mark.parametrize("dialect", ["postgresql", "duckdb", "sqlite"])
    def test_unions_keep_their_duplicates(self, dialect: str) -> None:
        asked = "select a from t union select b from u union all select k from u order by 1"
        rewritten = without_part(asked, [dialect], "union").text
        kept = asked.replace("union select", "union all select")
        assert " ".join(rewritten.lower().split()) == kept
        assert "union" not in named("select a from t union all select a from t")

    @pytest.mark.parametrize("dialect", ["postgresql", "mysql", "duckdb", "sqlite", "trino"])
    def test_parameters_that_are_drawn_later_stay(self, dialect: str) -> None:
        asked = "select a from t where b = ${day} and c < ${line.2} order by a limit ${rows}"
        descriptions = {part.name: part.description for part in parts(asked, [dialect])}
        assert descriptions["predicate:1"] == "b = ${day}"
        rewritten = " ".join(without_part(asked, [dialect], "predicate:2").text.split())
        assert rewritten == "SELECT a FROM t WHERE b = ${day} ORDER BY a LIMIT ${rows}"

    def test_a_number_of_the_text_is_no_parameter(self) -> None:
        asked = "select a from t where b = 910000001 and c = ${c} order by a"
        assert "b = 910000001 AND c = ${c}" in left(asked, "sort")

    def test_an_unknown_part_is_told_with_its_neighbour(self) -> None:
        with pytest.raises(UsageError, match="no part 'sorted': did you mean 'sort'"):
            without_part("select a from t order by a", POSTGRESQL, "sorted", TABLES)


class TestGrammar:
    def test_dialects_of_engines_have_grammars(self) -> None:
        assert grammar_of(("postgresql",)) == "postgres"
        assert grammar_of(("mariadb", "mysql")) == "mysql"
        assert grammar_of(("unheard-of",)) is None

    def test_virtuoso_says_how_many_rows_before_it_says_which(self) -> None:
        asked = "select top 3 a from t order by b"
        assert left(asked, "limit", dialects=("virtuoso",)) == "SELECT a FROM t ORDER BY b"
        grouped = "select top 3 a, sum(b) from t group by a order by a"
        assert left(grouped, "sort", dialects=("virtuoso",)).startswith("SELECT TOP 3 a")

    def test_columns_are_read_from_scripts(self) -> None:
        scripts = ("create table T (A int not null, b text); create index i on T (a)", "nonsense (")
        tables = declared_tables(scripts, POSTGRESQL)
        assert {name: tuple(columns) for name, columns in tables.items()} == {"t": ("a", "b")}

    def test_words_are_short_and_keep_what_is_quoted(self) -> None:
        import sqlglot

        assert text_of(sqlglot.parse_one("A = 'Xy'"), ()) == "a = 'Xy'"
        assert len(text_of(sqlglot.parse_one(" AND ".join(["a = 1"] * 40)), ())) <= 72

    @pytest.mark.parametrize(
        "dialect", ["postgresql", "mariadb", "sqlite", "clickhouse", "virtuoso"]
    )
    def test_every_dialect_of_tpch_is_rewritten(self, dialect: str) -> None:
        workload = find_workload("tpch")
        dialects = ("mariadb", "mysql") if dialect == "mariadb" else (dialect,)
        for query in workload.facts.order:
            text = without_parts(workload, ["computation"]).statement(query, dialects, 1.0).text
            assert "touched_1" in text
