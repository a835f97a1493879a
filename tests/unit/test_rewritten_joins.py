"""Joins in another form: `exists` instead of a distinct join, a union instead of alternatives."""

from __future__ import annotations

import pytest

from assay.model.errors import UsageError
from assay.record.layout import changing_result
from assay.workloads.answers import answers_folder
from assay.workloads.choosing import with_all_parts, without_parts
from assay.workloads.discovery import find_workload
from assay.workloads.rewriting import parts, without

POSTGRESQL = ("postgresql",)
TABLES = {"leads": ("id", "phone", "mail", "n"), "contacts": ("id", "phone", "mail", "k")}
DISTINCT, EITHER = "distinct-join", "either-join"
PAIRS = "leads l join contacts c on l.phone = c.phone or l.mail = c.mail"
FIRST = "from leads as l join contacts as c on l.phone = c.phone"
SECOND = (
    "from leads as l join contacts as c on l.mail = c.mail and not ( l.phone = c.phone ) is true"
)


def pairs(shown: str, rest: str = "") -> str:
    return " ".join(("select", shown, "from", PAIRS, rest))


def named(sql: str) -> set[str]:
    return {part.name for part in parts(sql, POSTGRESQL, TABLES)}


def left(sql: str, *names: str, dialects: tuple[str, ...] = POSTGRESQL) -> str:
    return " ".join(without(sql, dialects, names, TABLES).text.lower().split())


def refusal(sql: str, name: str) -> str:
    with pytest.raises(UsageError) as refused:
        without(sql, POSTGRESQL, [name], TABLES)
    return str(refused.value)


class TestDistinctJoin:
    ASKED = "select distinct l.id from leads l join contacts c on l.phone = c.phone and c.k < 3"

    @pytest.mark.parametrize(
        "dialect", ["postgresql", "mysql", "duckdb", "sqlite", "trino", "spark", "clickhouse"]
    )
    def test_a_match_is_looked_for_by_exists(self, dialect: str) -> None:
        rewritten = left(f"-- buyers\n{self.ASKED} where l.n > 1", DISTINCT, dialects=(dialect,))
        assert rewritten.replace("exists (", "exists(") == (
            "select distinct l.id from leads as l where l.n > 1 and exists( select 1 from contacts"
            " as c where l.phone = c.phone and c.k < 3 )"
        )

    def test_several_tables_go_together(self) -> None:
        asked = f"{self.ASKED} join leads m on m.id = c.id where l.n > 1 or l.n is null"
        assert left(asked, DISTINCT) == (
            "select distinct l.id from leads as l where ( l.n > 1 or l.n is null ) and exists("
            " select 1 from contacts as c, leads as m where l.phone = c.phone and c.k < 3 and"
            " m.id = c.id )"
        )

    def test_the_order_of_a_result_column_stays_with_its_limit(self) -> None:
        asked = "select distinct n as size from leads, contacts where n = k order by size limit 3"
        assert left(asked, DISTINCT) == (
            "select distinct n as size from leads where exists( select 1 from contacts where"
            " n = k ) order by size limit 3"
        )

    def test_parameters_that_are_drawn_later_stay(self) -> None:
        asked = self.ASKED.replace("c.k < 3", "c.k < ${most}") + " where l.n > ${least}"
        assert "c.k < ${most}" in left(asked, DISTINCT)
        assert "l.n > ${least}" in left(asked, DISTINCT)

    @pytest.mark.parametrize(
        ("asked", "reason"),
        [
            ("select l.id from leads l join contacts c on l.n = c.k", "no `select distinct`"),
            (
                "select distinct on (l.n) l.id from leads l join contacts c on l.n = c.k",
                "no `select distinct` of whole rows",
            ),
            ("select distinct l.id from leads l left join contacts c on l.n = c.k", "a left join"),
            ("select distinct l.id from leads l natural join contacts c", "a natural join"),
            ("select distinct l.id from leads l join contacts c using (phone)", "an option"),
            ("select distinct l.id from leads l", "the query joins no tables"),
            (
                "select distinct l.id, c.id from leads l join contacts c on l.n = c.k",
                "the result has columns of l, c",
            ),
            (
                "select distinct l.n, (select c.k + max(n) from leads) from leads l, contacts c",
                "the result has columns of l, c",
            ),
            (
                "select distinct l.n, count(*) from leads l join contacts c on l.n = c.k",
                "computes each row from several rows",
            ),
            (
                "select distinct l.n from leads l join contacts c on l.n = c.k group by l.n",
                "the clause `group`",
            ),
            ("select distinct * from leads l join contacts c on l.n = c.k", "all columns"),
            (
                "select distinct l.id from leads l join contacts c on x = c.k",
                "column x is not known",
            ),
            (
                "select distinct l.id from leads l join contacts c on l.n = c.k limit 3",
                "a limit without an order",
            ),
            (
                "select distinct l.id from leads l join contacts c on l.n = c.k order by c.k",
                "the result has columns of l, c",
            ),
            (
                "select distinct l.id from leads l join contacts c on l.n = c.k and random() < 1",
                "may return another value each time",
            ),
            (
                "select distinct l.id from leads l join contacts c on fits(l.n, c.k)",
                "may return another value each time",
            ),
            (
                "select distinct l.id from leads l join lateral (select 1) c on true",
                "no table or plain subquery",
            ),
            (
                "select distinct l.id from leads l join contacts c on l.n = c.k for update",
                "the clause `locks`",
            ),
            ("select id from leads union select id from contacts", "a set operation"),
        ],
    )
    def test_what_may_have_other_rows_is_refused(self, asked: str, reason: str) -> None:
        said = refusal(asked, DISTINCT)
        assert reason in said
        assert DISTINCT not in named(asked)


