"""Logs of servers, as our servers wrote them: what ran, with which values, and what failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.engines.contract import EngineError
from assay.engines.mysql_family import logs as mysql
from assay.engines.postgresql import logs as postgresql
from assay.model.captured import LoggedStatement, ReadLog

LOGS = Path(__file__).parent / "data" / "logs"
POSTGRESQL = [
    "postgresql-18-statements.csv",
    "postgresql-18-durations.json",
    "postgresql-15-durations.csv",
    "postgresql-15-statements.json",
]
MYSQL = ["mysql.general", "mysql.slow", "mariadb.general", "mariadb.slow"]
S_NS = 1_000_000_000


def read(name: str) -> ReadLog:
    family = postgresql if name.startswith("postgresql") else mysql
    log = family.read_logs([LOGS / name])
    assert log is not None
    return log


def one(log: ReadLog, part: str) -> LoggedStatement:
    found = [statement for statement in log.statements if part in statement.text]
    return found[0]


@pytest.mark.parametrize("name", POSTGRESQL)
def test_bound_values_come_with_their_statement(name: str) -> None:
    statement = one(read(name), "$4, now()")
    assert statement.values == ("1", 'it\'s "quoted"\nwith, comma', "\\x00ff27", "1.5")
    assert one(read(name), "$5)").values[1:4] == (None, None, None)


@pytest.mark.parametrize("name", POSTGRESQL)
def test_texts_of_several_lines_and_statements_are_whole(name: str) -> None:
    text = one(read(name), "select name,\n").text
    assert text == (
        "select name,\n -- a comment; with 'quote'\n price from t /* more */ where id = 1 and name"
        " like 'it''s%'"
    )
    assert one(read(name), "begin; update").text.endswith('as "co""l"; commit')


@pytest.mark.parametrize("name", POSTGRESQL)
def test_each_statement_is_there_once_and_those_that_failed_are_marked(name: str) -> None:
    log = read(name)
    prepared = [logged for logged in log.statements if logged.text.startswith("select price")]
    assert sorted(logged.values[0] or "" for logged in prepared) == list("0123456")
    failed = [logged.text for logged in log.statements if logged.failed]
    assert failed == ["selec 1", "select 1/$1 from t", "insert into t(id) values (1)"]


@pytest.mark.parametrize("name", POSTGRESQL)
def test_a_statement_began_before_it_took_its_time(name: str) -> None:
    log = read(name)
    took = [logged.took_ns for logged in log.statements if not logged.failed]
    assert all(time is not None for time in took) == ("durations" in name)
    assert {logged.database for logged in log.statements} == {"postgres"}
    assert len({logged.session for logged in log.statements}) == 2
    span_ns = log.statements[-1].time_ns - log.statements[0].time_ns
    assert 0 < span_ns < S_NS


@pytest.mark.parametrize("name", MYSQL)
def test_texts_are_as_they_were_sent(name: str) -> None:
    log = read(name)
    insert = one(log, "insert into t values (1")
    assert insert.text == (
        "insert into t values (1,'it\\'s \\\"q\\\"\\nwith\ttab\\\\ # Time: x',X'00ff275c',1.5e0,"
        "now())"
    )
    assert one(log, "select name").text == (
        "select name,\n -- a comment; 'q'\n price from t /* more */ where id = 1 and name like"
        " 'it''s%%' # end\n limit 3"
    )


@pytest.mark.parametrize("name", ["mariadb.general", "mariadb.slow"])
def test_what_was_prepared_is_there_with_its_values(name: str) -> None:
    log = read(name)
    asked = [logged.text for logged in log.statements if logged.text.startswith("select price")]
    assert asked == [
        "select price from t where id = 1 and name = 'nä'",
        "select price from t where id = 2 and name = 'nä'",
        "select price from t where id = 3 and name = 'x\\'y'",
    ]


def test_whole_seconds_are_spread_and_told() -> None:
    log = read("mariadb.general")
    times = [logged.time_ns for logged in log.statements]
    assert times == sorted(set(times))
    assert times[-1] - times[0] < S_NS
    assert any("whole seconds" in caution for caution in log.cautions)
    assert not any("whole seconds" in caution for caution in read("mysql.general").cautions)


def test_schemas_and_sessions_are_known() -> None:
    for name in ("mysql.general", "mysql.slow", "mariadb.slow"):
        statement = one(read(name), "insert into t values (2")
        assert statement.database == "shop", name
        assert statement.session, name


def test_a_general_log_does_not_tell_failures_and_says_so() -> None:
    assert any("which statements failed" in said for said in read("mysql.general").cautions)
    assert not any("which statements failed" in said for said in read("mysql.slow").cautions)


@pytest.mark.parametrize("family", [postgresql, mysql])
def test_another_file_is_no_log(family, tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("Dear diary,\n# Time is short\n")
    assert family.read_logs([other]) is None


def test_files_of_two_logs_are_refused(tmp_path: Path) -> None:
    files = [LOGS / "postgresql-18-statements.csv", LOGS / "postgresql-18-durations.json"]
    with pytest.raises(EngineError, match="name files of one"):
        postgresql.read_logs(files)
    with pytest.raises(EngineError, match="name files of one"):
        mysql.read_logs([LOGS / "mysql.general", LOGS / "mysql.slow"])


def test_a_damaged_log_is_told_by_file_and_line(tmp_path: Path) -> None:
    whole = (LOGS / "postgresql-18-statements.csv").read_text("utf-8")
    cut = tmp_path / "cut.csv"
    cut.write_text(whole[: whole.rindex(",LOG,")])
    with pytest.raises(EngineError, match=r"cut\.csv, line \d+: .*is the file truncated\?"):
        postgresql.read_logs([cut])
    lines = (LOGS / "postgresql-18-durations.json").read_text("utf-8").splitlines()
    cut.write_text("\n".join([*lines[:3], lines[3][:50]]))
    with pytest.raises(EngineError, match="line 4: the line is not JSON"):
        postgresql.read_logs([cut])


def test_a_log_without_statements_says_what_to_set(tmp_path: Path) -> None:
    lines = (LOGS / "postgresql-18-statements.csv").read_text("utf-8").splitlines(keepends=True)
    quiet = tmp_path / "quiet.csv"
    quiet.write_text("".join(lines[:5]))
    with pytest.raises(EngineError, match="set log_statement to 'all'"):
        postgresql.read_logs([quiet])
    general = (LOGS / "mysql.general").read_text("utf-8").splitlines(keepends=True)
    quiet.write_text("".join(general[:3]))
    with pytest.raises(EngineError, match="set general_log to ON"):
        mysql.read_logs([quiet])


def test_a_threshold_and_cut_values_are_told(tmp_path: Path) -> None:
    text = (LOGS / "postgresql-15-durations.csv").read_text("utf-8")
    lines = [line for line in text.splitlines(keepends=True) if "duration: " in line]
    slow = tmp_path / "slow.csv"
    slow.write_text(
        "".join(line for line in lines if "create table" in line or "create role" in line)
    )
    (said,) = [told for told in postgresql.read_logs([slow]).cautions if "shortest" in told]
    assert "log_min_duration_statement to 0" in said
    kept = [line for line in lines if "execute _pg3_0" in line]
    slow.write_text("".join(kept).replace("'nä'", "'nä...'"))
    log = postgresql.read_logs([slow])
    assert log is not None
    assert any("log_parameter_max_length" in told for told in log.cautions)
