"""The Python side of the bridge: addresses, secrets, statements, values, what is missing."""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from assay.engines.bridge import jre, values
from assay.engines.bridge.addresses import hidden, read_dsn, session_config
from assay.engines.bridge.drivers import find_driver
from assay.engines.bridge.errors import BridgeError
from assay.engines.bridge.process import JAR, command
from assay.engines.bridge.statements import bound, marked, split
from assay.engines.contract import EngineError
from assay.model.secrets import without_secrets

SECRET = "hunter2!"  # noqa: S105 - made up
URLS = [
    f"jdbc:postgresql://db.example/shop?user=me&password={SECRET}&ssl=true",
    f"jdbc:virtuoso://127.0.0.1:1111/UID=dba/PWD={SECRET}/charset=UTF-8",
    f"jdbc:sqlserver://db.example;databaseName=shop;password={SECRET};encrypt=true",
    f"jdbc:mysql://me:{SECRET}@db.example/shop",
    f"jdbc:oracle:thin:me/{SECRET}@//db.example:1521/shop",
    f'jdbc:oracle:thin:me/"{SECRET}"@//db.example:1521/shop',
    f"jdbc:mysql:loadbalance://me:other@one.example,me:{SECRET}@two.example/shop",
    f"jdbc:mysql://address=(host=db.example)(user=me)(password={SECRET})/shop",
    f"jdbc:sqlserver://db.example;user=me;clientKeyPassword={{{SECRET}}};encrypt=true",
    f"jdbc:snowflake://db.example/?user=me&passcode={SECRET}",
    f"jdbc:bigquery://db.example;OAuthPvtKey={SECRET};ProjectId=x",
    f"jdbc:derby:shop;encryptionKey={SECRET}",
    f"jdbc:clickhouse://db.example/shop?access_token={SECRET}",
]
# Values that one driver reads to their end, and another only to a slash or a semicolon.
HARD = {
    "jdbc:postgresql://h/d?user=me&password=pa/ss;word&ssl=true": "pa/ss",
    "jdbc:sqlserver://h;user=me;password={pa;ss}}word};encrypt=true": "pa;ss}word",
    "jdbc:postgresql://h/d?password=caf%C3%A9%2Fbar": "caf\u00e9/bar",
}


