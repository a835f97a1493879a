"""MariaDB without a server: texts of SQL, values, addresses, settings, plans, errors."""

from __future__ import annotations

import datetime
import itertools
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pymysql
import pytest
from pymysql.constants import FIELD_TYPE

from assay.engines.contract import EngineError
from assay.engines.mariadb import loading
from assay.engines.mariadb.connecting import read_dsn, with_settings
from assay.engines.mariadb.engine import _check_version
from assay.engines.mariadb.plans import normalised
from assay.engines.mariadb.programs import read_configuration, write_configuration
from assay.engines.mariadb.server import refuse_ours
from assay.engines.mariadb.session import MariaSession
from assay.engines.mariadb.statements import bound, filled, name_of, pieces, split, text_of
from assay.engines.mariadb.values import table
from assay.model.plan import OPERATORS, Plan, PlanNode
from assay.model.script import Script, ScriptOperation, ScriptStatement

NATIVE = Path(__file__).parents[1] / "native_plans" / "mariadb"
ADDRESS: dict[str, Any] = {"host": "127.0.0.1"}


def literal(value: object) -> str:
    return f"<{value}>"


class TestStatements:
    @pytest.mark.parametrize(
        ("sql", "statements"),
        [
            ("select 1; select 2;\n", ["select 1", "select 2"]),
            ("select ';' -- a ; b\n, `a;b`;", ["select ';'  \n, `a;b`"]),
            ("select 'it\\'s; ''so'''; # end;", ["select 'it\\'s; ''so'''"]),
            ("select 5--1; /* ; */ select /*! 2 */", ["select 5--1", "select /*! 2 */"]),
            ("-- nothing\n;", []),
        ],
    )
    def test_they_end_where_they_end(self, sql: str, statements: list[str]) -> None:
        assert split(sql) == statements

    def test_values_are_bound_where_they_are_asked_for(self) -> None:
        parts = pieces("select $2, '$1', `$1`, $1 -- $1")
        assert bound(parts, ["a", "b"], literal) == "select <b>, '$1', `$1`, <a> -- $1"

    @pytest.mark.parametrize(("text", "quoted"), [("it's", "'it''s'"), ("a\\'", "'a\\\\'''")])
    def test_texts_are_escaped(self, text: str, quoted: str) -> None:
        assert text_of(text) == quoted

    def test_names_are_quoted(self) -> None:
        assert name_of("a`b") == "`a``b`"
        assert filled("count.sql", table="x`; drop") == "select count(*) from `x``; drop`"

    def test_what_is_filled_in_is_not_filled_in_again(self) -> None:
        assert "{name}" in filled("comment_schema.sql", texts={"mark": "{name}"}, name="x")


class TestValues:
    def described(self, kind: int, scale: int = 0) -> tuple[Any, ...]:
        return ("c", kind, None, 20, 20, scale, True)

    @pytest.mark.parametrize(
        ("kind", "scale", "texts", "values"),
        [
            (FIELD_TYPE.LONG, 0, ["-5", None], [-5, None]),
            (FIELD_TYPE.LONGLONG, 0, ["-9223372036854775808"], [-(2**63)]),
            (FIELD_TYPE.LONGLONG, 0, ["18446744073709551615", None], [2**64 - 1, None]),
            (FIELD_TYPE.NEWDECIMAL, 2, ["1.50", "-0.01", None], ["1.50", "-0.01", None]),
            (FIELD_TYPE.NEWDECIMAL, 4, ["9" * 50 + ".1250"], ["9" * 50 + ".1250"]),
            (FIELD_TYPE.DOUBLE, 31, ["1e-300", "0.1"], [1e-300, 0.1]),
            (FIELD_TYPE.DATE, 0, ["1998-09-02"], [datetime.date(1998, 9, 2)]),
            (FIELD_TYPE.VAR_STRING, 0, ["", "é\\", None], ["", "é\\", None]),
            (FIELD_TYPE.BLOB, 0, [b"\xff\0", None], [b"\xff\0", None]),
            (FIELD_TYPE.TIME, 0, ["-838:59:59"], ["-838:59:59"]),
        ],
    )
    def test_each_type_keeps_its_values(
        self, kind: int, scale: int, texts: list[Any], values: list[Any]
    ) -> None:
        made = table([self.described(kind, scale)], [[text] for text in texts])
        wanted = values
        if kind == FIELD_TYPE.NEWDECIMAL:
            wanted = [None if value is None else Decimal(value) for value in values]
        assert made.column(0).to_pylist() == wanted

    def test_moments_keep_microseconds(self) -> None:
        made = table([self.described(FIELD_TYPE.TIMESTAMP, 6)], [["2024-02-29 23:59:59.000001"]])
        wanted = datetime.datetime(2024, 2, 29, 23, 59, 59, 1)  # noqa: DTZ001 - as it is stored
        assert made.column(0).to_pylist() == [wanted]

    def test_decimals_keep_their_scale(self) -> None:
        made = table([self.described(FIELD_TYPE.NEWDECIMAL, 4)], [["1.5000"]])
        assert made.schema.field(0).type == pa.decimal128(38, 4)

    def test_no_rows_have_columns_all_the_same(self) -> None:
        made = table([self.described(FIELD_TYPE.LONG), self.described(FIELD_TYPE.DATE)], [])
        assert (made.num_rows, made.num_columns) == (0, 2)
        assert made.schema.types == [pa.int64(), pa.date32()]

    def test_a_date_that_is_none_is_refused(self) -> None:
        with pytest.raises(ValueError, match="0000-00-00"):
            table([self.described(FIELD_TYPE.DATE)], [["0000-00-00"]])


