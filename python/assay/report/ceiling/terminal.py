"""Terminal output of a host's maximum hardware speed: tables, then warnings."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from assay.model.units import bytes_text, count_text, rate_text, seconds_text
from assay.report.ceiling.tables import PATTERNS, by_size, depths_of, points_of
from assay.report.ceiling.words import (
    depth_text,
    headline,
    machine_text,
    method_sentence,
    notes,
    rate_of,
    size_text,
    title,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from assay.report.documents.ceiling import (
        CeilingDocument,
        DiskPointEntry,
        EstimateEntry,
        MachinePointEntry,
    )

WIDTH = 80
SIZE_WIDTH, CELL_WIDTH = 9, 8
SHORT_PATTERNS = {"sequential": "seq.", "random": "random"}


def ceiling_lines(document: CeilingDocument) -> list[str]:
    """Return the lines of a hardware ceiling's document for a terminal."""
    return [
        *_head(document),
        *_reads(document),
        *_random_reads(document),
        *_buffered(document),
        *_writes(document),
        *_machine(document),
        *_notes(document),
        *_foot(document),
    ]


def ceiling_line(document: CeilingDocument) -> str:
    """Return a hardware ceiling as one line, as `assay runs` lists it."""
    first = headline(document)[:1]
    figure = first[0][0] if first else "-"
    name = f"{title(document)}".replace("What ", "what ", 1)
    return f"{document['verdict']:<8} {name:<34} {figure:>12}  {document['run']}"


def _head(document: CeilingDocument) -> Iterator[str]:
    verdict = document["verdict"].upper()
    yield f"{title(document):<{WIDTH - len(verdict)}}{verdict}"
    yield from _wrapped(machine_text(document), "  ")
    if document["status"] != "complete":
        yield from _wrapped(f"{document['status']}: {document['status_reason']}", "  ")
    for result in document["checks"]:
        if result["verdict"] != "valid":
            yield from _wrapped(f"{result['verdict']}: {result['reason']}", "  ")
    yield ""


def _reads(document: CeilingDocument) -> Iterator[str]:
    points = points_of(document)
    if not points:
        yield "No trial of the disk ended."
        return
    depths = depths_of(points)
    yield "Reads past the page cache, requests a second, by size and how many are under way"
    heads = "".join(f"{depth_text(depth):>{2 * CELL_WIDTH}}" for depth in depths)
    yield f"{'':{SIZE_WIDTH}}{heads}"
    patterns = "".join(f"{SHORT_PATTERNS[name]:>{CELL_WIDTH}}" for name in PATTERNS)
    yield f"{'  size':<{SIZE_WIDTH}}{patterns * len(depths)}"
    for size, row in by_size(points):
        cells = "".join(
            f"{_rate(row.get((depth, pattern))):>{CELL_WIDTH}}"
            for depth in depths
            for pattern in PATTERNS
        )
        yield f"  {size_text(size):<{SIZE_WIDTH - 2}}{cells}"
    yield ""


def _random_reads(document: CeilingDocument) -> Iterator[str]:
    """Yield lines on the latency of random disk reads by size."""
    points = [p for p in points_of(document) if p["pattern"] == "random"]
    depths = depths_of(points)
    for depth in sorted({depths[0], depths[-1]}) if depths else ():
        yield f"Random reads, {depth_text(depth)}"
        yield "  size       median       p99     p99.9         rate   CPU each   95 % interval"
        for size, row in by_size([p for p in points if p["depth"] == depth]):
            point = row[depth, "random"]
            latency = point["latency_s"]
            cpu = seconds_text(point["cpu_s"]["value"]) if point["cpu_s"] else "-"
            yield (
                f"  {size_text(size):<8}{seconds_text(latency['p50']):>9}"
                f"{seconds_text(latency['p99']):>10}{seconds_text(latency['p999']):>10}"
                f"{bytes_text(point['bytes_per_s']['value']) + '/s':>13}{cpu:>11}"
                f"  {_interval(point['iops'])}"
            )
        yield ""


def _rate(point: DiskPointEntry | None) -> str:
    return rate_of(None if point is None else point["iops"])


