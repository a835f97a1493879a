"""What servers of MySQL's kin share, without a server: texts of SQL, addresses, keys."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from assay.engines.contract import EngineError
from assay.engines.mysql_family import loading, proving
from assay.engines.mysql_family.activity import ThreadCounters
from assay.engines.mysql_family.configuration import write_configuration
from assay.engines.mysql_family.connecting import (
    each_server,
    opened,
    own_connections,
    read_dsn,
    session_config,
    with_settings,
)
from assay.engines.mysql_family.server import refuse_ours
from assay.engines.mysql_family.statements import bound, filled, name_of, pieces, split, text_of


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
        words = "the DSN cannot be read|connect_timeout in the DSN is no whole number"
        with pytest.raises(EngineError, match=words) as caught:
            read_dsn(dsn)
        assert "secret" not in str(caught.value)

    @pytest.mark.parametrize(
        ("hosts", "servers"),
        [
            ("a", [("a", 3306)]),
            ("a,b", [("a", 3306), ("b", 3306)]),
            ("a:1,b:3307", [("a", 1), ("b", 3307)]),
            ("a,[::1]:3307,c", [("a", 3306), ("::1", 3307), ("c", 3306)]),
        ],
    )
    def test_a_list_of_servers(self, hosts: str, servers: list[tuple[str, int]]) -> None:
        read = read_dsn(f"mysql://me:hun,t%40er2@{hosts}/shop?connect_timeout=3")
        assert (read["host"], read["port"]) == servers[0]
        assert (read["password"], read["database"]) == ("hun,t@er2", "shop")
        chosen = list(each_server(read))
        assert [(it["host"], it["port"]) for it in chosen] == servers
        # Administration stays on its server, sessions keep the list.
        last = chosen[-1]
        assert [(it["host"], it["port"]) for it in each_server(last)] == servers[-1:]
        config = json.loads(session_config(last))
        assert [(config["host"], config["port"]), *map(tuple, config["others"])] == servers

    @pytest.mark.parametrize("hosts", ["a,", ",a", "a,b:x", "a:1:2,b", "a,b,,c"])
    def test_a_list_that_cannot_be_read_is_not_quoted(self, hosts: str) -> None:
        words = "the DSN cannot be read|connect_timeout in the DSN is no whole number"
        with pytest.raises(EngineError, match=words) as caught:
            read_dsn(f"mysql://me:hunter2@{hosts}/shop")
        assert "hunter2" not in str(caught.value)

    def test_a_unix_socket_is_of_one_host(self) -> None:
        with pytest.raises(EngineError, match="remove unix_socket"):
            read_dsn("mysql://me@a,b/shop?unix_socket=/run/s")
        assert read_dsn("mysql://me@a/shop?unix_socket=/run/s")["unix_socket"] == "/run/s"

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
        with pytest.raises(
            EngineError, match=r"Assay itself sets .* on a server that it starts: remove it"
        ):
            refuse_ours({name: "x"})

    def test_a_configuration_is_for_the_owners_eyes(self, tmp_path: Path) -> None:
        file = tmp_path / "assay.cnf"
        write_configuration(file, {"sql_mode": 'a"b\\c'})
        assert file.stat().st_mode & 0o077 == 0
        assert file.read_text("utf-8") == '[mysqld]\nsql_mode = "a\\"b\\\\c"\n'


class TestSessions:
    def test_they_are_told_where_and_how(self) -> None:
        read = read_dsn("mysql://me:pw@db/shop?set.sql_mode=ANSI&ssl_ca=/a.pem")
        document = json.loads(session_config(read, init=["select 1"]))
        assert (document["host"], document["user"], document["database"]) == ("db", "me", "shop")
        assert (document["tls"]["mode"], document["tls"]["ca"]) == ("verify-ca", "/a.pem")
        assert document["init"] == ["set session `sql_mode` = ANSI", "select 1"]


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


class TestOwnConnections:
    @pytest.fixture
    def ours(self, monkeypatch: pytest.MonkeyPatch) -> MagicMock:
        """A connection with number 7."""
        connection = MagicMock(open=True, thread_id=lambda: 7)
        monkeypatch.setattr(proving, "GuardedConnection", lambda **_: connection)
        opened(read_dsn("mysql://shop@127.0.0.1/shop"))
        return connection

    def test_those_that_are_open_are_told_by_number(self, ours: MagicMock) -> None:
        assert 7 in own_connections()
        ours.open = False
        assert 7 not in own_connections()

    def test_they_are_not_told_as_their_user_s(
        self, ours: MagicMock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        counters = ThreadCounters.__new__(ThreadCounters)
        facts = {"_pid": 1, "_may_look": True, "_activity": "", "_waits": False}
        for name, value in facts.items():
            monkeypatch.setattr(counters, name, value, raising=False)
        rows = ((7, 70, "shop", "Query", None, None), (8, 80, "shop", "Query", None, None))
        monkeypatch.setattr(counters, "_rows", lambda _: rows, raising=False)
        names = {row.connection: row.application for row in counters.activity()}
        assert names == {7: "assay", 8: "shop"}, ours
