"""Columns and cells of the page's table of operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from assay.analysis.causes import CAUSES, UNCOVERED
from assay.model.units import bytes_text, count_text, percent_text, rate_text, seconds_text
from assay.report.words.causes import shares_by_cause
from assay.report.words.loads.operation import operation_time, retries_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.report.documents.figures import Percentile
    from assay.report.documents.load.operations import OperationKey, OperationRow
    from assay.report.documents.run import RunDocument

NUMBER, WORD = "number", "word"


class Column(NamedTuple):
    """A column of the table of operations: heading, meaning, sort key and text.

    If a cell shows more than the value, `words_of` returns its text.
    """

    heading: str
    about: str
    kind: str
    value: Callable[[OperationRow], Any]
    text: Callable[[Any], str]
    words_of: Callable[[OperationRow], str] | None = None


def _field(key: OperationKey) -> Callable[[OperationRow], Any]:
    return lambda operation: operation[key]


def _where(part: str) -> Callable[[OperationRow], Any]:
    return lambda operation: shares_by_cause(operation["where"])[part]


def _cores_text(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.2f}"


TIME_COLUMNS = (
    Column("name", "operation of the workload", WORD, _field("name"), str),
    Column("asks for", "task of the operation", WORD, _field("title"), str),
    Column(
        "median",
        "median service time of its passes",
        NUMBER,
        _field("seconds"),
        seconds_text,
        operation_time,
    ),
    Column("fastest", "fastest pass", NUMBER, _field("seconds_min"), seconds_text),
    Column("slowest", "slowest pass", NUMBER, _field("seconds_max"), seconds_text),
    Column("share", "share of the total of all medians", NUMBER, _field("share"), percent_text),
)
RESOURCE_COLUMNS = (
    Column("cores", "CPU seconds a second", NUMBER, _field("parallelism"), _cores_text),
    Column(
        "threads", "engine threads at work, mean", NUMBER, _field("threads_at_work"), _cores_text
    ),
    Column("peak memory", "resident", NUMBER, _field("memory_peak_bytes"), bytes_text),
    Column(
        "growth",
        "growth above the resident memory before",
        NUMBER,
        _field("memory_growth_bytes"),
        bytes_text,
    ),
    Column(
        "proportional",
        "highest measured sum of the proportional memory of its processes",
        NUMBER,
        _field("memory_peak_pss_bytes"),
        bytes_text,
    ),
    Column(
        "engine's memory",
        "as reported by the engine with the plan",
        NUMBER,
        _field("engine_memory_bytes"),
        bytes_text,
    ),
    Column("read", "read from storage per pass", NUMBER, _field("read_bytes"), bytes_text),
    Column("dirtied", "bytes of changed pages per pass", NUMBER, _field("write_bytes"), bytes_text),
    Column("page faults", "minor, a pass", NUMBER, _field("minor_faults"), count_text),
    Column("rows", "rows returned", NUMBER, _field("rows"), count_text),
    Column("passes", "number of executions", NUMBER, _field("passes"), count_text),
)


def _time(times: Literal["latency", "service"], name: Percentile) -> Callable[[OperationRow], Any]:
    def seconds(operation: OperationRow) -> float | None:
        distribution = operation[times]
        return None if distribution is None else distribution[name]

    return seconds


def _grouped(value: int) -> str:
    return f"{value:,}"


# Heading of a latency column, its percentile, and its description.
LATENCIES: tuple[tuple[str, Percentile, str], ...] = (
    ("p50", "p50", "from the due time: half of the executions were as fast"),
    ("p90", "p90", "nine of ten executions were as fast"),
    ("p95", "p95", "19 of 20 executions were as fast"),
    ("p99", "p99", "99 of 100 executions were as fast"),
    ("p99.9", "p999", "999 of 1,000 executions were as fast"),
    ("longest", "max", "the longest"),
)
SERVICE_TIMES: tuple[tuple[str, Percentile, str], ...] = (
    ("service p50", "p50", "from the actual start: half of the executions were as fast"),
    ("service p99", "p99", "99 of 100 executions were as fast"),
)
LOAD_COLUMNS = (
    Column("name", "operation of the workload", WORD, _field("name"), str),
    Column("rate", "successful executions a second", NUMBER, _field("throughput_per_s"), rate_text),
    Column("share", "share of all service time", NUMBER, _field("share"), percent_text),
    *[
        Column(head, f"latency, {about}", NUMBER, _time("latency", name), seconds_text)
        for head, name, about in LATENCIES
    ],
    *[
        Column(head, f"service time, {about}", NUMBER, _time("service", name), seconds_text)
        for head, name, about in SERVICE_TIMES
    ],
    Column("due", "number of executions that were due", NUMBER, _field("passes"), _grouped),
    Column("failed", "number of failed executions", NUMBER, _field("failed"), _grouped),
    Column("skipped", "operations never started", NUMBER, _field("skipped"), _grouped),
    Column(
        "retries",
        "attempts beyond the first, by class of the error that caused each",
        NUMBER,
        _field("retries"),
        _grouped,
        retries_words,
    ),
)


COVERAGE = Column(
    "coverage", "accounted share of thread time", NUMBER, _field("coverage"), percent_text
)


def operation_columns(document: RunDocument) -> tuple[Column, ...]:
    """Return the columns for the operations of a document, with only the causes that occur."""
    if document["conditions"]["clients"] is not None:
        return (*LOAD_COLUMNS, *_split_columns(document))
    return (*TIME_COLUMNS, *_split_columns(document), *RESOURCE_COLUMNS)


def cell(column: Column, operation: OperationRow) -> dict[str, object]:
    """Return a cell of the table of operations: its sort key and its text."""
    value = column.value(operation)
    text = column.text(value) if column.words_of is None else column.words_of(operation)
    missing = value is None
    sorted_by = "" if missing else value
    return {"value": sorted_by, "text": text, "kind": column.kind, "missing": missing}


def _split_columns(document: RunDocument) -> list[Column]:
    """Return the table columns of time by cause: CPU, waits, and the accounted share."""
    operations = document["operations"]
    is_load = document["conditions"]["clients"] is not None
    occurs = {
        name for operation in operations for name, share in operation["where"].items() if share
    }
    if is_load and not occurs:
        return []
    columns = [
        Column(cause.title, "share of its time", NUMBER, _where(cause.name), percent_text)
        for cause in CAUSES
        if cause.name in occurs | ({UNCOVERED} if occurs else set()) or cause.on_cpu
    ]
    return [*columns, COVERAGE]