class TestEitherJoin:
    @pytest.mark.parametrize("dialect", ["postgresql", "mysql", "duckdb", "sqlite", "spark"])
    def test_each_alternative_has_a_join_without_the_pairs_of_earlier_ones(
        self, dialect: str
    ) -> None:
        rewritten = left("-- pairs\n" + pairs("l.id, c.k"), EITHER, dialects=(dialect,))
        columns = "select l.id as id, c.k as k"
        union = f"( {columns} {FIRST} union all {columns} {SECOND} )"
        assert rewritten == " ".join(("select joined.id, joined.k from", union, "as joined"))

    @pytest.mark.parametrize("dialect", ["trino", "clickhouse", "virtuoso"])
    def test_grammars_without_is_true_have_a_case(self, dialect: str) -> None:
        rewritten = left(pairs("count(*)"), EITHER, dialects=(dialect,))
        assert "case when l.phone = c.phone then 1 else 0 end = 0" in rewritten
        assert "true" not in rewritten

    def test_the_rest_of_the_query_reads_the_union(self) -> None:
        rest = "group by l.n having count(*) > 1 order by m desc, l.n limit ${rows}"
        shown = "l.n as size, count(distinct c.id) as m, max(l.id)"
        asked = pairs(shown, f"where l.n > 2 {rest}")
        rewritten = left(asked, EITHER)
        assert rewritten.startswith(
            "select joined.n as size, count(distinct joined.id) as m, max(joined.id_2) from ("
        )
        assert rewritten.count("where l.n > 2") == 2
        assert rewritten.endswith(
            "as joined group by joined.n having count(*) > 1 order by m desc, joined.n"
            " limit ${rows}"
        )

    def test_result_columns_keep_their_names(self) -> None:
        assert "joined.id, joined.id_2 as id from" in left(
            pairs("l.id, c.id", "order by l.id"), EITHER
        )

    def test_an_order_by_a_result_stays(self) -> None:
        asked = pairs("-l.n as n, row_number() over (order by l.n) as place", "order by n")
        rewritten = left(asked, EITHER).replace(" nulls first", "")
        assert "-joined.n as n, row_number() over (order by joined.n) as place" in rewritten
        assert rewritten.endswith("as joined order by n")

    def test_a_query_that_only_counts_needs_no_column(self) -> None:
        assert left(pairs("count(*)"), EITHER).count("1 as joined_row") == 2

    def test_three_alternatives_leave_out_both_earlier_ones(self) -> None:
        asked = (
            "select count(*) from leads l, contacts c where l.n > 1 and"
            " (l.phone = c.phone or (l.mail = c.mail or l.id = c.id))"
        )
        rewritten = left(asked, EITHER)
        assert rewritten.count("union all") == 2
        assert "l.id = c.id and not ( l.phone = c.phone ) is true and not" in rewritten

    def test_a_parameter_may_stand_in_each_join(self) -> None:
        asked = pairs("l.id", "and c.k < ${most} where l.n > ${least}")
        rewritten = left(asked, EITHER)
        assert rewritten.count("l.n > ${least}") == 2
        assert "c.k < ${most}" in rewritten

    def test_common_tables_stay_before_the_query(self) -> None:
        common = "with m as (select max(n) as most from leads) "
        rewritten = left(common + pairs("l.id", "where l.n < (select most from m)"), EITHER)
        assert rewritten.startswith("with m as ( select max(n) as most from leads ) select joined.")

    def test_other_parts_can_be_removed_as_well(self) -> None:
        asked = pairs("l.id", "where l.n > 2 order by l.id")
        rewritten = left(asked, EITHER, "predicate:1", "sort")
        assert "where" not in rewritten
        assert "order" not in rewritten
        assert "count(joined." in left(asked, "computation", EITHER)

    @pytest.mark.parametrize(
        ("asked", "reason"),
        [
            ("select l.id from leads l join contacts c on l.n = c.k", "joins no two tables by"),
            (
                "select l.id from leads l join contacts c on l.n < c.k or l.id = c.id",
                "joins no two tables by",
            ),
            (
                pairs("l.id", "where l.id = c.id or l.n = c.k"),
                "several joins by",
            ),
            (pairs("l.id").replace("join", "left join"), "a left join"),
            (pairs("l.id").replace("join", "full join"), "a full join"),
            (pairs("*"), "all columns"),
            (pairs("c.*"), "all columns"),
            (
                "select 1 from leads l join contacts c on l.phone = c.phone or post = c.mail",
                "column post is not known",
            ),
            (
                pairs("l.n, (select max(k) from contacts where id = c.id) as m"),
                "a subquery outside of the conditions",
            ),
            (pairs("distinct on (l.n) l.n, c.k", "order by 1, 2"), "`distinct on`"),
            (pairs("l.n, c.k", "limit 3"), "a limit without an order"),
            (pairs("l.n", "for share"), "the clause `locks`"),
            (pairs("l.n, sum(c.k)", "group by l.id"), "`group by` does not name l.n"),
            (pairs("n, sum(c.k)", "group by l.id"), "`group by` does not name n"),
            (pairs("l.n, sum(c.k)"), "`group by` does not name l.n"),
            (pairs("l.n + 1 as k", "group by k"), "k may be the name of a column"),
            (
                pairs("-l.n as n, row_number() over (order by n)", "order by n"),
                "n may be the name of a column or of a result",
            ),
            (pairs("l.n + random()"), "another value each time"),
            (
                pairs("1", " ".join(f"or l.n + {number} = c.k" for number in range(9))),
                "more than 8 alternatives",
            ),
        ],
    )
    def test_what_may_have_other_rows_is_refused(self, asked: str, reason: str) -> None:
        said = refusal(asked, EITHER)
        assert reason in said
        assert EITHER not in named(asked)

    def test_a_reason_has_the_parameters_of_the_text(self) -> None:
        said = refusal(pairs("l.n", "where fits(l.n, ${least})"), EITHER)
        assert "fits(l.n, ${least}) may return another value" in said