class TestDsn:
    def test_a_whole_one(self) -> None:
        read = read_dsn("mariadb://me:p%40%2F%3A%25@db:3307/shop?unix_socket=%2Frun%2Fs&set.x=1")
        assert [read[key] for key in ("user", "password")] == ["me", "p@/:%"]
        assert (read["host"], read["port"], read["database"]) == ("db", 3307, "shop")
        assert read["unix_socket"] == "/run/s"
        assert read["settings"] == {"x": "1"}

    def test_what_is_left_out_is_the_usual(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MYSQL_PWD", "a%41b")
        read = read_dsn("mysql://me@localhost")
        assert (read["port"], read["database"], read["password"]) == (3306, None, "a%41b")

    @pytest.mark.parametrize(
        "dsn",
        [
            "mariadb://me:secret@host:port/shop",
            "mariadb://me:sec/ret@host/shop",
            "mariadb://me:secret@host/shop?colour=secret",
            "mariadb://me:secret@host/shop?connect_timeout=secret",
            "mariadb://me:secret@host/shop/more",
            "mariadb://me:sec#ret@host/shop",
            "http://me:secret@host/shop",
        ],
    )
    def test_what_cannot_be_read_is_not_quoted(self, dsn: str) -> None:
        with pytest.raises(EngineError, match="the DSN cannot be read") as caught:
            read_dsn(dsn)
        assert "secret" not in str(caught.value)

    def test_settings_are_added_to_those_that_it_has(self) -> None:
        dsn = with_settings("mariadb://me@db/shop?set.a=1", {"sql_mode": "ANSI,X&Y"})
        assert read_dsn(dsn)["settings"] == {"a": "1", "sql_mode": "ANSI,X&Y"}
        plain = with_settings("mariadb://me@db/shop", {"b": "2"})
        assert read_dsn(plain)["settings"] == {"b": "2"}


class TestServers:
    @pytest.mark.parametrize(
        "told", ["10.11.19-MariaDB-0+deb12u1", "11.4.2-MariaDB", "10.5.0-MariaDB"]
    )
    def test_those_that_can_be_spoken_to(self, told: str) -> None:
        _check_version(told)

    @pytest.mark.parametrize("told", ["8.4.3", "10.4.34-MariaDB", "MariaDB"])
    def test_others_are_refused(self, told: str) -> None:
        with pytest.raises(EngineError, match=r"MariaDB 10\.5 and later"):
            _check_version(told)

    @pytest.mark.parametrize("name", ["datadir", "INIT-FILE", "secure_file_priv"])
    def test_what_is_ours_to_set(self, name: str) -> None:
        with pytest.raises(EngineError, match="Assay's to set"):
            refuse_ours({name: "x"})

    def test_a_configuration_is_for_the_owners_eyes(self, tmp_path: Path) -> None:
        file = tmp_path / "assay.cnf"
        write_configuration(file, {"sql_mode": 'a"b\\c'})
        assert file.stat().st_mode & 0o077 == 0
        assert file.read_text("utf-8") == '[mariadbd]\nsql_mode = "a\\"b\\\\c"\n'

    def test_every_setting_of_ours_has_a_reason_beside_it(self) -> None:
        conf = Path(loading.__file__).parent / "conf"
        for name in ("run.cnf", "load.cnf"):
            lines = (conf / name).read_text("utf-8").splitlines()
            assert read_configuration(conf / name)
            said = [one for one, two in itertools.pairwise(lines) if "=" in two]
            assert all(one.startswith("#") or "=" in one for one in said)


class FakeConnection:
    """Raises what it is told to raise."""

    open = True

    def __init__(self, error: Exception) -> None:
        self._error = error
        self.rolled_back = 0

    def cursor(self) -> FakeConnection:
        return self

    def __enter__(self) -> FakeConnection:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def execute(self, _: str) -> None:
        raise self._error

    def escape(self, value: object) -> str:
        return repr(value)

    def rollback(self) -> None:
        self.rolled_back += 1

    def close(self) -> None:
        self.open = False


class TestErrors:
    @pytest.mark.parametrize(
        ("number", "sqlstate", "retryable"),
        [(1213, "40001", True), (1205, "HY000", True), (1062, "23000", False), (1064, None, False)],
    )
    def test_they_have_a_class_and_say_whether_to_try_again(
        self, monkeypatch: pytest.MonkeyPatch, number: int, sqlstate: str | None, retryable: bool
    ) -> None:
        connection = FakeConnection(pymysql.OperationalError(number, "no", sqlstate=sqlstate))
        monkeypatch.setattr("assay.engines.mariadb.session.connect", lambda *_, **__: connection)
        script = Script((ScriptOperation("one", (ScriptStatement("select 1"),)),))
        with pytest.raises(Exception, match=f"no .{number}.") as caught:
            MariaSession(ADDRESS, script).execute(0, [])
        told: Any = caught.value
        assert (told.sqlstate, told.retryable) == (sqlstate or "HY000", retryable)
        assert connection.rolled_back == 1

    def test_a_lost_connection_is_closed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        connection = FakeConnection(pymysql.OperationalError(2013, "Lost connection"))
        monkeypatch.setattr("assay.engines.mariadb.session.connect", lambda *_, **__: connection)
        script = Script((ScriptOperation("one", (ScriptStatement("select 1"),)),))
        with pytest.raises(Exception, match="Lost connection") as caught:
            MariaSession(ADDRESS, script).execute(0, [])
        told: Any = caught.value
        assert (told.sqlstate, told.retryable, connection.open) == ("08006", False, False)


class TestKeys:
    def test_kinds_are_told_by_their_words(self) -> None:
        kinds = {
            "alter table a add constraint k primary key (x)": "primary keys",
            "create unique index i on a (x)": "primary keys",
            "create index i on a (x)": "indexes",
            "alter table a add constraint f foreign key (x) references b (y)": "foreign keys",
        }
        assert {text: loading.kind_of(text) for text in kinds} == kinds

    def test_changes_of_one_table_are_together(self) -> None:
        ours = ["create index i on `A` (x)", "alter table a add index (y)"]
        others = ["create index j on b (x)"]
        assert loading._by_table(ours + others) == {"a": ours, "b": others}


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
        assert partsupp.condition == "ps_partkey = assay.part.p_partkey"

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

    def test_subqueries_may_be_cut_short(self) -> None:
        found = [node for node in plan("q22").root.walk() if node.operator == "subquery"]
        assert len(found) == 2
        orders = scans(plan("q22"))["orders"]
        assert orders.cut_short
        assert orders.loops == 1856

    def test_a_change_stands_above_what_it_reads(self) -> None:
        made = plan("update")
        assert (made.root.operator, made.root.native) == ("modify", "update")
        (read,) = made.root.children
        assert (read.index, read.rows, read.loops) == ("PRIMARY", 1, 1)

    def test_a_row_that_was_read_while_planning_has_no_count(self) -> None:
        (node,) = plan("constant").root.walk()
        assert (node.native, node.rows, node.loops) == ("const", None, None)

    def test_what_only_inserts_names_its_table(self) -> None:
        (node,) = plan("insert").root.walk()
        assert (node.operator, node.native, node.object) == ("modify", "insert", "history")

    @pytest.mark.parametrize("told", ["[]", "{}", '{"query_block": 1}', "nonsense"])
    def test_other_words_are_refused(self, told: str) -> None:
        with pytest.raises(ValueError, match=r"."):
            normalised(told, "q", 0, "q.json")
