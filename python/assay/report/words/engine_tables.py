"""Tables of an engine's counters, and of a server's CPU time by user."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from assay.model.units import (
    BYTES,
    SECONDS,
    amount_rate_text,
    amount_text,
    bytes_text,
    percent_text,
    seconds_text,
)
from assay.report.words import counted as counted_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from assay.report.documents.host.engine_counters import (
        CountedObject,
        CounterRow,
        EngineCountersSection,
    )
    from assay.report.documents.host.sessions import (
        ProcessesRow,
        ServerUsage,
        SessionRow,
        SessionsSection,
        UsageFigure,
    )
    from assay.report.documents.load.operations import OperationRow

COUNTER = "counter"
# Maximum number of sessions with rows of their own. For more sessions, the rows show the least, the
# median and the most.
SESSIONS_EACH_MAX = 8
# Maximum number of process titles; the others share one row.
TITLES_MAX = 8


class Cell(NamedTuple):
    """The text and the sort key of a table cell; `missing` means no value."""

    text: str
    value: float | str
    missing: bool = False


class CpuRow(NamedTuple):
    """A row of the table of a server's CPU time, such as one session.

    Attributes:
        title: Name of the user, such as a session.
        processes: Number of processes; empty if not counted.
        cpu, share, run_delay, read, written: Texts of the figures.
        is_group: Whether the rows below are parts of this row.
    """

    title: str
    processes: str
    cpu: str
    share: str
    run_delay: str
    read: str
    written: str
    is_group: bool


def brief_name(name: str) -> str:
    """Return a counter's name without unit as text: `wal_bytes` becomes `wal`."""
    for unit in ("_share", "_bytes", "_seconds"):
        name = name.removesuffix(unit)
    return name.replace("_", " ")


def counter_rows(counted: EngineCountersSection) -> list[dict[str, str]]:
    """Return a row per counter: name, title, total (a gauge's last value), rate, unit."""
    return [
        {
            "name": figure["name"],
            "title": figure["title"],
            "unit": "" if figure["unit"] in (BYTES, SECONDS) else figure["unit"],
            "total": _total(figure),
            "per_s": (
                amount_rate_text(figure["per_s"], figure["unit"])
                if figure["kind"] == COUNTER
                else ""
            ),
        }
        for figure in counted["counters"]
    ]


def _total(figure: CounterRow) -> str:
    if figure["kind"] == COUNTER:
        return amount_text(figure["total"], figure["unit"])
    last = amount_text(figure["last"], figure["unit"])
    return last if figure["last"] is None else f"{last} at the end"


def figures_by_operation(counted: EngineCountersSection) -> list[CounterRow]:
    """Return the counters that grew during at least one operation."""
    return [figure for figure in counted["counters"] if any(figure["operations"].values())]


def operation_rows(
    counted: EngineCountersSection, operations: list[OperationRow]
) -> list[tuple[str, list[Cell]]]:
    """Return table rows of nonzero counters' growth, by operation."""
    figures = figures_by_operation(counted)
    names = [operation["name"] for operation in operations]
    return [
        (name, [_grown(figure, name) for figure in figures])
        for name in names
        if any(name in figure["operations"] for figure in figures)
    ]


def _grown(figure: CounterRow, operation: str) -> Cell:
    amount = figure["operations"].get(operation)
    text = amount_text(amount, figure["unit"])
    return Cell(text, "" if amount is None else amount, amount is None)


def object_rows(counted: EngineCountersSection) -> list[dict[str, object]]:
    """Return tables of counters by database object, as texts."""
    return [
        {
            "name": table["name"],
            "title": table["title"],
            "names": counted_text.heads(table),
            "heads": [column["title"] for column in table["columns"]],
            "rows": [
                (counted_text.names(row["object"], table), _cells(row)) for row in table["rows"]
            ],
            "left_out": table["left_out"],
        }
        for table in counted["tables"]
        if table["rows"]
    ]


def _cells(row: CountedObject) -> list[Cell]:
    return [
        Cell(counted_text.whole_text(value), "" if value is None else value, value is None)
        for value in row["values"]
    ]


