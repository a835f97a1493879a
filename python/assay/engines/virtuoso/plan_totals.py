"""Reads a statement's totals from Virtuoso's query log or the end of `profile()`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

PAGE_BYTES = 8192
MS_PER_S = 1000
NUMBER = r"(-?\d+(?:\.\d*)?(?:e[-+]?\d+)?)"
TOTALS = re.compile(
    rf"{NUMBER} msec {NUMBER}% cpu,\s+{NUMBER} rnd\s+{NUMBER} seq"
    rf"\s+{NUMBER}% same seg\s+{NUMBER}% same pg"
)
READS = re.compile(rf"{NUMBER} disk reads, {NUMBER} read ahead")
COMPILING = re.compile(rf"Compilation: {NUMBER} msec")
# The query log's names of counters in `db_activity`.
ACTIVITY = {
    "rnd": "ql_rnd_rows",
    "seq": "ql_seq_rows",
    "same seg": "ql_same_seg",
    "same pg": "ql_same_page",
    "same par": "ql_same_parent",
    "disk": "ql_disk_reads",
    "spec disk": "ql_spec_disk_reads",
    "messages": "ql_messages",
    "bytes": "ql_message_bytes",
    "fork": "ql_qp_threads",
}


@dataclass(frozen=True)
class Native:
    """A Virtuoso plan as it is stored: text and query log entry.

    Attributes:
        text: The plan in Virtuoso's form, or the whole output of `profile()`.
        log: Row of the query log for the statement; empty without one.
        clock_hz: Rate in Hz of the clock in the log; None if it was not measured.
        tables: Tables by the names of their indexes, where these differ.
        is_executed: Whether the text is of an executed statement.
    """

    text: str
    log: dict[str, float] = field(default_factory=dict)
    clock_hz: float | None = None
    tables: dict[str, str] = field(default_factory=dict)
    is_executed: bool = True

    def kept(self) -> str:
        """Return the text of a stored plan for `read_native`."""
        document = {
            "plan": self.text.splitlines(),
            "log": self.log,
            "clock_hz": self.clock_hz,
            "tables": self.tables,
            "executed": self.is_executed,
        }
        return json.dumps(document, indent=1, ensure_ascii=False)


@dataclass(frozen=True)
class Totals:
    """The totals of a statement's execution; None if not reported.

    Attributes:
        execution_s: Wall time of its execution.
        thread_s: Time of all its threads, summed.
        planning_s: Time of its compilation.
        activity: Its counters, by the names of `db_activity`.
    """

    execution_s: float | None = None
    thread_s: float | None = None
    planning_s: float | None = None
    activity: dict[str, float] = field(default_factory=dict)

    @property
    def read_bytes(self) -> int | None:
        """Return bytes read from outside the engine's own buffers."""
        pages = self.activity.get("disk")
        return None if pages is None else int(pages) * PAGE_BYTES


def read_native(text: str) -> Native:
    """Parse a stored Virtuoso plan.

    Raises:
        ValueError: If the file has this format and is damaged.
    """
    try:
        whole = json.loads(text)
    except ValueError:
        return Native(text, is_executed=TOTALS.search(text) is not None)
    try:
        log = {str(key): float(value) for key, value in whole["log"].items()}
        hz = whole["clock_hz"]
        return Native(
            "\n".join(whole["plan"]),
            log,
            None if hz is None else float(hz),
            {str(key): str(value) for key, value in whole["tables"].items()},
            bool(whole["executed"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the text is not a Virtuoso plan: {error!r}") from error


def totals(native: Native) -> Totals:
    """Return the totals of a statement's execution."""
    return _of_log(native) if native.log else _of_text(native.text)


def _of_log(native: Native) -> Totals:
    log, hz = native.log, native.clock_hz
    whole_s = _seconds(log, "ql_rt_clocks", hz)
    threads_s = _seconds(log, "ql_thread_clocks", hz)
    if whole_s is None and "ql_rt_msec" in log:
        whole_s = log["ql_rt_msec"] / MS_PER_S
    planning_s = _seconds(log, "ql_c_clocks", hz)
    if planning_s is None and "ql_c_msec" in log:
        planning_s = log["ql_c_msec"] / MS_PER_S
    # Wall time includes the compilation and thread time does not; with one thread this is their
    # only difference.
    wall_s = None if whole_s is None else max(0.0, whole_s - (planning_s or 0.0))
    counted = {word: log[column] for word, column in ACTIVITY.items() if log.get(column, -1) >= 0}
    return Totals(wall_s, _threads_s(threads_s, wall_s), planning_s, counted)


def _seconds(log: dict[str, float], column: str, hz: float | None) -> float | None:
    """Return a clock value of Virtuoso's log in seconds; None if negative."""
    clocks = log.get(column, -1.0)
    return clocks / hz if hz and clocks >= 0 else None


def _threads_s(threads_s: float | None, wall_s: float | None) -> float | None:
    """Return the seconds of all threads of a statement.

    Virtuoso sometimes loses branches, so the result is at least the wall time of one thread.
    """
    if threads_s is None or wall_s is None:
        return wall_s if threads_s is None else threads_s
    return max(threads_s, wall_s)


def _of_text(text: str) -> Totals:
    match = TOTALS.search(text)
    if match is None:
        return Totals()
    wall_ms, cpu, rnd, seq, segment, page = (float(value) for value in match.groups())
    counted = {
        "rnd": rnd,
        "seq": seq,
        "same seg": round(segment * (rnd + 1) / 100),
        "same pg": round(page * (rnd + 1) / 100),
    }
    if reads := READS.search(text, match.end()):
        counted |= {"disk": float(reads[1]), "spec disk": float(reads[2])}
    wall_s = max(0.0, wall_ms / MS_PER_S)
    compiling = COMPILING.search(text, match.end())
    planning_s = float(compiling[1]) / MS_PER_S if compiling else None
    return Totals(wall_s, _threads_s(wall_s * cpu / 100, wall_s), planning_s, counted)


def facts(native: Native) -> dict[str, Any]:
    """Return the index look-up counters of a Virtuoso statement, for its plan in the record."""
    counted = totals(native).activity
    return {"activity": counted} if counted else {}
