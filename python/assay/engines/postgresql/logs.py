"""Reads PostgreSQL's CSV and JSON logs: statements, their parameters, and failures.

With `log_statement` a line is written when a statement begins, with `log_min_duration_statement`
when it ends. If both are set, the second line has only the duration.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from assay.engines.contract import EngineError
from assay.engines.log_forms import common_form
from assay.model.captured import LoggedStatement, ReadLog

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

CSV_FORM, JSON_FORM = "CSV log of PostgreSQL", "JSON log of PostgreSQL"
# Positions of the columns of the CSV log that are read, unchanged since version 8.4.
COLUMNS = {"time": 0, "database": 2, "session": 5, "tag": 7, "severity": 11, "message": 13}
COLUMNS |= {"detail": 14, "query": 19}
COLUMNS_MIN = 23
KEYS = {"time": "timestamp", "database": "dbname", "session": "session_id", "tag": "ps"}
KEYS |= {"severity": "error_severity", "message": "message", "detail": "detail"}
KEYS |= {"query": "statement"}
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}")
MESSAGE = re.compile(
    r"(?:duration: (?P<ms>[\d.]+) ms(?:  |$))?"
    r"(?:(?P<kind>statement|parse [^:]*|bind [^:]*|execute [^:]*): (?P<text>.*))?",
    re.DOTALL,
)
PARAMETER = re.compile(r"\$(\d+) = (NULL|'(?:[^']|'')*'(?:\.\.\.)?)")
CUT = "...'"
ERRORS = ("ERROR", "FATAL", "PANIC")
# Resolution of the log's times in nanoseconds.
MS_NS = 1_000_000


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a PostgreSQL log in CSV or JSON format."""

    time_ns: int
    database: str
    session: str
    severity: str
    message: str
    detail: str
    query: str


def read_logs(files: Sequence[Path]) -> ReadLog | None:
    """Return the statements in the files of one log, in order; None for another kind of file.

    Raises:
        EngineError: If a file begins as such a log and has an invalid line.
    """
    form = common_form(files, _form)
    if form is None:
        return None
    reader = _Reader()
    for file in files:
        for line in _csv_lines(file) if form == CSV_FORM else _json_lines(file):
            reader.read(line)
    return reader.log(form)


def _form(file: Path) -> str | None:
    with file.open(encoding="utf-8", errors="surrogateescape", newline="") as text:
        first = text.readline()
    if first.startswith("{") and '"error_severity"' in first:
        return JSON_FORM
    return CSV_FORM if TIME.match(first) and first.count(",") >= COLUMNS["message"] else None


def _csv_lines(file: Path) -> Iterator[Line]:
    csv.field_size_limit(sys.maxsize)
    with file.open(encoding="utf-8", errors="surrogateescape", newline="") as text:
        rows = csv.reader(text)
        for row in rows:
            if len(row) < COLUMNS_MIN:
                raise EngineError(
                    f"{file}, line {rows.line_num}: the line has {len(row)} columns, and a "
                    f"{CSV_FORM} has {COLUMNS_MIN} or more: is the file truncated?"
                )
            yield _line(file, rows.line_num, {key: row[at] for key, at in COLUMNS.items()})


def _json_lines(file: Path) -> Iterator[Line]:
    with file.open(encoding="utf-8", errors="surrogateescape") as text:
        for number, written in enumerate(text, 1):
            try:
                entry = json.loads(written)
            except json.JSONDecodeError as error:
                raise EngineError(
                    f"{file}, line {number}: the line is not JSON ({error.msg}): is the file "
                    "truncated?"
                ) from error
            yield _line(file, number, {key: entry.get(name, "") for key, name in KEYS.items()})


def _line(file: Path, number: int, entry: dict[str, Any]) -> Line:
    try:
        moment = datetime.fromisoformat(entry["time"][:23])
    except ValueError as error:
        raise EngineError(
            f"{file}, line {number}: the line must begin with a time, and "
            f"{entry['time'][:30]!r} is not a time: is the file truncated?"
        ) from error
    # All times of a log are in one time zone, and only their differences are used.
    time_ns = round((moment - datetime(1970, 1, 1)).total_seconds() * 1000) * MS_NS  # noqa: DTZ001
    kept = ("database", "session", "severity", "message", "detail", "query")
    return Line(time_ns, *(entry[key] for key in kept))


class _Reader:
    """Builds statements with parameters from PostgreSQL log lines."""

    def __init__(self) -> None:
        self._statements: list[LoggedStatement] = []
        self._left_out: Counter[str] = Counter()
        # By session, the statement that a following error or duration line belongs to.
        self._last: dict[str, int] = {}
        self._lines = 0
        self._durations: list[float] = []
        self._cut = 0

    def read(self, line: Line) -> None:
        self._lines += 1
        if line.severity in ERRORS:
            self._failed(line)
            return
        match = MESSAGE.fullmatch(line.message) if line.severity == "LOG" else None
        if match is None or not line.session:
            return
        took_ns = None if match["ms"] is None else round(float(match["ms"]) * MS_NS)
        if match["kind"] is None:
            if took_ns is not None:
                self._ended(line.session, took_ns)
            return
        if match["kind"].startswith(("parse", "bind")):
            return
        begun_ns = line.time_ns - (took_ns or 0)
        if took_ns is not None:
            self._durations.append(took_ns)
        self._last[line.session] = len(self._statements)
        self._statements.append(
            LoggedStatement(
                begun_ns,
                line.session,
                match["text"],
                self._values(line.detail),
                took_ns,
                database=line.database,
            )
        )

    def _values(self, detail: str) -> tuple[str | None, ...]:
        if not detail.lower().startswith("parameters: "):
            return ()
        values = [written for _, written in PARAMETER.findall(detail)]
        self._cut += any(written.endswith(("...", CUT)) for written in values)
        return tuple(
            None if written == "NULL" else written[1:-1].replace("''", "'") for written in values
        )

    def _ended(self, session: str, took_ns: int) -> None:
        place = self._last.get(session)
        if place is not None and self._statements[place].took_ns is None:
            self._statements[place] = replace(self._statements[place], took_ns=took_ns)

    def _failed(self, line: Line) -> None:
        """Mark the statement of a session's last line as failed, or add a failed statement."""
        place = self._last.get(line.session)
        last = None if place is None else self._statements[place]
        is_last = last is not None and last.took_ns is None and line.query in ("", last.text)
        if is_last and last is not None and place is not None:
            self._statements[place] = replace(last, failed=True)
            return
        if line.query:
            self._last[line.session] = len(self._statements)
            self._statements.append(
                LoggedStatement(
                    line.time_ns,
                    line.session,
                    line.query,
                    failed=True,
                    took_ns=0,
                    database=line.database,
                )
            )

    def log(self, form: str) -> ReadLog:
        cautions = ["arrival times are exact to 1 ms, as the log has them"]
        if self._cut:
            cautions.append(
                f"{self._cut} entries have values that the server cut: set"
                " log_parameter_max_length to -1"
            )
        shortest_ms = min(self._durations, default=0) / MS_NS
        if shortest_ms >= 1 and len(self._durations) == len(self._statements):
            cautions.append(
                f"the shortest statement took {shortest_ms:.0f} ms: set log_min_duration_statement"
                " to 0 to have those in the log that are faster"
            )
        if not self._statements and self._lines:
            raise EngineError(
                f"the {form} has {self._lines} lines and contains no statement: set "
                "log_statement to 'all', or log_min_duration_statement to 0, and capture again"
            )
        return ReadLog(form, self._statements, self._left_out, tuple(cautions))
