"""Table rows on how contiguous disk reads were."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assay.analysis.host.contiguity import ALL, RECENT
from assay.model.units import count_text, grouped_text
from assay.report.words.wrapping import indented

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.host.storage import (
        RequestsFigure,
        RequestsRow,
        RequestsSection,
        StorageSection,
    )

KIB = 1 << 10
SHOWN_MAX = 10
GAP = "  "
ABSENT = "-"
PERCENT = 100.0
ABOUT = (
    "Requests as the driver of {devices} received them, after merging and read-ahead. "
    "Sequential requests begin where the previous request ended; near requests begin within "
    "128 KiB of the end of the previous read."
)


class Column(NamedTuple):
    """A column of the table of disk read contiguity, whose values are multiplied by `step`."""

    heading: str
    about: str
    figure: RequestsFigure
    step: float


COLUMNS = (
    Column("traced", "reads that were traced", "reads", 1),
    Column("seq %", "begin where the previous read ended", "sequential_share", PERCENT),
    Column("near %", "begin within 128 KiB of the end of the previous read", "near_share", PERCENT),
    Column("random %", "begin elsewhere", "random_share", PERCENT),
    Column(
        f"near {RECENT} %",
        f"begin within 128 KiB of the end of one of the previous {RECENT} reads: interleaved "
        "streams",
        "near_recent_share",
        PERCENT,
    ),
    Column("run", "reads in a sequential run, mean", "mean_run_reads", 1),
    Column("run KiB", "size of a sequential run, mean", "mean_run_bytes", 1 / KIB),
    Column(
        "ahead %",
        "by the kernel's read-ahead, including the requested page",
        "read_ahead_share",
        PERCENT,
    ),
)


def rows(requests: RequestsSection) -> list[tuple[str, list[float | None]]]:
    """Return the disk read contiguity of each operation, most reads first, then of all."""
    operations = sorted(
        requests["operations"],
        key=lambda operation: (operation["operation"] == ALL, -operation["reads"]),
    )
    return [
        (operation["operation"], [_value(operation, column) for column in COLUMNS])
        for operation in operations
    ]


def about(requests: RequestsSection) -> str:
    """Return a paragraph on the table of reads: its devices, and reads that it leaves out."""
    text = ABOUT.format(devices=" and ".join(requests["devices"]))
    if requests["others_reads"]:
        text += f" {count_text(requests['others_reads'])} reads of other processes are left out."
    return " ".join([text, *(f"{note}." for note in requests["notes"])])


def requests_lines(storage: StorageSection, width: int, *, everything: bool) -> Iterator[str]:
    """Return terminal lines on disk read contiguity; empty if reads were not traced."""
    requests = storage["requests"]
    if requests is None:
        return
    yield from indented("How contiguous reads were, request by request", "", width)
    every = rows(requests)
    shown = every if everything else [*every[:-1][:SHOWN_MAX], *every[-1:]]
    cells = [["", *(column.heading for column in COLUMNS)]]
    cells += [[name, *map(_text, values)] for name, values in shown]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    while sum(room + len(GAP) for room in widths) > width:
        widths.pop()
    for name, *values in cells:
        aligned = [text.rjust(room) for text, room in zip(values, widths[1:], strict=False)]
        yield GAP + GAP.join([name.ljust(widths[0]), *aligned]).rstrip()
    yield from indented(about(requests), GAP, width)
    yield ""


def _value(operation: RequestsRow, column: Column) -> float | None:
    value = operation[column.figure]
    return None if value is None else value * column.step


def _text(value: float | None) -> str:
    return ABSENT if value is None else grouped_text(value)