def _interval(estimate: EstimateEntry) -> str:
    if estimate["low"] is None:
        return "one round"
    ends = (estimate["low"], estimate["high"])
    low, high = (count_text(end).replace(" ", "") for end in ends)
    return f"[{low}, {high}]"


def _buffered(document: CeilingDocument) -> Iterator[str]:
    points = points_of(document, cache="buffered")
    if not points:
        return
    yield "Reads through the page cache, one at a time, of a file that is not in it"
    yield "  size       sequential /s    random /s   sequential       random"
    for size, row in by_size(points):
        both = [row.get((1, pattern)) for pattern in PATTERNS]
        rates = [_rate(point) for point in both]
        amounts = ["-" if p is None else f"{bytes_text(p['bytes_per_s']['value'])}/s" for p in both]
        yield (
            f"  {size_text(size):<10}{rates[0]:>14}{rates[1]:>13}{amounts[0]:>13}{amounts[1]:>13}"
        )
    yield ""


def _writes(document: CeilingDocument) -> Iterator[str]:
    points = points_of(document, operation="write")
    flushes = [
        point
        for operation in ("fsync", "fdatasync")
        for point in points_of(document, operation=operation, cache="buffered")
    ]
    if points:
        yield "Writes past the page cache"
    for point in points:
        what = f"{size_text(point['size_bytes'])} {point['pattern']}, {depth_text(point['depth'])}"
        yield (
            f"  {what:<34}{rate_text(point['iops']['value']):>12}"
            f"{bytes_text(point['bytes_per_s']['value']) + '/s':>14}"
            f"  median {seconds_text(point['latency_s']['p50'])}"
        )
    if points and flushes:
        yield ""
    if flushes:
        yield "A small write through the page cache, and until it is on the disk"
    for point in flushes:
        latency = point["latency_s"]
        yield (
            f"  {size_text(point['size_bytes'])} and {point['operation']:<12}"
            f"{rate_text(point['iops']['value']):>12}  median {seconds_text(latency['p50'])},"
            f" p99 {seconds_text(latency['p99'])}, longest {seconds_text(latency['max'])}"
        )
    if points or flushes:
        yield ""


def _machine(document: CeilingDocument) -> Iterator[str]:
    if document["memory"]:
        yield "Memory, bytes a second by threads"
        yield from _by_threads([(p, p["bytes_per_s"]) for p in document["memory"]], bytes_text)
    if document["loads"]:
        loads = [
            f"{bytes_text(p['array_bytes'])} {seconds_text(p['seconds']['value'])}"
            for p in document["loads"]
        ]
        yield from _wrapped(f"One load after another, all over: {', '.join(loads)}", "  ")
        yield ""
    if document["cores"]:
        yield "Cores, steps a second by threads"
        yield from _by_threads([(p, p["steps_per_s"]) for p in document["cores"]], count_text)
        yield ""


def _by_threads(
    points: Sequence[tuple[MachinePointEntry, EstimateEntry]], text: Callable[[float], str]
) -> Iterator[str]:
    kernels = list(dict.fromkeys(point["kernel"] for point, _ in points))
    for kernel in kernels:
        speeds = [
            f"{point['threads']}: {text(estimate['value'])}/s"
            for point, estimate in points
            if point["kernel"] == kernel
        ]
        yield f"  {kernel:<12}{'   '.join(speeds)}"


def _notes(document: CeilingDocument) -> Iterator[str]:
    signs = document["hiding"]["signs"]
    if signs:
        yield "Did the trials measure the disk itself? These signs speak against it:"
        for sign in signs:
            yield from _wrapped(sign, "  - ", "    ")
        yield ""
    sentences = notes(document)
    for note in sentences:
        yield from _wrapped(note, "- ", "  ")
    if sentences:
        yield ""


def _foot(document: CeilingDocument) -> Iterator[str]:
    yield from _wrapped(method_sentence(document), "")
    if document["report"] is not None:
        yield f"Report  {document['report']}"


def _wrapped(text: str, first: str, rest: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
