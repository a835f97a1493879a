"""Reads the slow log and the general log of MySQL and MariaDB.

The general log has all statements with their start, but no durations or failures. The slow log has
statements that took longer than `long_query_time`, with their end. MariaDB logs whole seconds only,
so statements of one second are spread evenly over it.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.log_forms import common_form
from assay.model.captured import LoggedStatement, ReadLog

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

GENERAL_FORM, SLOW_FORM = "general log of MySQL or MariaDB", "slow log of MySQL or MariaDB"
PREAMBLE = re.compile(r"\S+, Version: .*started with:$")
# A server writes these three lines again after a restart.
PREAMBLES = (PREAMBLE, re.compile(r"Tcp port: "), re.compile(r"Time\s+Id Command\s+Argument"))
ISO, SHORT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(?:Z|[+-]\d\d:\d\d)", r"\d{6} [ \d]\d:\d\d:\d\d"
COMMANDS = (
    "Query|Execute|Prepare|Connect|Quit|Init DB|Close stmt|Reset stmt|Statistics|Ping|Field List|"
    "Change user|Fetch|Long Data|Set option|Binlog Dump|Daemon|Kill|Reset connection|Bulk_execute|"
    "Debug|Refresh|Shutdown|Time|Delayed insert|Register Slave|Table Dump|Create DB|Drop DB|"
    "Processlist|Error|Sleep|Connect Out"
)
ENTRY = re.compile(
    rf"(?:(?P<time>{ISO}|{SHORT})\s*|\t)\t? *(?P<id>\d+) (?P<command>{COMMANDS})\t(?P<text>.*)",
    re.DOTALL,
)
SLOW_TIME = re.compile(rf"# Time: (?P<time>{ISO}|{SHORT})")
SLOW_USER = re.compile(r"# User@Host: .*?(?:Id:\s*(?P<id>\d+))?$")
SLOW_THREAD = re.compile(r"# Thread_id: (?P<id>\d+)\s+Schema: (?P<schema>\S*)")
SLOW_QUERY = re.compile(r"# Query_time: (?P<took>[\d.]+)")
SLOW_ERRNO = re.compile(r"\bErrno: (?P<errno>\d+)")
SLOW_USE = re.compile(r"use `?(?P<schema>[^`;]*)`?;")
S_NS = 1_000_000_000


def read_logs(files: Sequence[Path]) -> ReadLog | None:
    """Return the statements in the files of one log, in order; None for another kind of file.

    Raises:
        EngineError: If the files are of different kinds of logs, or have no statement.
    """
    form = common_form(files, _form)
    if form is None:
        return None
    read = _general if form == GENERAL_FORM else _slow
    reader = _Times()
    for file in files:
        reader.statements += read(_lines(file), reader)
    if not reader.statements:
        raise EngineError(
            f"the {form} contains no statement: set general_log to ON, or slow_query_log to "
            "ON with long_query_time = 0, and capture again"
        )
    return ReadLog(form, reader.spread(), reader.left_out, reader.cautions(form))


def _lines(file: Path) -> Iterator[str]:
    with file.open(encoding="utf-8", errors="surrogateescape", newline="") as text:
        for line in text:
            if not any(preamble.match(line) for preamble in PREAMBLES):
                yield line


def _form(file: Path) -> str | None:
    """Return the kind of a MySQL log file, from its first entry."""
    with file.open(encoding="utf-8", errors="surrogateescape", newline="") as text:
        for line in text:
            if line.startswith(("# Time: ", "# User@Host: ")):
                return SLOW_FORM
            if ENTRY.match(line):
                return GENERAL_FORM
            if not any(preamble.match(line) for preamble in PREAMBLES):
                return None
    return GENERAL_FORM if file.stat().st_size else None


class _Times:
    """The statements of a MySQL log, with their times."""

    def __init__(self) -> None:
        self.statements: list[LoggedStatement] = []
        self.left_out: Counter[str] = Counter()
        self.now_ns = 0
        self.whole_seconds = False

    def at(self, written: str | None) -> int:
        """Return the time in a log line, or of the last line with one."""
        if written is not None:
            self.whole_seconds |= "T" not in written
            self.now_ns = _moment_ns(written)
        return self.now_ns

    def spread(self) -> list[LoggedStatement]:
        """Return the logged statements, spread over their second if times are whole seconds."""
        if not self.whole_seconds:
            return self.statements
        counts = Counter(statement.time_ns // S_NS for statement in self.statements)
        seen: Counter[int] = Counter()
        made: list[LoggedStatement] = []
        for statement in self.statements:
            second = statement.time_ns // S_NS
            time_ns = second * S_NS + S_NS * seen[second] // counts[second]
            seen[second] += 1
            made.append(
                LoggedStatement(
                    time_ns,
                    statement.session,
                    statement.text,
                    (),
                    statement.took_ns,
                    statement.failed,
                    statement.database,
                )
            )
        return made

    def cautions(self, form: str) -> tuple[str, ...]:
        sentences = []
        if self.whole_seconds:
            sentences.append(
                "the log has whole seconds only: what began within one is spread over it evenly"
            )
        if form == GENERAL_FORM:
            sentences.append("the log does not tell which statements failed: those are played, too")
        return tuple(sentences)


def _moment_ns(written: str) -> int:
    epoch = datetime(1970, 1, 1)  # noqa: DTZ001 - only what lies between two moments counts
    if "T" in written:
        moment = datetime.fromisoformat(written).replace(tzinfo=None)
    else:
        moment = datetime.strptime(written.replace("  ", " "), "%y%m%d %H:%M:%S")  # noqa: DTZ007
    since = moment - epoch
    return (since.days * 86_400 + since.seconds) * S_NS + since.microseconds * 1000


def _general(lines: Iterator[str], times: _Times) -> Iterator[LoggedStatement]:
    schemas: dict[str, str] = {}
    for entry in _entries(lines):
        time_ns = times.at(entry["time"])
        session, text = entry["id"], entry["text"].rstrip("\r\n")
        match entry["command"]:
            case "Query" | "Execute":
                yield LoggedStatement(time_ns, session, text, database=schemas.get(session, ""))
            case "Init DB":
                schemas[session] = text.strip()
            case "Connect":
                schema = re.search(r" on (\S*) using ", text)
                schemas[session] = schema[1] if schema else ""


def _entries(lines: Iterator[str]) -> Iterator[dict[str, str]]:
    """Yield the entries of MySQL's general log, each of one or more lines."""
    entry: dict[str, str] | None = None
    for line in lines:
        match = ENTRY.match(line)
        if match is None:
            if entry is not None:
                entry["text"] += line
            continue
        if entry is not None:
            yield entry
        entry = match.groupdict()
    if entry is not None:
        yield entry


