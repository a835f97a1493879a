"""From statements that somebody sent to a workload that plays them: nothing is made up."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import assay
from assay.engines.mysql_family.constants import MysqlConstants
from assay.engines.postgresql.constants import PostgresConstants
from assay.model.captured import Counted, CountedStatement, LoggedStatement
from assay.model.errors import AssayError, UsageError
from assay.running.asked.driver_plan import Mix, driver_plan, without_dues
from assay.running.asked.options import options_of
from assay.running.asked.understanding import request_of
from assay.running.capturing import check_folder
from assay.workloads.captured import writing
from assay.workloads.captured.anonymising import Anonymiser
from assay.workloads.captured.counted import counted_operations
from assay.workloads.captured.operations import operations_of
from assay.workloads.captured.schedule import recorded_schedule
from assay.workloads.captured.shapes import Shapes
from assay.workloads.captured.transactions import Transactions, executions_of
from assay.workloads.choosing import only
from assay.workloads.discovery import read_workload

LOGS = Path(__file__).parent / "data" / "logs"
CSV_LOG = LOGS / "postgresql-18-statements.csv"
MS_NS = 1_000_000


def shape(text: str, grammar=None, values=()) -> tuple[str, list[object]]:
    """The statement with `?` for its constants, and their values."""
    (stated,) = Shapes(grammar or PostgresConstants()).stated(text, values)
    return "?".join(stated.pieces), [constant.value for constant in stated.constants]


def logged(*texts: str, session: str = "1", **more) -> list[LoggedStatement]:
    return [
        LoggedStatement(number * MS_NS, session, text, **more) for number, text in enumerate(texts)
    ]


def played(statements: list[LoggedStatement], grammar=None) -> tuple[list[str], dict[str, int]]:
    """Each execution as a text, and what was left out."""
    executions, transactions = executions_of(statements, grammar or PostgresConstants())
    texts = [
        "; ".join("?".join(part.pieces) for part in execution.statements)
        for execution in executions
    ]
    return texts, dict(transactions.left_out)


@pytest.mark.parametrize(
    ("text", "form", "values"),
    [
        ("select a from t where b = 5", "select a from t where b = ?", [5]),
        ("select a-1, -2 from t", "select a-?, ? from t", [1, -2]),
        ("update t set a = a + -2.50", "update t set a = a + ?", [Decimal("-2.50")]),
        ("select a from t1 where b in (.5, 1e3)", "select a from t1 where b in (?, ?)", [
            Decimal("0.5"), Decimal(1000)]),
        ("select 'it''s', E'a\\n', $x$y'$x$", "select ?, ?, ?", ["it's", "a\n", "y'"]),
        ("insert into t values (1, null)", "insert into t values (?, ?)", [1, None]),
        ("select a from t where b is null", "select a from t where b is null", []),
        ("select a from t order by 2, 1", "select a from t order by 2, 1", []),
        ("select a from t order by 2 limit 3", "select a from t order by 2 limit ?", [3]),
        ("select a::numeric(10, 2) from t", "select a::numeric(10, 2) from t", []),
        ("select a->>'k' from t", "select a->>'k' from t", []),
        ("select now() - interval '1 day'", "select now() - interval '1 day'", []),
        ("select date '2024-02-29'", "select ?", ["2024-02-29"]),
        ("select x'ff', b'101'", "select x'ff', b'101'", []),
        ("select a -- for user 7\nfrom t /* 8 */ where b = 9", "select a from t where b = ?", [9]),
        ("/*+ SeqScan(t) */ select 1", "select ?", [1]),
        ("select /*+ SeqScan(t) */ 1", "select /*+ SeqScan(t) */ ?", [1]),
    ],
)  # fmt: skip
def test_constants_become_values_where_a_bound_value_means_the_same(text, form, values) -> None:
    made = shape(text)
    assert (re.sub(r"\s+", " ", made[0]), made[1]) == (form, values)


@pytest.mark.parametrize(
    ("text", "form", "values"),
    [
        ("select 'it\\'s', \"q\", 'a\\%'", "select ?, ?, ?", ["it's", "q", "a\\%"]),
        ("insert into t values (x'0F', 0xABC, _binary'\\0a')", "insert into t values (?, ?, ?)", [
            "0F", "0ABC", "0061"]),
        ("select _utf8mb4'ä', n'b'", "select ?, ?", ["ä", "b"]),
        ("select a + interval 5 day from t", "select a + interval ? day from t", [5]),
        ("select 1.5e0, b'1'", "select ?, b'1'", [Decimal("1.5")]),
        ("select 'a' 'b'", "select 'a' 'b'", []),
    ],
)  # fmt: skip
def test_constants_of_mysql_are_read_as_it_writes_them(text, form, values) -> None:
    assert shape(text, MysqlConstants()) == (form, values)


def test_values_of_parameters_take_their_places() -> None:
    text = "select a from t where b = $2 and c = $1"
    assert shape(text, values=("x", None))[1] == [None, "x"]
    with pytest.raises(ValueError, match="contains no parameter values of the statement"):
        shape(text, values=("x",))


def test_a_form_that_was_read_once_holds_for_other_constants_alone() -> None:
    shapes = Shapes(PostgresConstants())
    texts = [
        "select a from t where b = 'x' and c = -1 order by 2",
        "select a from t where b = 'it''s' and c = -77 order by 2",
        "select a from t where b = 'x' and c = -1 order by 3",
        "select a from t where b = 'x' and c = 99999999999999999999 order by 2",
        "select a from t where b = '' and c - 1 order by 2",
    ]
    for text in [*texts, *texts]:
        assert shapes.stated(text, ()) == Shapes(PostgresConstants()).stated(text, ())


def test_what_stands_between_begin_and_end_is_one_execution() -> None:
    texts, left_out = played(
        logged("select 1", "BEGIN", "select 2", "update t set a = 3", "COMMIT", "begin", "commit")
        + logged("begin read only", "select 4", "rollback", session="2")
    )
    assert sorted(texts) == [
        "BEGIN; select ?; update t set a = ?; COMMIT",
        "begin read only; select ?; rollback",
        "select ?",
    ]
    assert left_out == {}


def test_several_statements_sent_at_once_are_a_transaction() -> None:
    assert played(logged("update t set a = 1; select 2"))[0] == [
        "begin; update t set a = ?; select ?; commit"
    ]
    assert played(logged("begin; select 2; commit"))[0] == ["begin; select ?; commit"]


def test_a_transaction_goes_with_what_it_cannot_be_without() -> None:
    failed = LoggedStatement(2, "1", "insert into t values (1)", failed=True)
    begun = logged("begin", "update t set a = 1")
    texts, left_out = played([*begun, failed, *logged("rollback", "select 1")])
    assert texts == ["select ?"]
    assert left_out == {
        "statements that failed": 1,
        "transactions that have a statement that was left out or failed": 1,
    }
    texts, left_out = played(logged("begin", "create temp table x (a int)", "select 1", "commit"))
    assert texts == []
    assert left_out["statements of kind create"] == 1


def test_what_the_log_cuts_is_left_out() -> None:
    texts, left_out = played(logged("update t set a = 1", "select 2", "commit", "select 3"))
    assert texts == ["select ?"]
    assert left_out == {"transactions that begin or end outside of the log": 1}
    texts, left_out = played(logged("begin", "select 1"))
    assert texts == []
    assert left_out == {"transactions that begin or end outside of the log": 1}


def test_sessions_without_autocommit_begin_with_their_first_statement() -> None:
    mysql = MysqlConstants()
    texts, _ = played(
        logged(
            "SET AUTOCOMMIT = 0", "select 1", "update t set a = 2", "COMMIT", "select 3", "commit"
        ),
        mysql,
    )
    assert texts == ["begin; select ?; update t set a = ?; COMMIT", "begin; select ?; commit"]
    # Its `set` was before the log: the statements before a commit are its transaction.
    texts, _ = played(logged("select 1", "update t set a = 2", "commit"), mysql)
    assert texts == ["begin; select ?; update t set a = ?; commit"]


def test_what_may_hold_a_secret_is_left_out_and_counted() -> None:
    texts, left_out = played(
        logged(
            "alter role bob password 'topsecret'",
            "select 1 from users where password = 'topsecret'",
            "topsecret",
            "set app.key = 'topsecret'",
        )
    )
    assert texts == []
    assert left_out == {
        "statements of kind alter": 1,
        "statements that may hold a secret": 1,
        "statements of a kind that is not played": 1,
        "settings of sessions (set, show, use, ...)": 1,
    }
    assert "topsecret" not in str(left_out)


def test_bytes_that_are_no_text_are_left_out() -> None:
    text = b"insert into t values ('\xff')".decode("utf-8", "surrogateescape")
    assert played(logged(text)) == ([], {"statements with bytes that are no text": 1})


def captured(tmp_path: Path, statements: list[LoggedStatement], grammar=None, by=None) -> Path:
    """A folder of these statements."""
    grammar = grammar or PostgresConstants()
    executions, _ = executions_of(statements, grammar, by.quoted if by else None)
    operations = operations_of(executions, grammar, by)
    folder = tmp_path / "workload"
    about = {"title": "t", "captured": {"clients": 3, "seconds": 1.5}}
    writing.write_workload(folder, operations, about)
    return folder


def pgbench(count: int) -> list[LoggedStatement]:
    statements = []
    for number in range(1, count + 1):
        texts = [
            "BEGIN;",
            (f"UPDATE accounts SET balance = balance + {-number} WHERE aid = {number};"),  # noqa: S608
            f"SELECT balance FROM accounts WHERE aid = {number};",  # noqa: S608 - a log's
            "SELECT 'fixed' FROM tellers LIMIT 1",
            "END;",
        ]
        begun_ns = number * 100 * MS_NS
        statements += [
            LoggedStatement(begun_ns + place, str(number % 3), text)
            for place, text in enumerate(texts)
        ]
    return statements


def test_an_operation_has_what_differs_as_values_and_keeps_the_rest(tmp_path: Path) -> None:
    folder = captured(tmp_path, pgbench(4))
    assert (folder / "operations" / "update-accounts.sql").read_text() == (
        "BEGIN;\n"
        "UPDATE accounts SET balance = balance + ${p1}::int WHERE aid = ${p2}::int;\n"
        "SELECT balance FROM accounts WHERE aid = ${p2}::int;\n"
        "SELECT 'fixed' FROM tellers LIMIT 1;\n"
        "END;\n"
    )
    rows = pq.read_table(folder / "values" / "update-accounts.parquet").to_pylist()
    assert rows == [{"p1": -number, "p2": number} for number in (1, 2, 3, 4)]


def test_a_value_stands_once_in_a_statement(tmp_path: Path) -> None:
    """Two places of a statement may want two types of one value."""
    texts = [f"insert into t values ('{n}', '{n}')" for n in "ab"]  # noqa: S608 - a log's
    folder = captured(tmp_path, logged(*texts))
    text = (folder / "operations" / "insert-t.sql").read_text()
    assert text == "insert into t values (${p1}, ${p2});\n"


def test_values_of_all_kinds_come_to_the_driver_as_they_were(tmp_path: Path) -> None:
    rows = ["(1, 2.5, 'x', null)", "(-7, 10, 'it''s ${p}', 'y')", "(3000000000, 0.125, '', 'z')"]
    texts = ["insert into t values " + row for row in rows]  # noqa: S608 - a log's
    folder = captured(tmp_path, logged(*texts))
    text = (folder / "operations" / "insert-t.sql").read_text()
    assert "${p1}::bigint, ${p2}::numeric, ${p3}, ${p4}" in text
    (operation,) = read_workload(folder).script(("postgresql",), 1.0, 1).operations
    assert operation.joint
    assert [draw.choice for draw in operation.draws] == [
        (1, -7, 3_000_000_000),
        ((2500, 3), (10000, 3), (125, 3)),
        ("x", "it's ${p}", ""),
        (None, "y", "z"),
    ]


def test_a_constant_that_looks_like_a_name_of_a_value_is_one(tmp_path: Path) -> None:
    folder = captured(tmp_path, logged("select '${x}' from t", "select '${x}' from t"))
    assert "${x}" not in (folder / "operations" / "select-t.sql").read_text()
    assert read_workload(folder).script(("postgresql",), 1.0, 1).operations[0].draws


def test_weights_are_counts_and_the_schedule_has_every_execution(tmp_path: Path) -> None:
    singles = logged(*["select 1 from u"] * 6, session="9")
    workload = read_workload(captured(tmp_path, [*pgbench(4), *singles]))
    assert workload.weights == {"select-u": 6, "update-accounts": 4}
    schedule = recorded_schedule(workload)
    assert len(schedule) == 10
    assert [told.at_ns for told in schedule if told.operation == "update-accounts"] == [
        number * 100 * MS_NS for number in (1, 2, 3, 4)
    ]
    assert [told.row for told in schedule if told.operation == "update-accounts"] == [0, 1, 2, 3]
    assert recorded_schedule(only(workload, ["select-u"]))[0].operation == "select-u"


def test_another_schedule_is_another_workload(tmp_path: Path) -> None:
    first = read_workload(captured(tmp_path / "a", pgbench(4)))
    same = read_workload(captured(tmp_path / "b", pgbench(4)))
    other = read_workload(captured(tmp_path / "c", pgbench(5)))
    assert first.content_hash == same.content_hash != other.content_hash


def request(folder: Path, *given: str, **options):
    keys = {"workload": str(folder), "engine": "postgresql", **options}
    return request_of(options_of(keys), [*options, *given])


def test_recorded_times_are_played_at_their_speed(tmp_path: Path) -> None:
    folder = captured(tmp_path, pgbench(4))
    workload = read_workload(folder)
    asked = request(folder, as_recorded=True, speed=2)
    assert (asked.clients, asked.time_s, asked.warmup_s) == (3, 0.75, 0.0)
    mix = Mix(recorded=recorded_schedule(workload))
    plan = driver_plan(asked, workload.facts.order, workload.weights, mix=mix)
    (phase,) = plan["phases"]
    assert phase["dues"] == [
        [0, 0, 0],
        [50 * MS_NS, 0, 1],
        [100 * MS_NS, 0, 2],
        [150 * MS_NS, 0, 3],
    ]
    assert phase["arrival"] == {"shape": "open", "rate_per_s": 4 / 0.75, "clients": 3}
    assert "dues" not in without_dues(plan)["phases"][0]
    assert "dues" in phase
    asked = request(folder, as_recorded=True, time="120ms")
    plan = driver_plan(asked, workload.facts.order, workload.weights, mix=mix)
    assert [due[0] for due in plan["phases"][0]["dues"]] == [0, 100 * MS_NS]


def test_without_recorded_times_it_is_an_ordinary_mix(tmp_path: Path) -> None:
    asked = request(captured(tmp_path, pgbench(4)))
    assert (asked.as_recorded, asked.clients, asked.rate_per_s) == (False, 3, None)
    assert request(tmp_path / "workload", rate=5).rate_per_s == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"as_recorded": True, "rate": 5}, "--as-recorded and --rate"),
        ({"as_recorded": True, "warmup": "1s"}, "--as-recorded and --warmup"),
        ({"as_recorded": True, "think_time": True}, "--as-recorded and --think-time"),
        ({"speed": 2.0}, "add --as-recorded"),
        ({"as_recorded": True, "speed": -1}, "speed"),
    ],
)
def test_a_load_is_said_in_one_way(tmp_path: Path, options, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        request(captured(tmp_path, pgbench(4)), **options)


def test_a_workload_that_was_written_has_no_recorded_times() -> None:
    with pytest.raises(UsageError, match="has no recorded times: remove --as-recorded, or"):
        request(Path("oltp-read"), as_recorded=True)


def test_damaged_files_of_a_folder_are_told_by_name(tmp_path: Path) -> None:
    folder = captured(tmp_path, pgbench(4))
    (folder / "schedule.parquet").write_bytes(b"PAR1")
    with pytest.raises(UsageError, match=r"schedule\.parquet cannot be read as Parquet"):
        recorded_schedule(read_workload(folder))
    (folder / "values" / "update-accounts.parquet").unlink()
    with pytest.raises(UsageError, match=r"update-accounts\.parquet cannot be read"):
        read_workload(folder).script(("postgresql",), 1.0, 1)


def test_a_log_becomes_a_folder_that_is_read(tmp_path: Path) -> None:
    told = assay.capture(log=CSV_LOG, out=tmp_path / "workload")
    assert (told.statements, told.operations, told.executions, told.transactions) == (26, 8, 14, 2)
    assert told.left_out["statements that failed"] == 3
    workload = read_workload(tmp_path / "workload")
    assert sum(workload.weights.values()) == told.executions
    assert workload.script(("postgresql",), 1.0, 1).operations[0].joint
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    "log", [CSV_LOG, LOGS / "mariadb.slow", LOGS / "mysql.general"], ids=lambda log: log.name
)
def test_no_literal_of_the_log_is_in_an_anonymised_folder(tmp_path: Path, log: Path) -> None:
    assay.capture(log=log, out=tmp_path / "workload", anonymise=True)
    words = ["quoted", "comma", "it's", "it''s", "dollar", "back", "nä", "topsecret", "dest|dir"]
    words += ["2024-02-29", "12345678901", "00ff27", "4.5", "tab", "more", "2024-01-01"]
    tables = [pq.read_table(file) for file in (tmp_path / "workload").rglob("*.parquet")]
    texts = [
        file.read_text()
        for file in (tmp_path / "workload").rglob("*")
        if file.suffix != ".parquet" and file.is_file()
    ]
    texts += [str(table.to_pylist()) for table in tables]
    assert len(texts) > 5
    for word in words:
        assert not any(word in text for text in texts), word
    read_workload(tmp_path / "workload").script(("postgresql", "mysql"), 1.0, 1)


def test_other_values_are_of_the_same_type_and_the_same_each_time() -> None:
    by = Anonymiser(b"key")
    assert by.text("2024-02-29 01:02:03+00") != by.text("2024-02-28 01:02:03+00")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d 01:02:03\+00", by.text("2024-02-29 01:02:03+00"))
    assert re.fullmatch(
        r"[0-9a-f]{8}-[0-9a-f]{4}-.*", by.text("8d9f6a0e-1111-4222-8333-123456789abc")
    )
    assert re.fullmatch(
        r'\{"[a-z]{4}": \d, "[a-z]{4}": \[true, null\]\}',
        by.text('{"name": 7, "list": [true, null]}'),
    )
    assert re.fullmatch(r"[A-Z][a-z]{3}%", by.text("Anna%"))
    assert by.text("day") == "day"
    assert by.text("3 hours") == "3 hours"
    assert by.value(Decimal("-12.50"), "decimal") != Decimal("-12.50")
    assert by.value(None, "null") is None
    assert int(str(by.value(2_147_483_647, "integer"))) < 2_147_483_647


def test_secrets_are_played_where_all_values_are_others(tmp_path: Path) -> None:
    by = Anonymiser(b"key")
    text = "select 1 from users where password = 'topsecret'"
    folder = captured(tmp_path, logged(text, text), by=by)
    assert "topsecret" not in (folder / "operations" / "select-users.sql").read_text()
    assert b"topsecret" not in (folder / "values" / "select-users.parquet").read_bytes()


def test_what_cannot_be_captured_is_one_sentence(tmp_path: Path) -> None:
    def refused(**asked) -> str:
        with pytest.raises(AssayError) as error:
            assay.capture(**{"out": tmp_path / "new", **asked})
        assert not (tmp_path / "new").exists()
        return str(error.value)

    empty, notes = tmp_path / "empty.csv", tmp_path / "notes.txt"
    empty.touch()
    notes.write_text("Dear diary\n")
    assert "the file is empty:" in refused(log=empty)
    assert "unknown log format. Assay reads PostgreSQL's" in refused(log=notes)
    assert "there is no such file" in refused(log=tmp_path / "none.csv")
    assert "the folder exists already" in refused(log=CSV_LOG, out=tmp_path)
    assert "either --log FILE or --dsn" in refused()
    assert "either --log FILE or --dsn" in refused(log=CSV_LOG, dsn="postgresql://h/d")
    assert "statements of this database, only of: postgres" in refused(log=CSV_LOG, database="shop")
    assert "--database applies to a log" in refused(dsn="postgresql://h/d", database="d")
    assert "--engine applies to a server" in refused(log=CSV_LOG, engine="mysql")
    assert "cannot read statement counters of sqlite: capture" in refused(
        dsn="x.db", engine="sqlite", time="1s"
    )
    assert "--time" in refused(log=CSV_LOG, time="0s")
    check_folder(tmp_path / "new")


def test_the_beginning_of_a_log_can_be_captured(tmp_path: Path) -> None:
    told = assay.capture(log=CSV_LOG, out=tmp_path / "workload", time="80ms")
    assert told.left_out["statements after --time"] > 10
    assert told.executions < 8


def test_counted_statements_have_weights_and_values_of_samples() -> None:
    counted = Counted(
        "pg_stat_statements",
        [
            CountedStatement("select a from t where b = $1", 90, (
                "select a from t where b = 5", "select a from t where b = 6",
                "select 1; select a from t where b = 7")),
            CountedStatement("update t set a = $1 where b = $2", 40, (
                "update t set a = $1 where b = $2",)),
            CountedStatement("select now()", 7, ()),
            CountedStatement("begin", 50, ()),
            CountedStatement("", 3, ()),
            CountedStatement("select now() - interval $1", 2, ()),
            CountedStatement("alter role bob password 'topsecret'", 1, ()),
        ],
        60.0,
        4,
    )  # fmt: skip
    operations, left_out = counted_operations(counted, PostgresConstants(), None)
    assert [(told.name, told.count, told.unknown) for told in operations] == [
        ("select-t", 90, ()),
        ("update-t", 40, ("p1", "p2")),
        ("select", 7, ()),
    ]
    values = operations[0].columns["p1"]
    assert [constant.value for constant in values] == [5, 6]
    assert sum(left_out.values()) == 56
    assert left_out["executions of statements whose text nobody told"] == 3


def test_a_workload_with_unknown_values_is_refused_until_they_are_filled_in(tmp_path: Path) -> None:
    counted = Counted("c", [CountedStatement("select a from t where b = $1", 2, ())], 1.0, 1)
    operations, _ = counted_operations(counted, PostgresConstants(), None)
    folder = tmp_path / "workload"
    writing.write_workload(folder, operations, {"title": "t", "captured": {"clients": 1}})
    workload = read_workload(folder)
    with pytest.raises(UsageError, match="parameter p1 has no values yet: write values into"):
        workload.script(("postgresql",), 1.0, 1)
    assert "No values were seen of these operations: select-t." in (
        (folder / "workload.toml").read_text()
    )
    with pytest.raises(UsageError, match="has no recorded times: remove --as-recorded, or"):
        recorded_schedule(workload)
    manifest = folder / "workload.toml"
    manifest.write_text(re.sub(r"choice = \[\s*\]", "integer = [1, 9]", manifest.read_text()))
    (operation,) = read_workload(folder).script(("postgresql",), 1.0, 1).operations
    assert operation.statements[0].text == "select a from t where b = $1"
    assert operation.draws[0].integer == (1, 9)


def test_statements_are_counted_whatever_becomes_of_them() -> None:
    transactions = Transactions(PostgresConstants())
    for statement in logged("select 1", "begin", "garbage '"):
        transactions.take(statement)
    assert transactions.statements == 3
    assert transactions.left_out == {"statements that cannot be read": 1}
