"""Makes a workload folder from a server's log or its statement counters."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from assay.engines.capturing import CountsStatements, ReadsLogs
from assay.engines.discovery import find_engine, find_engines
from assay.model.errors import UsageError
from assay.model.language import SQL
from assay.model.units import NS_PER_S
from assay.record.outside import refuse_inside_record
from assay.running.asked.understanding import engine_of
from assay.workloads.captured.anonymising import Anonymiser
from assay.workloads.captured.counted import counted_operations
from assay.workloads.captured.operations import operations_of
from assay.workloads.captured.transactions import executions_of
from assay.workloads.captured.writing import busiest_second, write_workload
from assay.workloads.captured.writing import counted as counted_reasons
from assay.workloads.effects import effect_of
from assay.workloads.scripts import PLACEHOLDER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from assay.model.captured import Grammar, LoggedStatement, ReadLog
    from assay.workloads.captured.operations import CapturedOperation

# Maximum number of executions, because the driver holds all their values in memory.
EXECUTIONS_MAX = 1_000_000
OTHER_DATABASES = "statements of other databases"
AFTER = "statements after --time"
# Maximum number of operations that a caution names.
NAMED_MAX = 5
UNTIMED = (
    "counters know neither transactions nor arrival times: statements are played one by one, drawn"
    " by their counts"
)


@dataclass(frozen=True)
class Captured:
    """The result of capturing a workload from a server's log or counters.

    Attributes:
        folder: Folder of the workload.
        source: Source of the statements.
        statements: Number of statements in the source, including omitted ones.
        operations: Number of distinct operations: transactions, and statements without one.
        executions: Number of executions.
        transactions: Number of executions that are transactions.
        sessions: Number of sessions that sent them.
        seconds: Time from the first execution to the last.
        clients: Number of active sessions in the busiest second.
        anonymised: Whether all values were replaced.
        left_out: Number of statements that were not captured, by reason.
        cautions: Sentences on facts that the source does not have.
        timed: Whether the start times of executions are known.
        writes: Whether an operation may write, so that replaying it needs permission.
    """

    folder: Path
    source: str
    statements: int
    operations: int
    executions: int
    transactions: int
    sessions: int
    seconds: float
    clients: int
    anonymised: bool
    left_out: dict[str, int]
    cautions: tuple[str, ...]
    timed: bool = True
    writes: bool = False

    def facts(self) -> dict[str, Any]:
        """Return the result of the capture as JSON values."""
        return {**asdict(self), "folder": str(self.folder), "cautions": list(self.cautions)}


def check_folder(out: Path) -> None:
    """Refuse a workload folder that exists already, or would be inside a record.

    Raises:
        UsageError: If a file or folder of this name exists, or it lies inside a record.
    """
    refuse_inside_record(out, "--out")
    if out.exists():
        raise UsageError(f"--out {out}: the folder exists already; name a new one")


def capture_logs(
    files: Sequence[Path],
    out: Path,
    *,
    time_s: float | None = None,
    database: str | None = None,
    anonymise: bool = False,
) -> Captured:
    """Write a workload from the statements in the files of one log.

    Args:
        files: Files of the log, the oldest first.
        out: Folder of the workload, which must not exist.
        time_s: Keep only statements that began within this many seconds after the first one.
        database: Keep only statements of this database; None means the database with most
            statements.
        anonymise: Replace all values.

    Raises:
        UsageError: If a file is not a known log, or has no statement to capture.
        EngineError: If a log is damaged or has no statement.
    """
    check_folder(out)
    for file in files:
        _check_file(file)
    log, grammar = _read(files)
    left_out = Counter(log.left_out)
    statements = _of_database(log.statements, database, left_out)
    statements = _begun_within(statements, time_s, left_out)
    by = Anonymiser() if anonymise else None
    executions, transactions = executions_of(statements, grammar, by.quoted if by else None)
    left_out += transactions.left_out
    if not executions:
        reasons = "; ".join(f"{count:,} {reason}" for reason, count in left_out.most_common())
        raise UsageError(f"--log {files[0]}: no statement of the log can be repeated: {reasons}")
    if len(executions) > EXECUTIONS_MAX:
        raise UsageError(
            f"--log {files[0]}: the log has {len(executions):,} executions, and the maximum is "
            f"{EXECUTIONS_MAX:,}: use --time to capture its beginning"
        )
    operations = operations_of(executions, grammar, by)
    captured = _captured(out, log, grammar, operations, left_out, anonymised=anonymise)
    write_workload(out, operations, _about(captured, ", ".join(file.name for file in files)))
    return captured


def capture_counted(
    dsn: str,
    out: Path,
    *,
    engine: str | None = None,
    time_s: float,
    anonymise: bool = False,
    sleep: Callable[[float], None] = time.sleep,
) -> Captured:
    """Write a workload of the statements that a running server counts from now on.

    Args:
        dsn: DSN of the server, which is only read.
        out: Folder of the workload, which must not exist.
        engine: Engine of the server; None means the one that accepts the DSN's scheme.
        time_s: Seconds of observation.
        anonymise: Replace all values.
        sleep: Waits between two samples.

    Raises:
        UsageError: If the engine counts no statements, or none ran.
        EngineError: If the server cannot be reached, or its counters cannot be read.
    """
    check_folder(out)
    name, _ = engine_of(engine, dsn, SQL)
    behaviour = find_engine(name).engine()
    if not isinstance(behaviour, CountsStatements):
        raise UsageError(
            f"--dsn: Assay cannot read statement counters of {name}: capture from its log with "
            "--log"
        )
    counted = behaviour.count_statements(dsn, time_s, sleep)
    by = Anonymiser() if anonymise else None
    operations, left_out = counted_operations(counted, behaviour.constants(), by)
    if not operations:
        seen = sum(left_out.values())
        raise UsageError(
            f"--dsn: in {counted.seconds:.0f} s the server ran no statement that can be "
            f"repeated, and {seen:,} were skipped: capture while clients are active, or for "
            "longer with --time"
        )
    captured = Captured(
        folder=out,
        source=counted.form,
        statements=sum(operation.count for operation in operations) + sum(left_out.values()),
        operations=len(operations),
        executions=sum(operation.count for operation in operations),
        transactions=0,
        sessions=counted.sessions,
        seconds=counted.seconds,
        clients=max(counted.sessions, 1),
        anonymised=anonymise,
        left_out=counted_reasons(left_out),
        cautions=_cautions(operations),
        timed=False,
        writes=_writes(operations, behaviour.constants()),
    )
    write_workload(out, operations, _about(captured, "a running server"))
    return captured


def _cautions(operations: Sequence[CapturedOperation]) -> tuple[str, ...]:
    said = [UNTIMED]
    valued = [operation for operation in operations if operation.columns]
    if valued:
        rows = sum(len(next(iter(operation.columns.values()))) for operation in valued)
        said.append(
            f"values of {len(valued)} operations are those of {rows:,} executions that were seen"
        )
    unknown = [operation.name for operation in operations if operation.unknown]
    if unknown:
        said.append(
            f"sessions showed no values of {len(unknown)} operations"
            f" ({', '.join(unknown[:NAMED_MAX])}{', ...' * (len(unknown) > NAMED_MAX)}):"
            " workload.toml has `choice = []` for each, and `assay run` refuses the folder until"
            " you fill them in"
        )
    return tuple(said)


def _check_file(file: Path) -> None:
    if not file.is_file():
        raise UsageError(f"--log {file}: there is no such file")
    try:
        with file.open("rb") as log:
            begun = log.read(1)
    except OSError as error:
        raise UsageError(f"--log {file}: the file cannot be read: {error.strerror}") from error
    if not begun:
        raise UsageError(f"--log {file}: the file is empty: has the server logged anything yet?")


def _read(files: Sequence[Path]) -> tuple[ReadLog, Grammar]:
    """Return the log and its SQL grammar, from the first engine that recognises the log."""
    for folder in find_engines().values():
        engine = folder.engine() if folder.facts.kind == "server" else None
        if isinstance(engine, ReadsLogs):
            log = engine.read_logs(files)
            if log is not None:
                return log, engine.constants()
    raise UsageError(
        f"--log {files[0]}: unknown log format. Assay reads PostgreSQL's log as CSV or JSON "
        "(log_destination), and the slow or the general log of MySQL or MariaDB"
    )


def _of_database(
    statements: list[LoggedStatement], database: str | None, left_out: Counter[str]
) -> list[LoggedStatement]:
    counts = Counter(statement.database for statement in statements)
    named = database or counts.most_common(1)[0][0]
    if database is not None and database not in counts:
        there = ", ".join(sorted(filter(None, counts))) or "none by name"
        raise UsageError(
            f"--database {database}: the log has no statements of this database, only of: {there}"
        )
    kept = [statement for statement in statements if statement.database in ("", named)]
    if others := len(statements) - len(kept):
        left_out[f"{OTHER_DATABASES} than {named} (--database says another)"] += others
    return kept


def _begun_within(
    statements: list[LoggedStatement], time_s: float | None, left_out: Counter[str]
) -> list[LoggedStatement]:
    if time_s is None:
        return statements
    end_ns = min(statement.time_ns for statement in statements) + round(time_s * NS_PER_S)
    kept = [statement for statement in statements if statement.time_ns < end_ns]
    if later := len(statements) - len(kept):
        left_out[AFTER] += later
    return kept


def _captured(
    out: Path,
    log: ReadLog,
    grammar: Grammar,
    operations: Sequence[CapturedOperation],
    left_out: Counter[str],
    *,
    anonymised: bool,
) -> Captured:
    times_ns = [time_ns for operation in operations for time_ns in operation.times_ns]
    return Captured(
        folder=out,
        source=log.form,
        statements=len(log.statements),
        operations=len(operations),
        executions=len(times_ns),
        transactions=sum(operation.count for operation in operations if operation.statements > 1),
        sessions=len({session for operation in operations for session in operation.sessions}),
        # The time includes the start of the last execution.
        seconds=(max(times_ns) - min(times_ns) + 1) / NS_PER_S,
        clients=busiest_second(operations),
        anonymised=anonymised,
        left_out=counted_reasons(left_out),
        cautions=log.cautions,
        writes=_writes(operations, grammar),
    )


def _writes(operations: Sequence[CapturedOperation], grammar: Grammar) -> bool:
    texts = (PLACEHOLDER.sub("$1", operation.text) for operation in operations)
    return any(effect_of(text, (grammar.dialect,)).kind != "reads" for text in texts)


def _about(captured: Captured, origin: str) -> dict[str, Any]:
    return {
        "title": f"Captured from {origin}, {captured.source}",
        "captured": {
            "source": captured.source,
            "clients": captured.clients,
            "seconds": captured.seconds,
            "sessions": captured.sessions,
            "anonymised": captured.anonymised,
            "left_out": captured.left_out,
        },
    }
