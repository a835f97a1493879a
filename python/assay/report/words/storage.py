"""Table of disk and CPU use during each operation, as rows of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assay.model.units import grouped_text
from assay.report.words.loads.requests import requests_lines
from assay.report.words.wrapping import indented

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.host.storage import DeviceFigure, StorageFigure, StorageSection
    from assay.report.documents.run import RunDocument

KIB, MIB = 1 << 10, 1 << 20
PERCENT = 100.0
SHOWN_MAX = 10
GAP = "  "
ABSENT = "-"
ALL = "all"
# Shorter operations contain too few samples of the device.
LOOKS_MIN = 3
NOTHING_READ = "Operations read nothing from the device."
ROUGH = (
    "Samples of the device are {interval_s:g} s apart, so figures of operations that are "
    "shorter than three samples are rough."
)


class Column(NamedTuple):
    """A column of the disk and CPU table: its name in iostat or mpstat, and its source.

    `of_operation` and `of_measured` name the figure of an operation and of the measured part. The
    operation's figure is divided by `step`.
    """

    heading: str
    about: str
    of_operation: StorageFigure
    of_measured: DeviceFigure | None
    step: float


COLUMNS = (
    Column("reads", "requests that were read, one execution", "reads", None, 1),
    Column("r/s", "reads a second", "reads_per_s", "r/s", 1),
    Column("rkB/s", "KiB read a second", "read_bytes_per_s", "rkB/s", KIB),
    Column("rareq-sz", "mean size of a read, KiB", "mean_read_bytes", "rareq-sz", KIB),
    Column("%util", "time in which a request was under way", "util_share", "%util", 1 / PERCENT),
    Column("%usr", "CPUs in user mode", "usr_share", "%usr", 1 / PERCENT),
    Column("%sys", "CPUs in the kernel", "sys_share", "%sys", 1 / PERCENT),
    Column("%iowait", "CPUs idle beside a wait for I/O", "iowait_share", "%iowait", 1 / PERCENT),
    Column("%idle", "CPUs idle otherwise", "idle_share", "%idle", 1 / PERCENT),
)

# Columns that are left out if a line is too narrow, in this order.
DISPENSABLE = ("%idle", "reads", "%iowait")


def rows(storage: StorageSection) -> list[tuple[str, list[float | None]]]:
    """Return disk and CPU use of each operation with reads, most first, then of all."""
    reading = [operation for operation in storage["operations"] if operation["reads"]]
    operation_rows = [
        (
            operation["operation"],
            [_scaled(operation[column.of_operation], column) for column in COLUMNS],
        )
        for operation in sorted(reading, key=lambda operation: -(operation["reads"] or 0))
    ]
    measured = storage["measured"]
    whole = [measured[column.of_measured] if column.of_measured else None for column in COLUMNS]
    return [*operation_rows, (ALL, whole)]


def is_rough(storage: StorageSection) -> bool:
    """Return True if some operations with reads are too short for the sampling interval."""
    return any(
        operation["reads"] and not operation["metered"] and (operation["samples"] or 0) < LOOKS_MIN
        for operation in storage["operations"]
    )


def notes(storage: StorageSection) -> list[str]:
    """Return notes on the table of I/O, one sentence each."""
    sentences = []
    if storage["operations"] and not any(operation["reads"] for operation in storage["operations"]):
        sentences.append(NOTHING_READ)
    if not storage["operations"]:
        sentences.append("Operations overlap, so their reads cannot be separated.")
    if is_rough(storage):
        sentences.append(ROUGH.format(interval_s=storage["interval_s"]))
    return sentences


def value_text(value: float | None) -> str:
    """Return a value with three digits and thousands separators; empty for None."""
    return ABSENT if value is None else grouped_text(value)


def storage_lines(document: RunDocument, width: int, *, everything: bool) -> Iterator[str]:
    """Return terminal lines of disk and CPU use; empty if no disk was observed."""
    storage = document["storage"]
    if storage is None:
        return
    heading = f"Disk {storage['device']} and CPUs while each ran, in the units of iostat and mpstat"
    yield from indented(heading, "", width)
    every = rows(storage)
    shown = every if everything else [*every[:-1][:SHOWN_MAX], every[-1]]
    yield from _aligned(shown, width)
    if len(shown) < len(every):
        yield from indented(f"{len(every) - len(shown)} more: --all", GAP, width)
    for sentence in notes(storage):
        yield from indented(sentence, GAP, width)
    yield ""
    yield from requests_lines(storage, width, everything=everything)


def _aligned(shown: list[tuple[str, list[float | None]]], width: int) -> Iterator[str]:
    """Yield the lines of the disk and CPU table, with fewer columns on a narrow terminal."""
    cells = [["", *(column.heading for column in COLUMNS)]]
    cells += [[name, *map(value_text, values)] for name, values in shown]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    places = list(range(len(widths)))
    for left_out in DISPENSABLE:
        if sum(widths[place] + len(GAP) for place in places) > width:
            places.remove(cells[0].index(left_out))
    for row in cells:
        aligned = [row[place].rjust(widths[place]) for place in places[1:]]
        yield GAP + GAP.join([row[0].ljust(widths[0]), *aligned]).rstrip()


def _scaled(value: float | None, column: Column) -> float | None:
    return None if value is None else value / column.step