def test_answers_of_joins_in_another_form_are_expected() -> None:
    assert changing_result(["q19/either-join", "distinct-join", "q19/sort"]) == ["q19/sort"]
    tpch = find_workload("tpch")
    rewritten = without_parts(tpch, ["q19/either-join"])
    scale = next(
        float(folder.name.removeprefix("sf")) for folder in tpch.folder.glob("answers/sf*")
    )
    assert answers_folder(rewritten, scale) == answers_folder(tpch, scale)
    assert answers_folder(without_parts(tpch, ["q19/sort"]), scale) is None
    text = rewritten.statement("q19", POSTGRESQL, 1.0).text
    assert "UNION ALL" in text
    assert "UNION ALL" not in with_all_parts(rewritten).statement("q19", POSTGRESQL, 1.0).text


class TestCountedRows:
    ASKED = "select case when count(*) > 0 then 1 else 0 end as seen from leads where phone = $1"
    COUNTED = "counted-rows"

    @pytest.mark.parametrize(
        "dialect", ["postgresql", "mysql", "duckdb", "sqlite", "trino", "spark", "clickhouse"]
    )
    def test_a_row_is_looked_for_by_exists(self, dialect: str) -> None:
        asked = self.ASKED.replace("$1", "'7'")
        rewritten = left(f"-- Any?\n{asked}", self.COUNTED, dialects=(dialect,))
        assert rewritten.replace("exists (", "exists(") == (
            "select case when exists( select 1 from leads where phone = '7' ) then 1 else 0 end"
            " as seen"
        )

    def test_no_row_is_the_opposite(self) -> None:
        asked = "select count(1) = 0 as free from leads l left join contacts c on c.id = l.id"
        assert left(asked, self.COUNTED) == (
            "select not exists( select 1 from leads as l left join contacts as c on c.id = l.id )"
            " as free"
        )

    @pytest.mark.parametrize(
        ("asked", "reason"),
        [
            ("select count(*) from leads", "compares no `count(*)` with zero"),
            ("select count(*) > 1 from leads", "compares no `count(*)` with zero"),
            ("select count(phone) > 0 from leads", "compares no `count(*)` with zero"),
            ("select count(distinct id) > 0 from leads", "compares no `count(*)` with zero"),
            ("select count(*) > 0, max(n) from leads", "computes more from its rows"),
            ("select count(*) > 0, count(*) from leads", "computes more from its rows"),
            ("select count(*) over () > 0 from leads", "compares no `count(*)` with zero"),
            ("select n, count(*) > 0 from leads", "returns columns"),
            ("select n, count(*) > 0 from leads group by n", "clause `group`"),
            ("select count(*) > 0 from leads having count(*) > 0", "clause `having`"),
            ("select count(*) > 0 from leads where n > random()", "each time it is computed"),
            ("select count(*) > 0", "reads no table"),
        ],
    )
    def test_what_needs_more_than_one_row_is_refused(self, asked: str, reason: str) -> None:
        assert reason in refusal(asked, self.COUNTED)
        assert self.COUNTED not in named(asked)


def test_a_query_without_parts_names_none() -> None:
    with pytest.raises(UsageError, match="no part 'sorts': none can be removed from it"):
        without("select 1", POSTGRESQL, ["sorts"], TABLES)
