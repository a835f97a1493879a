"""Whatever a parser of foreign text is given, it reads it or raises its own error, and no other.

`ASSAY_FUZZ=100000` has so many examples of each made instead of those of a test run.
"""

from __future__ import annotations

import importlib
import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.engines.bridge.addresses import read_dsn as read_jdbc
from assay.engines.mysql_family import logs as mysql_logs
from assay.engines.mysql_family.connecting import read_dsn as read_mysql
from assay.engines.postgresql import logs as postgresql_logs
from assay.engines.postgresql.connecting import read_dsn as read_postgresql
from assay.engines.spark.connecting import read_dsn as read_spark
from assay.engines.sparql_family.addresses import read_dsn as read_sparql
from assay.model.errors import AssayError
from assay.study.declared.reading import read_declared
from assay.workloads import scripts
from assay.workloads.discovery import read_workload
from assay.workloads.rewriting.rewritten import parts, without_part
from tests.faults.foreign import changed_documents, changed_texts, refused_only_by, samples

EXAMPLES = int(os.environ.get("ASSAY_FUZZ", "30"))
FUZZ = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=EXAMPLES < 1_000,
    suppress_health_check=list(HealthCheck),
)
PLANS = (
    "chdb",
    "dolt",
    "duckdb",
    "mariadb",
    "mysql",
    "postgresql",
    "spark",
    "sqlite",
    "trino",
    "virtuoso",
)
ADDRESSES = (
    "postgresql://me:secret@host:5432,other:1/shop?sslmode=verify-full&connect_timeout=3",
    "host=/tmp port=5432 user='a b' password='it\\'s' dbname=shop",
    "mysql://me:p%40ss@[::1]:3306/shop?ssl-mode=REQUIRED&socket=/tmp/x",
    "jdbc:postgresql://localhost/shop?user=me&password=x",
    "http://me:x@localhost:8890/sparql?graph=http://a/b&update=/u",
    "sqlite:/tmp/shop.db",
    "duckdb:/tmp/shop.duckdb",
    "spark://localhost:10000/default",
)
READERS = {
    "postgresql": read_postgresql,
    "mysql": read_mysql,
    "jdbc": read_jdbc,
    "sparql": read_sparql,
    "spark": read_spark,
}
LOGS = (
    '2026-11-24 18:18:37.804 UTC,,"shop",1,,6b05d4fd.a5c,1,,,,,LOG,0,"statement: select 1"'
    ',,,,,,,,,"psql",,,\n' * 2,
    (
        '{"timestamp":"2026-11-24 18:18:37.804 UTC","dbname":"shop","session_id":"6b0",'
        '"error_severity":"LOG","message":"execute a: select $1",'
        '"detail":"Parameters: $1 = \'1\'"}\n'
    ),
    (
        "# Time: 2026-11-24T18:18:37.804Z\n# User@Host: me[me] @ localhost []  Id: 3\n"
        "# Query_time: 0.1  Lock_time: 0.0 Rows_sent: 1  Rows_examined: 1\nSET timestamp=1;\n"
        "select 1;\n"
    ),
    (
        "/usr/sbin/mysqld, Version: 8.4.0. started with:\nTime  Id Command Argument\n"
        "2026-11-24T18:18:37.804Z\t 3 Query\tselect 1\n"
    ),
)
MANIFESTS = tuple(
    path.read_text("utf-8")
    for path in sorted(Path(scripts.__file__).parent.glob("*/workload.toml"))
)
STUDIES = tuple(
    path.read_text("utf-8")
    for path in sorted((Path(scripts.__file__).parents[1] / "studies").glob("*/study.toml"))
)
SQL = (
    "begin; update t set a = $1 where b = ${b}; select 'x;y', $t$ a;b $t$ -- c\n; commit",
    "select * from \"a\"\"b\" where c like '%\\'' /* d; */ and e in (1, 2e3, x'ff', n'g')",
)
QUERIES = (
    (
        "select a.b, sum(c * $1) s from t a join u on a.i = u.i where d like 'x%' and e in (1, 2) "
        "group by a.b having count(*) > 3 order by s desc limit 10"
    ),
    (
        "with r as (select distinct i, f(g) from t where h between date '2024-01-01' and $2) "
        "select count(*), max(i) from r left join u using (i) where not exists (select 1 from v)"
    ),
)


def normalised(engine: str, text: str) -> object:
    return importlib.import_module(f"assay.engines.{engine}.plans").normalised(text, "q", 0, "q")


@pytest.mark.parametrize("engine", PLANS)
def test_any_plan_is_read_or_refused(engine: str) -> None:
    whole = samples(engine)
    documents = tuple(text for text in whole if is_json(text))
    texts = changed_texts(whole)
    drawn = (changed_documents(documents) | texts) if documents else texts

    @FUZZ
    @given(drawn)
    def any_plan(text: str) -> None:
        refused_only_by(lambda text: normalised(engine, text), text, ValueError)

    any_plan()


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("engine", READERS)
def test_any_address_is_read_or_refused(engine: str) -> None:
    @FUZZ
    @given(changed_texts(ADDRESSES) | st.text(max_size=40))
    def any_address(text: str) -> None:
        refused_only_by(READERS[engine], text, AssayError)

    any_address()


@pytest.mark.parametrize("read", [mysql_logs.read_logs, postgresql_logs.read_logs])
def test_any_log_is_read_or_refused(read, tmp_path: Path) -> None:
    file = tmp_path / "server.log"

    @FUZZ
    @given(changed_texts(LOGS))
    def any_log(text: str) -> None:
        file.write_text(text, "utf-8", errors="surrogatepass")
        refused_only_by(lambda _: read([file]), text, AssayError)

    any_log()


def test_any_manifest_is_read_or_refused() -> None:
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "q.sql").write_text("select 1", "utf-8")

        @FUZZ
        @given(changed_texts(MANIFESTS))
        def any_manifest(text: str) -> None:
            (Path(place) / "workload.toml").write_text(text, "utf-8")
            refused_only_by(lambda _: read_workload(Path(place)), text, AssayError)

        any_manifest()


def test_any_study_is_read_or_refused(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"

    @FUZZ
    @given(changed_texts(STUDIES))
    def any_study(text: str) -> None:
        file.write_text(text, "utf-8")
        refused_only_by(lambda _: read_declared(file), text, AssayError)

    any_study()


@pytest.mark.parametrize("dialect", ["postgresql", "mysql", "duckdb", "sqlite"])
def test_any_script_is_split_or_refused(dialect: str) -> None:
    @FUZZ
    @given(changed_texts(SQL) | st.text(max_size=40))
    def any_script(text: str) -> None:
        refused_only_by(lambda text: scripts.statements(text, (dialect,)), text, ValueError)

    any_script()


@pytest.mark.parametrize("dialect", ["postgresql", "mysql", "duckdb", "sqlite", "virtuoso"])
def test_any_query_is_taken_apart_or_refused(dialect: str) -> None:
    def rewrite(text: str) -> None:
        for part in parts(text, (dialect,)):
            without_part(text, (dialect,), part.name)

    @FUZZ
    @given(changed_texts(QUERIES))
    def any_query(text: str) -> None:
        refused_only_by(rewrite, text, AssayError)

    any_query()
