"""Running totals in another form: window functions, and what is refused."""

from __future__ import annotations

import pytest

from assay.model.errors import UsageError
from assay.workloads.rewriting import parts, without
from assay.workloads.rewriting.declared import declared_tables

TOTAL = "running-total"
SCHEMA = (
    "create table entries (id integer not null primary key, purse int not null, cents int not null,"
    " paid date, kind varchar(9) not null);"
    "create table purses (id int not null primary key, owner varchar(40));"
)
ENGINES = ("postgresql", "mysql", "duckdb", "sqlite")
ASKED = (
    "select e.id, (select sum(b.cents) from entries b where b.purse = e.purse and b.id <= e.id)"
    " as total from entries e"
)
WINDOW = (
    "sum(e.cents) over ( partition by e.purse order by e.id range between unbounded preceding"
    " and current row )"
)

SENT = " ".join(("select e.id,", WINDOW, "as total from entries as e"))


def left(sql: str, dialect: str = "postgresql", schema: str = SCHEMA) -> str:
    tables = declared_tables((schema,), (dialect,))
    return " ".join(without(sql, (dialect,), [TOTAL], tables).text.lower().split())


def refusal(sql: str, dialect: str = "postgresql", schema: str = SCHEMA) -> str:
    tables = declared_tables((schema,), (dialect,))
    with pytest.raises(UsageError) as refused:
        without(sql, (dialect,), [TOTAL], tables)
    assert TOTAL not in {part.name for part in parts(sql, (dialect,), tables)}
    return str(refused.value)


def each(total: str, where: str = "b.id <= e.id", rest: str = "") -> str:
    inner = " ".join(("select", total, "from entries b where", where))
    return " ".join(("select e.id, (", inner, ") as total from entries e", rest)).strip()


