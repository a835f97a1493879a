"""Whatever statements a server logs: they come back from the log, and constants from statements."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.engines.mysql_family import logs as mysql
from assay.engines.mysql_family.constants import MysqlConstants
from assay.engines.postgresql import logs as postgresql
from assay.engines.postgresql.constants import PostgresConstants
from assay.workloads.captured.anonymising import Anonymiser
from assay.workloads.captured.shapes import Shapes

LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0\r")
TEXTS = st.text(LETTERS, max_size=20)
VALUES = st.lists(st.none() | TEXTS, max_size=4)
# A server logs what it was sent, which has a word at least.
STATEMENTS = TEXTS.map(lambda text: f"select {text} x")


def entry(number: int, statement: str, values: list[str | None]) -> dict[str, str]:
    """What PostgreSQL logs of a statement."""
    if not values:
        return {"number": str(number), "message": f"statement: {statement}", "detail": ""}
    written = [
        "NULL" if value is None else "'" + value.replace("'", "''") + "'" for value in values
    ]
    listed = ", ".join(f"${place} = {value}" for place, value in enumerate(written, 1))
    message = f"execute <unnamed>: {statement}"
    return {"number": str(number), "message": message, "detail": f"Parameters: {listed}"}


def as_csv(entries: list[dict[str, str]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for told in entries:
        row = [""] * 26
        row[0], row[2], row[5] = "2026-11-24 18:18:37.804 UTC", "shop", "6b05d4fd.a5c"
        row[6], row[11], row[13], row[14] = told["number"], "LOG", told["message"], told["detail"]
        writer.writerow(row)
    return out.getvalue()


def as_json(entries: list[dict[str, str]]) -> str:
    lines = [
        {
            "timestamp": "2026-11-24 18:18:37.804 UTC",
            "dbname": "shop",
            "session_id": "6b05d4fd.a5c",
            "error_severity": "LOG",
            "message": told["message"],
        }
        | ({"detail": told["detail"]} if told["detail"] else {})
        for told in entries
    ]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def as_general(statements: list[str]) -> str:
    time = "2026-11-24T18:19:43.097748Z"
    return "".join(f"{time}\t   12 Query\t{statement}\n" for statement in statements)


def as_slow(statements: list[str]) -> str:
    head = (
        "# Time: 2026-11-24T18:19:43.098754Z\n"
        "# User@Host: assay[assay] @  [127.0.0.1]  Id:    12\n"
        "# Query_time: 0.000054  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0\n"
        "SET timestamp=1795544383;\n"
    )
    return "".join(f"{head}{statement};\n" for statement in statements)


def written(text: str) -> Path:
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="", delete=False) as file:
        file.write(text)
    return Path(file.name)


@settings(deadline=None)
@given(st.lists(st.tuples(STATEMENTS, VALUES), min_size=1, max_size=5))
def test_statements_and_values_come_back_from_logs_of_postgresql(
    sent: list[tuple[str, list[str | None]]],
) -> None:
    entries = [entry(number, *told) for number, told in enumerate(sent)]
    for form in (as_csv, as_json):
        file = written(form(entries))
        log = postgresql.read_logs([file])
        file.unlink()
        assert log is not None
        back = [(logged.text, list(logged.values)) for logged in log.statements]
        assert back == sent, form


@settings(deadline=None)
@given(st.lists(STATEMENTS, min_size=1, max_size=5))
def test_statements_come_back_from_logs_of_mysql(sent: list[str]) -> None:
    for form in (as_general, as_slow):
        file = written(form(sent))
        log = mysql.read_logs([file])
        file.unlink()
        assert log is not None
        assert [logged.text for logged in log.statements] == sent, form


def quoted_by_mysql(value: str) -> str:
    """As `mysql_real_escape_string` has it."""
    escapes = {"\\": "\\\\", "'": "\\'", '"': '\\"', "\n": "\\n", "\0": "\\0", "\x1a": "\\Z"}
    return "'" + "".join(escapes.get(letter, letter) for letter in value) + "'"


@settings(deadline=None)
@given(TEXTS, TEXTS, st.integers(-(2**63) + 1, 2**63 - 1))
def test_constants_come_back_from_statements(first: str, second: str, number: int) -> None:
    for grammar, quoted in (
        (PostgresConstants(), lambda text: "'" + text.replace("'", "''") + "'"),
        (MysqlConstants(), quoted_by_mysql),
    ):
        values = [quoted(first), quoted(second), str(number)]
        text = " ".join(
            ["select a from t where b =", values[0], "and c in (", f"{values[1]},", values[2], ")"]
        )
        (statement,) = Shapes(grammar).stated(text, [])
        assert [constant.value for constant in statement.constants] == [first, second, number]
        sources = [constant.source or "" for constant in statement.constants]
        pairs = zip(statement.pieces, [*sources, ""], strict=True)
        assert "".join(piece + source for piece, source in pairs) == text


@settings(deadline=None)
@given(TEXTS)
def test_another_text_is_as_long_and_the_same_each_time(value: str) -> None:
    by = Anonymiser(b"key")
    made = by.text(value)
    assert made == by.text(value)
    if not value.startswith(("{", "[")):
        assert len(made) == len(value)
    words = [letter for letter in value if letter.isalpha()]
    if len(words) > 3 and not any(letter.isdigit() for letter in value) and value[0] not in "{[":
        assert made != value or value.lower() in ("true", "false") or value == made == value.lower()


@settings(deadline=None)
@given(st.integers(-(2**63) + 1, 2**63 - 1))
def test_another_number_has_as_many_digits_and_is_another(value: int) -> None:
    made = Anonymiser(b"key").value(value, "integer")
    assert isinstance(made, int)
    assert made != value
    assert len(str(abs(made))) == len(str(abs(value)))
    assert (made < 0) == (value < 0)
    assert abs(made) <= max(
        abs(value), 9, abs(value) + 9 if str(abs(value)).strip("0") == "1" else 0
    )


PIECES = st.one_of(
    st.sampled_from(
        ["a", "= 1", ", -2", "- 3", "order by 1", "(", ")", "limit 5", "$1", "null", "t1"]
    ),
    st.sampled_from(
        ["-- it's\n", "/* ' */", '"q\'q"', "E'\\''", "$$ ' $$", "x'ff'", "::numeric(3)"]
    ),
    st.sampled_from([".5", "1e3", "0x1F", "interval '1 day'", "date '2024-01-01'", "; select 1"]),
    st.text(st.sampled_from("a'\\ 0"), max_size=3).map(
        lambda text: "= '" + text.replace("'", "''") + "'"
    ),
    st.integers(0, 99).map(lambda number: f"= {number}"),
)
SENT = st.lists(PIECES, max_size=5).map(
    lambda pieces: " ".join(["select a from t where b", *pieces])
)


@settings(deadline=None)
@given(st.lists(SENT, min_size=2, max_size=6))
def test_what_is_known_of_a_form_is_what_is_read_of_each_text(sent: list[str]) -> None:
    for grammar in (PostgresConstants(), MysqlConstants()):
        shapes = Shapes(grammar)
        for text in [*sent, *sent]:
            told = []
            for reading in (shapes, Shapes(grammar)):
                try:
                    told.append(reading.stated(text, ["x"]))
                except ValueError as error:
                    told.append(str(error))
            assert told[0] == told[1], text