class TestAddresses:
    @pytest.mark.parametrize("url", URLS)
    def test_a_password_is_known_in_every_form_of_url(self, url: str) -> None:
        assert SECRET in hidden(read_dsn(url))

    @pytest.mark.parametrize("url", HARD)
    def test_a_password_with_signs_of_its_own_is_known(self, url: str) -> None:
        assert HARD[url] in hidden(read_dsn(url))

    @pytest.mark.parametrize("url", URLS)
    def test_it_stands_in_no_record(self, url: str) -> None:
        assert SECRET not in without_secrets(url)

    def test_what_is_no_secret_stays(self) -> None:
        plain = "jdbc:postgresql://db.example:5432/shop?user=me&ssl=true"
        assert hidden(read_dsn(plain)) == []
        assert without_secrets(plain) == plain

    def test_user_and_password_come_from_the_environment(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("JDBC_USER", "me")
        monkeypatch.setenv("JDBC_PASSWORD", SECRET)
        address = read_dsn("jdbc:postgresql://db.example/shop")
        assert address["properties"] == {"user": "me", "password": SECRET}
        assert hidden(address) == [SECRET]

    @pytest.mark.parametrize("dsn", ["jdbc:", "jdbc", f"postgresql://me:{SECRET}@h/d", "jdbc:a b"])
    def test_what_is_no_url_is_refused_unquoted(self, dsn: str) -> None:
        with pytest.raises(EngineError, match="jdbc:postgresql://host") as refused:
            read_dsn(dsn)
        assert SECRET not in str(refused.value)

    def test_sessions_are_told_what_they_must_not_tell(self) -> None:
        config = session_config({**read_dsn(URLS[0]), "socket": "/run/b"})
        assert f'"hidden": ["{SECRET}"]' in config


class TestStatements:
    def test_places_of_values_are_marked_in_their_order(self) -> None:
        text = "select '$1', \"$2\" -- $3\n, $2 /* $1 */ where a = $1 and b = $2"
        made, order = marked(text)
        assert made == "select '$1', \"$2\" -- $3\n, ? /* $1 */ where a = ? and b = ?"
        assert order == [1, 0, 1]
        assert bound(text, ["x", "y"])[1] == ["y", "x", "y"]

    def test_a_file_is_split_where_statements_end(self) -> None:
        sql = (
            "create table a (t text default ';'); -- one; two\ninsert into a values ('it''s;');\n;"
        )
        assert split(sql) == [
            "create table a (t text default ';')",
            "insert into a values ('it''s;')",
        ]


class TestValues:
    def test_a_column_has_the_type_that_holds_all(self) -> None:
        columns = [("a", 4), ("b", 3), ("c", 4), ("d", 12), ("e", 91)]
        first = [
            (values.LONG, 1),
            (values.DECIMAL, Decimal("1.25")),
            (values.LONG, 3),
            (values.LONG, 5),
            (values.NULL, None),
        ]
        second = [
            (values.NULL, None),
            (values.LONG, 2),
            (values.DOUBLE, 0.5),
            (values.TEXT, "x"),
            (values.NULL, None),
        ]
        table = values.table(columns, [first, second])
        assert table.schema.types == [
            pa.int64(),
            pa.decimal128(38, 2),
            pa.float64(),
            pa.string(),
            pa.date32(),
        ]
        assert table.column(1).to_pylist() == [Decimal("1.25"), Decimal("2.00")]
        assert table.column(3).to_pylist() == ["5", "x"]

    def test_columns_of_one_name_stay_apart(self) -> None:
        row = [(values.LONG, 1), (values.LONG, 2)]
        assert values.table([("n", 4), ("n", 4)], [row]).column(1).to_pylist() == [2]

    def test_numbers_beyond_decimals_are_digits(self) -> None:
        wide = [(values.DECIMAL, Decimal(10**37))], [(values.DECIMAL, Decimal("0.005"))]
        table = values.table([("n", 3)], wide)
        assert table.column(0).to_pylist() == [str(10**37), "0.005"]

    def test_what_cannot_be_bound_is_named(self) -> None:
        with pytest.raises(BridgeError, match="type set"):
            values.sent([{1}])


class TestWhatIsMissing:
    def test_a_driver_is_a_file_or_a_name_of_maven(self, tmp_path: Path) -> None:
        file = tmp_path / "driver.jar"
        file.write_bytes(b"")
        assert find_driver(str(file), tmp_path) == file
        with pytest.raises(EngineError, match=r"nosuch\.jar: there is no such file"):
            find_driver("nosuch.jar", tmp_path)

    def test_a_bridge_that_was_not_built_says_how(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("assay.engines.bridge.process.JAR", tmp_path / JAR.name)
        with pytest.raises(EngineError, match="`make setup` builds it"):
            command(Path("java"), [tmp_path / JAR.name], tmp_path / "s")

    def test_without_java_one_is_brought_or_asked_for(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("JAVA_HOME", raising=False)
        monkeypatch.setenv("PATH", str(tmp_path))
        asked = []

        def refuse(*_: object) -> None:
            asked.append(True)
            raise EngineError("no network.")

        monkeypatch.setattr(jre, "obtain", refuse)
        with pytest.raises(
            EngineError, match=r"Java 17 or later is needed by JDBC drivers.*JAVA_HOME\. no network"
        ):
            jre.find_java(tmp_path)
        assert asked

    def test_a_java_that_is_too_old_is_passed_over(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name, version in {"old": "1.8.0_402", "young": "21.0.2"}.items():
            program = tmp_path / name / "bin" / "java"
            program.parent.mkdir(parents=True)
            program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
            program.chmod(0o755)
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
        young = tmp_path / "young" / "bin"
        monkeypatch.setenv("PATH", f"{young}{os.pathsep}{os.environ['PATH']}")
        assert jre.find_java(tmp_path) == young / "java"

    def test_the_file_of_a_runtime_tells_its_version_without_executing_it(
        self, tmp_path: Path
    ) -> None:
        program = tmp_path / "jdk" / "bin" / "java"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\nexit 1\n")
        program.chmod(0o755)
        assert jre.java_version(program) == 0
        for version, major in {"21.0.2": 21, "1.8.0_402": 8, "25": 25}.items():
            release = f'IMPLEMENTOR="Somebody"\nJAVA_VERSION="{version}"\nLIBC="gnu"\n'
            (tmp_path / "jdk" / "release").write_text(release)
            assert jre.java_version(program) == major
            link = tmp_path / f"java-{major}"
            link.symlink_to(program)
            assert jre.java_version(link) == major
