"""The page on a host's maximum hardware speed: one HTML file that needs no network."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING
from urllib.parse import quote

from assay.model.units import bytes_text, count_text, rate_text, seconds_text
from assay.report.ceiling.charts import ABOUT, TITLES, charts_of
from assay.report.ceiling.tables import (
    PATTERNS,
    by_size,
    depths_of,
    flat_machine,
    flat_points,
    points_of,
)
from assay.report.ceiling.words import (
    between,
    depth_text,
    headline,
    machine_text,
    method_sentence,
    notes,
    rate_of,
    size_text,
    title,
)
from assay.report.csv_text import inert
from assay.report.page.rendering import rendered_article

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from assay.analysis.figures.contract import Cell
    from assay.report.documents.ceiling import (
        CeilingDocument,
        DiskPointEntry,
        EstimateEntry,
        MachinePointEntry,
    )

OF_DISK = ("iops", "bandwidth", "latency", "queue", "cpu")


def ceiling_page(document: CeilingDocument) -> str:
    """Return the document of a hardware ceiling as an HTML page."""
    drawn = charts_of(document)
    specs = {name: chart.to_dict() for name, chart in drawn.items()}
    data = {"disk": flat_points(document), "machine": flat_machine(document)}
    return rendered_article(
        "ceiling.html.j2",
        specs,
        document=document,
        title=title(document),
        machine=machine_text(document),
        made=method_sentence(document),
        headline=headline(document),
        doubts=[check for check in document["checks"] if check["verdict"] != "valid"],
        notes=notes(document),
        charts={
            name: {
                "title": TITLES[name],
                "about": ABOUT[name],
                "of": "disk" if name in OF_DISK else "machine",
            }
            for name in drawn
        },
        reads=_reads(document),
        points=[_point(point) for point in document["disk"]],
        writes=[_point(point) for point in document["disk"] if point["operation"] != "read"],
        machine_rows=list(_machine(document)),
        data={name: _link(rows) for name, rows in data.items()},
    )


def _reads(document: CeilingDocument) -> dict[str, object]:
    """Return table rows of disk requests per second by size: two columns per queue depth."""
    direct, buffered = points_of(document), points_of(document, cache="buffered")
    depths = depths_of(direct)
    cached = dict(by_size(buffered))
    heads = [depth_text(depth) for depth in depths]
    rows = []
    sizes = dict(by_size(direct))
    for size in sorted({*sizes, *cached}):
        cells = [
            _cell(sizes.get(size, {}).get((depth, pattern)))
            for depth in depths
            for pattern in PATTERNS
        ]
        cells += [_cell(cached.get(size, {}).get((1, pattern))) for pattern in PATTERNS]
        rows.append({"size": size_text(size), "bytes": size, "cells": cells})
    return {"heads": [*heads, "through the page cache"], "patterns": PATTERNS, "rows": rows}


def _cell(point: DiskPointEntry | None) -> dict[str, Cell]:
    if point is None:
        return {"text": "-", "value": "", "title": "not tried"}
    iops = point["iops"]
    return {"text": rate_of(iops), "value": iops["value"], "title": f"{between(iops)} a second"}


def _point(point: DiskPointEntry) -> list[dict[str, Cell]]:
    latency, cpu, reached = point["latency_s"], point["cpu_s"], point["device_requests"]
    names = [point["operation"], point["pattern"], point["cache"], point["method"]]
    numbers: list[tuple[str, Cell]] = [
        (str(point["depth"]), point["depth"]),
        (size_text(point["size_bytes"]), point["size_bytes"]),
        (between(point["iops"]), point["iops"]["value"]),
        (f"{bytes_text(point['bytes_per_s']['value'])}/s", point["bytes_per_s"]["value"]),
        *((seconds_text(latency[name]), latency[name]) for name in ("p50", "p99", "p999", "max")),
        ("-", "") if cpu is None else (seconds_text(cpu["value"]), cpu["value"]),
        ("-", "") if reached is None else (f"{reached:.3g}", reached),
    ]
    cells: list[tuple[str, Cell]] = [*((str(word), None) for word in names), *numbers]
    return [{"text": text, "value": value} for text, value in cells]


def _machine(document: CeilingDocument) -> Iterator[dict[str, Cell]]:
    for point in document["memory"]:
        yield _machine_row(point, point["bytes_per_s"], lambda value: f"{bytes_text(value)}/s")
    for load in document["loads"]:
        yield _machine_row(load, load["seconds"], seconds_text)
    for core in document["cores"]:
        yield _machine_row(core, core["steps_per_s"], _steps)


def _steps(value: float) -> str:
    return f"{count_text(value)}/s" if value >= 1000 else rate_text(value)  # noqa: PLR2004 - a thousand


def _machine_row(
    point: MachinePointEntry, estimate: EstimateEntry, text: Callable[[float], str]
) -> dict[str, Cell]:
    size = point["array_bytes"]
    low, high = estimate["low"], estimate["high"]
    ends = "one round" if low is None or high is None else f"{text(low)} to {text(high)}"
    return {
        "kernel": point["kernel"],
        "threads": point["threads"],
        "array": "" if size is None else bytes_text(size),
        "text": text(estimate["value"]),
        "interval": ends,
    }


def _link(rows: Sequence[Mapping[str, Cell]]) -> str:
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: inert(cell) for name, cell in row.items()} for row in rows)
    return f"data:text/csv;charset=utf-8,{quote(text.getvalue())}"