def _slow(lines: Iterator[str], times: _Times) -> Iterator[LoggedStatement]:
    head: dict[str, str] = {}
    text = ""
    for line in lines:
        is_head = line.startswith(("# Time: ", "# User@Host: "))
        if is_head and text:
            yield from _slow_statement(head, text, times)
            head, text = {"schema": head.get("schema", "")}, ""
        if line.startswith("# ") and not text:
            for pattern in (SLOW_TIME, SLOW_USER, SLOW_THREAD, SLOW_QUERY, SLOW_ERRNO):
                match = pattern.search(line.rstrip())
                head |= {} if match is None else {k: v for k, v in match.groupdict().items() if v}
        elif (used := SLOW_USE.match(line)) and not text:
            head |= used.groupdict()
        elif not (line.startswith("SET timestamp=") and not text):
            text += line
    if text:
        yield from _slow_statement(head, text, times)


def _slow_statement(head: dict[str, str], text: str, times: _Times) -> Iterator[LoggedStatement]:
    time_ns = times.at(head.get("time"))
    plain = text.rstrip().removesuffix(";")
    if plain.startswith("# administrator command"):
        return
    took_ns = round(float(head.get("took", 0)) * S_NS)
    begun_ns = time_ns if times.whole_seconds else time_ns - took_ns
    failed = head.get("errno", "0") != "0"
    yield LoggedStatement(
        begun_ns, head.get("id", ""), plain, (), took_ns, failed, head.get("schema", "")
    )
