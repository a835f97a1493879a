"""What servers of MySQL's kin share, without a server: texts of SQL, values, addresses, errors."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pymysql
import pytest
from pymysql.constants import FIELD_TYPE

from assay.engines.contract import EngineError
from assay.engines.mysql_family import loading
from assay.engines.mysql_family.configuration import write_configuration
from assay.engines.mysql_family.connecting import read_dsn, with_settings
from assay.engines.mysql_family.server import refuse_ours
from assay.engines.mysql_family.session import FamilySession
from assay.engines.mysql_family.statements import bound, filled, name_of, pieces, split, text_of
from assay.engines.mysql_family.values import table
from assay.model.script import Script, ScriptOperation, ScriptStatement

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
        assert "{name}" in filled("marks/write.sql", texts={"mark": "{name}"}, name="x")


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
        read = read_dsn("mysql://me:p%40%2F%3A%25@db:3307/shop?unix_socket=%2Frun%2Fs&set.x=1")
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
            "mysql://me:secret@host:port/shop",
            "mysql://me:sec/ret@host/shop",
            "mysql://me:secret@host/shop?colour=secret",
            "mysql://me:secret@host/shop?connect_timeout=secret",
            "mysql://me:secret@host/shop/more",
            "mysql://me:sec#ret@host/shop",
            "http://me:secret@host/shop",
        ],
    )
    def test_what_cannot_be_read_is_not_quoted(self, dsn: str) -> None:
        with pytest.raises(EngineError, match="the DSN cannot be read") as caught:
            read_dsn(dsn)
        assert "secret" not in str(caught.value)

    def test_an_engine_has_schemes_of_its_own(self) -> None:
        assert read_dsn("shop://me@db/shop", ("shop",))["host"] == "db"
        with pytest.raises(EngineError, match="write shop://user@host"):
            read_dsn("other://me@db/shop", ("shop",))

    def test_settings_are_added_to_those_that_it_has(self) -> None:
        dsn = with_settings("mysql://me@db/shop?set.a=1", {"sql_mode": "ANSI,X&Y"})
        assert read_dsn(dsn)["settings"] == {"a": "1", "sql_mode": "ANSI,X&Y"}
        plain = with_settings("mysql://me@db/shop", {"b": "2"})
        assert read_dsn(plain)["settings"] == {"b": "2"}


class TestServers:
    @pytest.mark.parametrize("name", ["datadir", "INIT-FILE", "secure_file_priv"])
    def test_what_is_ours_to_set(self, name: str) -> None:
        with pytest.raises(EngineError, match="Assay's to set"):
            refuse_ours({name: "x"})

    def test_a_configuration_is_for_the_owners_eyes(self, tmp_path: Path) -> None:
        file = tmp_path / "assay.cnf"
        write_configuration(file, {"sql_mode": 'a"b\\c'})
        assert file.stat().st_mode & 0o077 == 0
        assert file.read_text("utf-8") == '[mysqld]\nsql_mode = "a\\"b\\\\c"\n'


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
        monkeypatch.setattr(
            "assay.engines.mysql_family.session.connect", lambda *_, **__: connection
        )
        script = Script((ScriptOperation("one", (ScriptStatement("select 1"),)),))
        with pytest.raises(Exception, match=f"no .{number}.") as caught:
            FamilySession(ADDRESS, script).execute(0, [])
        told: Any = caught.value
        assert (told.sqlstate, told.retryable) == (sqlstate or "HY000", retryable)
        assert connection.rolled_back == 1

    def test_a_lost_connection_is_closed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        connection = FakeConnection(pymysql.OperationalError(2013, "Lost connection"))
        monkeypatch.setattr(
            "assay.engines.mysql_family.session.connect", lambda *_, **__: connection
        )
        script = Script((ScriptOperation("one", (ScriptStatement("select 1"),)),))
        with pytest.raises(Exception, match="Lost connection") as caught:
            FamilySession(ADDRESS, script).execute(0, [])
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