class TestSubquery:
    @pytest.mark.parametrize("dialect", ENGINES)
    def test_earlier_rows_of_a_group_are_a_window(self, dialect: str) -> None:
        assert left(f"-- balance\n{ASKED}", dialect) == SENT

    @pytest.mark.parametrize("dialect", ENGINES)
    def test_a_filter_of_whole_groups_stays(self, dialect: str) -> None:
        end = "where e.purse between 10 and ${most} order by e.id"
        assert left(f"{ASKED} {end}", dialect) == f"{SENT} {end}"

    @pytest.mark.parametrize("dialect", ENGINES)
    def test_another_filter_comes_after_the_totals_of_all_rows(self, dialect: str) -> None:
        derived = ("select e.id, e.cents,", WINDOW, "as running_total from entries as e")
        shown = ("select e.id, e.running_total as total from (", *derived, ") as e")
        end = "where e.cents > 3 order by total"
        assert left(f"{ASKED} {end}", dialect) == " ".join((*shown, end))

    def test_a_filter_of_both_leaves_no_row_out_of_a_total(self) -> None:
        asked = each("sum(b.cents)", "b.kind = 'x' and b.id <= e.id", "where kind = 'x'")
        assert left(asked) == (
            "select e.id, sum(e.cents) filter(where e.kind = 'x') over (order by e.id range between"
            " unbounded preceding and current row) as total from entries as e where kind = 'x'"
        )
        assert "count(case when e.kind = 'x' then 1 end) over" in left(
            asked.replace("sum(b.cents)", "count(*)"), "mysql"
        )

    def test_a_filter_of_a_text_may_tell_equal_texts_apart_on_mysql(self) -> None:
        asked = each("sum(b.cents)", "b.kind = e.kind and b.id <= e.id", "where e.kind = 7")
        assert "from ( select" in left(asked, "mysql")
        assert "from ( select" not in left(asked)

    def test_earlier_rows_without_the_same_key(self) -> None:
        before = "order by e.id rows between unbounded preceding and 1 preceding"
        for dialect in ("postgresql", "mysql"):
            assert before in left(each("sum(b.cents)", "b.id < e.id"), dialect)
        asked = each("sum(b.cents)", "b.cents < e.cents")
        assert "groups between unbounded preceding and 1 preceding" in left(asked)
        assert "several rows may have the same e.cents" in refusal(asked, "mysql")

    def test_later_rows_are_earlier_in_the_opposite_order(self) -> None:
        for where in ("b.id >= e.id", "e.id <= b.id"):
            assert "order by e.id desc range" in left(each("count(*)", where))

    def test_rows_without_a_key_have_no_total_and_are_in_none(self) -> None:
        known = "not e.paid is null"
        window = (
            f"filter(where {known}) over (order by e.paid range between unbounded preceding and"
            " current row)"
        )
        asked = each("sum(b.cents)", "b.paid <= e.paid")
        assert f"case when {known} then sum(e.cents) {window} end as total" in left(asked)
        asked = each("count(*)", "b.paid <= e.paid")
        assert f"case when {known} then count(*) {window} else 0 end as total" in left(asked)
        assert f"count(case when {known} then 1 end) over" in left(asked, "mysql")

    def test_columns_may_be_null_if_no_table_is_declared(self) -> None:
        assert "case when not e.id is null" in left(each("sum(b.cents)"), schema="")

    def test_an_expression_of_totals_stays(self) -> None:
        inner = "coalesce(sum(b.cents), 0) + e.cents - count(*)"
        window = "over (order by e.id range between unbounded preceding and current row)"
        assert (
            f"( coalesce( sum(e.cents) {window}, 0 ) + e.cents - count(*) {window} ) as total"
        ) in left(each(inner))
        filtered = left(each(inner, rest="where e.kind = 'x'"))
        assert filtered.startswith(
            "select e.id, ( coalesce(e.running_total, 0) + e.cents - e.running_total_2 ) as total"
        )
        assert "select e.id, e.kind, e.cents, sum(e.cents)" in filtered

    def test_all_columns_stay_where_the_table_is_read_as_before(self) -> None:
        asked = ASKED.replace("e.id, (", "e.*, (")
        assert left(asked).startswith("select e.*, sum(")
        assert "returns all columns" in refusal(f"{asked} where e.cents > 3")

    def test_other_subqueries_stay(self) -> None:
        other = "(select max(p.owner) from purses p where p.id = e.purse)"
        asked = ASKED.replace("e.id, (", f"{other}, (") + " where e.cents > 3"
        rewritten = left(asked)
        assert "p.id = e.purse ), e.running_total" in rewritten
        assert "select e.cents, e.purse, sum(" in rewritten

    @pytest.mark.parametrize(
        ("asked", "reason"),
        [
            ("select id from entries", "no subquery with a total"),
            (ASKED.replace("entries b", "purses b"), "not of the same table"),
            (ASKED.replace("entries b", "old.entries b"), "not of the same table"),
            (each("sum(b.cents)", "b.id = e.id"), "not those before a row by one column"),
            (each("sum(b.cents)", "b.id <= e.id and b.cents < e.cents"), "before a row by one"),
            (each("sum(b.cents)", "b.id <= e.cents"), "none of a running total"),
            (each("sum(b.cents)", "b.id <= e.id + 1"), "none of a running total"),
            (each("sum(b.cents)", "b.id <= e.id or b.cents = 1"), "none of a running total"),
            (each("sum(b.cents)", "b.id <> e.id"), "none of a running total"),
            (each("sum(b.cents)", "b.id <= e.id and e.kind = 'x'"), "the row that has the total"),
            (
                each("sum(b.cents)", "b.id <= e.id and b.purse in (select id from purses)"),
                "has a subquery",
            ),
            (each("sum(b.cents + e.cents)"), "has columns of the row that has the total"),
            (each("sum(distinct b.cents)"), "is not written as a window function"),
            (each("sum(b.cents) filter (where b.cents > 1)"), "is not written as a window"),
            (each("array_agg(b.cents)"), "is not written as a window function"),
            (each("max(sum(b.cents)) over ()"), "is not written as a window function"),
            (each("sum(b.cents) + max(b.id) - b.id"), "a single row that is added up"),
            (each("b.cents"), "a single row that is added up"),
            (each("1"), "computes no total"),
            (each("sum(b.cents)", "b.id <= e.id group by b.purse"), "the clause `group`"),
            (each("sum(b.cents)", "b.id <= e.id limit 1"), "the clause `limit`"),
            (each("sum(b.cents)", rest="order by sum").replace("as total", ""), "write `as`"),
            (each("sum(b.cents)", rest="limit 3"), "a limit without an order"),
            (each("sum(b.cents)", rest="where fits(e.id)"), "another value each time"),
            (each("sum(b.cents)", rest="group by e.id"), "the clause `group`"),
            (each("sum(b.cents)", rest="for update"), "the clause `locks`"),
            (ASKED.replace("select e.id", "select distinct on (e.purse) e.id"), "`distinct on`"),
            (ASKED.replace("select e.id", "select count(*) over ()"), "from several rows"),
            (" ".join(("with entries as (select 1)", ASKED)), "not of the same table"),
            (ASKED.replace("entries e", "(select * from entries) e"), "than one table"),
            (f"{ASKED} union select 1, 2", "a set operation"),
            (
                each("sum(b.cents)", rest="where entries.e.cents > 3"),
                "has the schema of its table",
            ),
        ],
    )
    def test_what_may_have_another_value_is_refused(self, asked: str, reason: str) -> None:
        assert reason in refusal(asked)

    @pytest.mark.parametrize(
        "kind", ["enum('a', 'b')", "varchar(300)", "text", "json", "float", "set('a')"]
    )
    def test_mysql_has_to_sort_a_column_as_it_compares_it(self, kind: str) -> None:
        schema = f"create table entries (id {kind} not null, cents int not null, purse int)"
        reason = "not known as one that is sorted as it is compared"
        assert reason in refusal(each("sum(b.cents)"), "mysql", schema)
        assert reason in refusal(each("sum(b.cents)"), "mariadb", "")
        kept = "create table entries (id {} not null, cents int)"
        for known in ("bigint unsigned", "datetime(6)", "varchar(40)", "decimal(9, 2)", "year"):
            assert "over (" in left(each("sum(b.cents)"), "mysql", kept.format(known))

    def test_the_type_of_the_smallest_of_some_rows_is_kept_on_mysql(self) -> None:
        some = "b.id <= e.id and b.cents > 3"
        assert "may have another type" in refusal(each("min(b.kind)", some), "mysql")
        assert "min(case when" in left(each("min(b.cents)", some), "mysql")

    @pytest.mark.parametrize("dialect", ["clickhouse", "trino", "virtuoso"])
    def test_engines_whose_windows_were_not_tested_are_refused(self, dialect: str) -> None:
        assert "are rewritten for PostgreSQL" in refusal(ASKED, dialect)


