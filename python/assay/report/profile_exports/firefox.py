"""Writes CPU samples in the format of Firefox Profiler: each thread's samples over time.

The format's version is 60, the first with one stack tree for all threads. Firefox Profiler reads
all versions up to its own. Operations are intervals on a track for each session. Kinds of work are
categories, in the few colours that the viewer knows.
"""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.report.profile_exports.firefox_code import code_tables
from assay.report.profile_exports.source import ARTEFACT

if TYPE_CHECKING:
    from typing import BinaryIO

    from assay.report.profile_exports.source import Source

SUFFIX = ".firefox.json.gz"
COMPRESSION = 5
VERSION, GECKO_VERSION = 60, 31
INTERVAL = 1
# Samples of a busy thread are one period apart, plus jitter. A longer gap means idle time.
GAP_PERIODS = 1.5
NS_PER_MS = 1_000_000
OTHER = "other"
# One category has to be grey: it is the colour of frames without samples of their own.
COLOURS = {
    OTHER: "grey",
    "scan": "blue",
    "decode": "lightblue",
    "filter": "lightblue",
    "index look-up": "blue",
    "hash build": "orange",
    "hash probe": "red",
    "join filter": "lightred",
    "join": "brown",
    "aggregate": "green",
    "sort": "green",
    "result": "green",
    "expression": "yellow",
    "string match": "yellow",
    "exchange": "purple",
    "scheduling": "purple",
    "locking": "magenta",
    "buffer manager": "purple",
    "memory": "magenta",
    "log": "brown",
    "kernel I/O": "brown",
    "kernel memory": "magenta",
    "idle": "transparent",
    "driver": "darkgrey",
    "unclassified": "darkgrey",
    ARTEFACT: "darkgrey",
}
COLOUR_OF_OTHERS = "darkgrey"
# The viewer lists further tracks in its menu.
VISIBLE_MAX = 12
MARKER = "operation"
DRIVER_PID = "driver"


def write(source: Source, out: BinaryIO) -> None:
    """Write the CPU samples as gzipped JSON for Firefox Profiler."""
    text = json.dumps(profile(source), separators=(",", ":"), ensure_ascii=False)
    with gzip.GzipFile("", "wb", COMPRESSION, out, mtime=0) as packed:
        packed.write(text.encode())


def profile(source: Source) -> dict[str, Any]:
    """Return the CPU samples as a document of Firefox Profiler."""
    passes = _passes(source)
    works = [OTHER, *sorted(set(source.samples["work"].unique()) - {OTHER})]
    begun_ns = min(source.samples["time_ns"][0] - source.period_ns, passes["started_ns"][0])
    code = code_tables(source, {work: index for index, work in enumerate(works)})
    threads = [
        *_sessions(passes, begun_ns, code.texts),
        *_threads(source, begun_ns, code.nodes),
    ]
    return {
        "meta": _meta(source, begun_ns, works, threads),
        "libs": code.libs,
        "shared": code.shared(),
        "threads": threads,
    }


def _passes(source: Source) -> pl.DataFrame:
    """Return operations that have CPU samples, with number of samples and CPU ms."""
    cpu_ms = (pl.col("samples") * source.period_ns / NS_PER_MS).round(3)
    counts = source.samples.group_by("sequence").len("samples").with_columns(cpu_ms=cpu_ms)
    operation = pl.col("operation").cast(pl.String)
    return source.profile.passes.join(counts, "sequence").with_columns(operation).sort("started_ns")


def _meta(
    source: Source, begun_ns: int, works: list[str], threads: list[dict[str, Any]]
) -> dict[str, Any]:
    busiest = sorted(range(len(threads)), key=lambda index: -threads[index]["samples"]["length"])
    operations = [index for index, thread in enumerate(threads) if thread["pid"] == DRIVER_PID]
    shown = {*operations[:VISIBLE_MAX], *busiest[:VISIBLE_MAX]}
    return {
        "interval": source.period_ns / NS_PER_MS,
        "startTime": (begun_ns + source.wall_minus_monotonic_ns) / NS_PER_MS,
        "startTimeAsClockMonotonicNanosecondsSinceBoot": begun_ns,
        "processType": 0,
        "product": source.title,
        "importedFrom": "Assay",
        "arguments": source.run,
        "stackwalk": 1,
        "version": GECKO_VERSION,
        "preprocessedProfileVersion": VERSION,
        "symbolicated": True,
        "usesOnlyOneStackType": True,
        "sourceCodeIsNotOnSearchfox": True,
        "keepProfileThreadOrder": True,
        "initialVisibleThreads": sorted(shown),
        "initialSelectedThreads": busiest[:1],
        "sampleUnits": {"time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns"},
        "categories": [
            {"name": work, "color": COLOURS.get(work, COLOUR_OF_OTHERS), "subcategories": ["Other"]}
            for work in works
        ],
        "markerSchema": [_schema()],
        "extra": [{"label": "Sampling", "entries": _sampling(source)}],
    }