def cpu_rows(used: SessionsSection) -> list[CpuRow]:
    """Return table rows of a server's CPU time: kinds of user, then sessions."""
    return [
        *_session_rows(used),
        *_title_rows(used, used["background"], "the server's own processes"),
        *_title_rows(used, used["ours"], "Assay's own connections"),
        *_title_rows(used, used["other_clients"], "other clients"),
        *_unseen_rows(used),
    ]


def _unseen_rows(used: SessionsSection) -> Iterator[CpuRow]:
    """Yield table rows of CPU time that no sample attributed to a user."""
    if used["ended_cpu_s"]:
        of_whole = used["ended_cpu_s"] / used["cpu_s"]
        yield CpuRow(
            f"in these rows, of processes that ended between samples: divided as the"
            f" {used['ended_seen']} known ones",
            "",
            seconds_text(used["ended_cpu_s"]),
            percent_text(of_whole),
            *("",) * 3,
            is_group=False,
        )
    if not used["ended_seen"]:
        yield CpuRow(
            "not observed: processes too short for a sample, and the end of others",
            "",
            seconds_text(used["unseen_cpu_s"]),
            percent_text(used["shares"]["unseen"]),
            *("",) * 3,
            is_group=True,
        )


def _session_rows(used: SessionsSection) -> Iterator[CpuRow]:
    sessions = used["sessions"]
    count = f"{len(sessions)} session{'' if len(sessions) == 1 else 's'} of the load generator"
    workers = sum(session["workers"] for session in sessions)
    yield _row(used, count, str(len(sessions) + workers), _sum(sessions), is_group=True)
    if len(sessions) > SESSIONS_EACH_MAX:
        for label, pick in (("least of each", min), ("median", median), ("most of each", max)):
            yield _row(used, label, "", _picked(sessions, pick))
    elif len(sessions) > 1:
        for session in sessions:
            yield _row(used, f"session {session['session']}", str(1 + session["workers"]), session)
    if workers:
        cpu_s = sum(session["workers_cpu_s"] for session in sessions)
        usage: ServerUsage = {
            "cpu_s": cpu_s,
            "run_delay_s": None,
            "read_bytes": None,
            "write_bytes": None,
        }
        row = _row(used, "of it in parallel workers", str(workers), usage)
        yield row._replace(run_delay="", read="", written="")


def _title_rows(used: SessionsSection, entries: list[ProcessesRow], label: str) -> Iterator[CpuRow]:
    if not entries:
        return
    count = sum(entry["processes"] for entry in entries)
    yield _row(used, label, str(count), _sum(entries), is_group=True)
    for entry in entries[:TITLES_MAX]:
        yield _row(used, entry["title"], str(entry["processes"]), entry)
    rest = entries[TITLES_MAX:]
    if rest:
        processes = sum(entry["processes"] for entry in rest)
        yield _row(used, f"{len(rest)} more kinds of process", str(processes), _sum(rest))


def _row(
    used: SessionsSection,
    label: str,
    processes: str,
    usage: ServerUsage | SessionRow | ProcessesRow,
    *,
    is_group: bool = False,
) -> CpuRow:
    cpu_s = usage["cpu_s"]
    share = None if cpu_s is None or not used["cpu_s"] else cpu_s / used["cpu_s"]
    return CpuRow(
        label,
        processes,
        seconds_text(cpu_s),
        percent_text(share),
        seconds_text(usage["run_delay_s"]),
        bytes_text(usage["read_bytes"]),
        bytes_text(usage["write_bytes"]),
        is_group,
    )


def _sum(users: Sequence[SessionRow | ProcessesRow]) -> ServerUsage:
    return _picked(users, sum)


def _picked(
    users: Sequence[SessionRow | ProcessesRow], pick: Callable[[list[float]], float]
) -> ServerUsage:
    """Return `pick` of each resource over several users, such as their sum."""

    def picked(figure: UsageFigure) -> float | None:
        values = [entry[figure] for entry in users]
        measured = [value for value in values if value is not None]
        return pick(measured) if measured and len(measured) == len(values) else None

    return {
        "cpu_s": picked("cpu_s"),
        "run_delay_s": picked("run_delay_s"),
        "read_bytes": picked("read_bytes"),
        "write_bytes": picked("write_bytes"),
    }