JOINED = (
    "select e.id, e.kind, sum(b.cents) as total, count(*) from entries e join entries b on"
    " b.purse = e.purse and b.id <= e.id"
)
GROUPS = "group by e.id, e.kind order by e.id"


class TestJoin:
    @pytest.mark.parametrize("dialect", ENGINES)
    def test_a_group_for_each_row_is_a_window(self, dialect: str) -> None:
        asked = f"{JOINED} where e.purse < 3 {GROUPS}"
        count = WINDOW.replace("sum(e.cents)", "count(*)")
        shown = ("select e.id, e.kind,", WINDOW, "as total,", count, "from entries as e")
        assert left(asked, dialect) == " ".join((*shown, "where e.purse < 3 order by e.id"))

    def test_another_filter_comes_after_the_totals_of_all_rows(self) -> None:
        rewritten = left(f"{JOINED} and e.cents > 3 {GROUPS}")
        assert "select e.id, e.kind, e.cents, sum(" in rewritten
        assert rewritten.endswith(") as e where e.cents > 3 order by e.id")

    def test_rows_without_a_key_are_not_in_the_result(self) -> None:
        asked = (
            "select e.id, sum(b.cents) from entries e, entries b where b.paid <= e.paid group by 1"
        )
        assert left(asked).endswith("from entries as e where not e.paid is null")

    @pytest.mark.parametrize(
        ("asked", "reason"),
        [
            (JOINED, "does not group its joined rows"),
            (f"{JOINED} group by rollup (e.id, e.kind)", "does not group its joined rows"),
            (f"{JOINED} group by e.id, lower(e.kind)", "does not group its joined rows"),
            (f"{JOINED} group by e.purse, e.kind", "is declared as a key"),
            (f"{JOINED} group by e.id, b.kind", "is declared as a key"),
            (f"{JOINED.replace('<=', '<')} {GROUPS}", "the first row"),
            (f"{JOINED} and b.cents > 3 {GROUPS}", "would be in the result"),
            (f"{JOINED} group by e.id, e.kind having count(*) > 3", "the clause `having`"),
            (f"{JOINED} group by e.id, e.kind order by sum(b.cents)", "`order by` has a total"),
            (f"{JOINED.replace(' join', ' left join')} {GROUPS}", "a left join"),
            (f"{JOINED}, purses p {GROUPS}", "more than a table with itself"),
            (f"{JOINED.replace('sum(b.cents)', 'max(b.id) + b.id')} {GROUPS}", "a single row"),
            (f"{JOINED.replace(', sum(b.cents) as total, count(*)', '')} {GROUPS}", "no total"),
        ],
    )
    def test_what_may_have_other_rows_is_refused(self, asked: str, reason: str) -> None:
        assert reason in refusal(asked)

    def test_the_sum_of_all_groups_is_refused(self) -> None:
        assert "does not group" in refusal(f"{JOINED} group by e.id, e.kind with rollup", "mysql")

    def test_a_key_that_may_be_null_has_several_rows_in_a_group(self) -> None:
        schema = "create table entries (id int unique, purse int, cents int, kind text)"
        assert "is declared as a key" in refusal(f"{JOINED} {GROUPS}", schema=schema)