def _schema() -> dict[str, object]:
    return {
        "name": MARKER,
        "tooltipLabel": "{marker.name}",
        "tableLabel": "{marker.name}",
        "chartLabel": "{marker.name}",
        "display": ["marker-chart", "marker-table", "timeline-overview"],
        "fields": [
            {"key": "sequence", "label": "Number in the run", "format": "integer"},
            {"key": "samples", "label": "CPU samples", "format": "integer"},
            {"key": "cpu_ms", "label": "CPU time", "format": "duration"},
        ],
    }


def _sampling(source: Source) -> list[dict[str, str]]:
    sampling = source.profile.sampling
    said = {
        "Event": sampling.event,
        "Samples a second of CPU time": f"{sampling.frequency_hz:g}",
        "Stacks": sampling.stacks,
        "Samples lost": "not recorded" if sampling.lost is None else str(sampling.lost),
    }
    said |= {f"Note {index}": note for index, note in enumerate(sampling.notes, 1)}
    return [{"label": label, "format": "string", "value": value} for label, value in said.items()]


def _sessions(passes: pl.DataFrame, begun_ns: int, texts: dict[str, int]) -> list[dict[str, Any]]:
    """Return a Firefox Profiler track per driver session, with operations as intervals."""
    return [
        _thread(
            name=f"session {session}",
            process="operations",
            pid=DRIVER_PID,
            tid=f"session {session}",
            samples=pl.DataFrame(schema={"time": pl.Float64, "node": pl.Int64, "cpu": pl.Int64}),
            markers=_markers(rows, begun_ns, texts),
        )
        for (session,), rows in passes.group_by("session", maintain_order=True)
    ]


def _markers(passes: pl.DataFrame, begun_ns: int, texts: dict[str, int]) -> dict[str, Any]:
    def milliseconds(column: str) -> list[float]:
        return ((passes[column] - begun_ns) / NS_PER_MS).round(6).to_list()

    names = [texts.setdefault(name, len(texts)) for name in passes["operation"]]
    rows = passes.select("sequence", "samples", "cpu_ms").iter_rows(named=True)
    return {
        "name": names,
        "startTime": milliseconds("started_ns"),
        "endTime": milliseconds("finished_ns"),
        "phase": [INTERVAL] * len(names),
        "category": [0] * len(names),
        "data": [{"type": MARKER} | row for row in rows],
        "length": len(names),
    }


def _threads(source: Source, begun_ns: int, nodes: pl.DataFrame) -> list[dict[str, Any]]:
    """Return a Firefox Profiler track for each engine thread, the busiest first."""
    time = ((pl.col("time_ns") - begun_ns) / NS_PER_MS).round(3).alias("time")
    samples = source.samples.with_columns(time).join(nodes, "stack", maintain_order="left")
    by_thread = sorted(
        samples.group_by("pid", "tid", maintain_order=True),
        key=lambda entry: (entry[0][0], -entry[1].height),
    )
    empty: dict[str, Any] = {
        column: [] for column in ("name", "startTime", "endTime", "phase", "category", "data")
    }
    return [
        _thread(
            name=source.thread_name(pid, tid),
            process=source.thread_name(pid, pid),
            pid=str(pid),
            tid=tid,
            samples=_with_idle(rows, source.period_ns),
            markers=empty | {"length": 0},
        )
        for (pid, tid), rows in by_thread
    ]


def _with_idle(samples: pl.DataFrame, period_ns: int) -> pl.DataFrame:
    """Return CPU samples, with an added empty sample at the end of each idle time.

    A sample represents the period before it. Without the added samples, the viewer would show the
    thread as busy since the previous sample.
    """
    period_ms = period_ns / NS_PER_MS
    taken = samples.select("time", "node", cpu=pl.lit(period_ns, pl.Int64))
    begins = pl.col("time").diff().fill_null(float("inf")) > GAP_PERIODS * period_ms
    idle = taken.filter(begins).with_columns(
        time=(pl.col("time") - period_ms).round(3),
        node=pl.lit(None, pl.Int64),
        cpu=pl.lit(0, pl.Int64),
    )
    return pl.concat([idle, taken]).sort("time", maintain_order=True)


def _thread(
    *,
    name: str,
    process: str,
    pid: str,
    tid: int | str,
    samples: pl.DataFrame,
    markers: dict[str, Any],
) -> dict[str, Any]:
    """Return a thread's Firefox Profiler track, from samples with time, stack and CPU time."""
    return {
        "processType": "default",
        "processName": process,
        "processStartupTime": 0,
        "processShutdownTime": None,
        "registerTime": 0,
        "unregisterTime": None,
        "pausedRanges": [],
        "showMarkersInTimeline": bool(markers["length"]),
        "name": name,
        "isMainThread": str(tid) == pid,
        "pid": pid,
        "tid": tid,
        "samples": {
            "stack": samples["node"].to_list(),
            "time": samples["time"].to_list(),
            "threadCPUDelta": samples["cpu"].to_list(),
            "weight": None,
            "weightType": "samples",
            "length": samples.height,
        },
        "markers": markers,
    }