class TestDeclared:
    def keys(self, *scripts: str, dialect: str = "postgresql") -> tuple[object, set[str]]:
        table = declared_tables(scripts, (dialect,))["t"]
        return table.keys, set(table.required)

    def test_keys_of_a_table_its_constraints_and_its_indexes(self) -> None:
        script = (
            "create table t (A int primary key, b int unique, c int not null, d int,"
            " unique (b, c), check (c > 1));"
            "alter table t add constraint t_key unique (c, d); create unique index i on t (d);"
            "create unique index j on t (lower(d)); create unique index k on t (b) where c > 1;"
        )
        keys, required = self.keys(script)
        assert sorted(keys) == [("a",), ("b",), ("b", "c"), ("c", "d"), ("d",)]  # type: ignore[call-overload]
        assert required == {"a", "c"}

    def test_a_key_may_be_added_later(self) -> None:
        scripts = ("create table t (a int, b int)", "alter table t add primary key (a, b)")
        assert self.keys(*scripts) == ((("a", "b"),), {"a", "b"})
        assert self.keys(*scripts, dialect="mysql") == ((("a", "b"),), {"a", "b"})

    @pytest.mark.parametrize(
        "change",
        [
            "alter table t drop constraint t_pkey",
            "alter table t alter column a drop not null",
            "drop index t_pkey",
            "do $$ begin end $$",
        ],
    )
    def test_what_may_have_changed_is_not_known(self, change: str) -> None:
        assert self.keys("create table t (a int primary key)", change) == ((), set())

    def test_a_primary_key_of_sqlite_may_be_null(self) -> None:
        script = "create table t (a int primary key, b int not null)"
        assert self.keys(script, dialect="sqlite") == ((("a",),), {"b"})
        script = 'create table t ("a" integer primary key, b int)'
        assert self.keys(script, dialect="sqlite") == ((("a",),), {"a"})

    def test_engines_that_do_not_check_keys_declare_none(self) -> None:
        script = "create table t (a int not null, primary key (a))"
        assert self.keys(script, dialect="clickhouse") == ((), set())
