"""A profile by hand: two queries on two processes, whose every sample is known."""

from __future__ import annotations

import polars as pl

from assay.analysis.profile.profile import Profile, Sampling
from assay.analysis.work.rules import Rules
from assay.report.profile_exports.source import Source

MS = 1_000_000
BEGUN_NS = 5_000 * MS
WALL_MINUS_MONOTONIC_NS = 1_795_000_000_000 * MS
FREQUENCY_HZ = 500
BUILD_ID = "000102030405060708090a0b0c0d0e0f10111213"
POSTGRES = "/opt/postgresql/18/bin/postgres"
KERNEL_ADDRESS = 0xFFFF_FFFF_8100_0040

MODULES = [
    {"module": 0, "path": POSTGRES, "build_id": BUILD_ID},
    {"module": 1, "path": "[kernel]", "build_id": None},
    {"module": 2, "path": "/usr/lib/libfilter.so", "build_id": "0a0b"},
    {"module": 3, "path": "/usr/lib/libunused.so", "build_id": "0c0d"},
]
# Of each frame: module, address, label. Two places of one function; one that has bounds only; one
# that is in no file.
FRAMES = [
    (0, 0x1000, "ExecutorRun"),
    (0, 0x2000, "ExecHashJoin"),
    (0, 0x2040, "ExecHashJoin"),
    (0, 0x3000, "heap_getnext"),
    (1, KERNEL_ADDRESS, "copy_to_user"),
    (2, 0x40, "<[u8; 16] as filter::Filter>::keep"),
    (2, 0x1F30, "libfilter.so+0x1f00..0x1f80"),
    (None, 0x7F00_0000_0000, "0x7f0000000000"),
]
# Of each stack, in the record's numbers: its caller, its frame.
STACKS = {
    10: (None, 0),
    11: (10, 1),
    12: (11, 3),
    13: (12, 4),
    14: (10, 2),
    15: (14, 5),
    16: (15, 6),
    17: (10, 7),
    99: (None, 3),
}
WORKS = {
    11: "hash probe",
    12: "scan",
    13: "kernel I/O",
    15: "filter",
    16: "filter",
    17: "unclassified",
    14: None,
    99: "log",
}
# Samples: after how many milliseconds, process, thread, stack. Operations take 20 ms each.
SAMPLES = [
    (2, 50, 50, 11),
    (4, 50, 50, 12),
    (6, 50, 50, 12),
    (7, 51, 51, 13),
    (8, 50, 50, 13),
    (10, 50, 50, 14),
    (20, 50, 50, 99),
    (22, 50, 50, 15),
    (24, 50, 50, 16),
    (26, 50, 50, 17),
    (28, 50, 52, 12),
]
OPERATIONS = [("q01", 1, 19), ("q09", 21, 39)]


def a_profile() -> Profile:
    """The samples above: q01 has six, one of them an artefact; q09 has four; one is of neither."""
    return Profile(
        sampling=Sampling(
            event="cpu-clock",
            frequency_hz=FREQUENCY_HZ,
            kernel=True,
            stacks="copies",
            copied_bytes=8192,
            symbols=True,
            notes=("Hardware cycles are not to be had here.",),
            taken=len(SAMPLES),
            lost=0,
            throttled=0,
            cut=0,
            broken=0,
            background=1,
            artefacts={"a pile-up": 1},
        ),
        samples=_samples(),
        stacks=pl.DataFrame(
            [(stack, caller, frame) for stack, (caller, frame) in STACKS.items()],
            schema={"stack": pl.UInt32, "parent": pl.UInt32, "frame": pl.UInt32},
            orient="row",
        ),
        frames=_frames(),
        passes=pl.DataFrame(
            [
                (number, 0, name, BEGUN_NS + begun * MS, BEGUN_NS + ended * MS)
                for number, (name, begun, ended) in enumerate(OPERATIONS)
            ],
            schema={
                "sequence": pl.UInt64,
                "session": pl.UInt32,
                "operation": pl.String,
                "started_ns": pl.Int64,
                "finished_ns": pl.Int64,
            },
            orient="row",
        ),
        rules=Rules(),
    )


def a_source(operation: str | None = None) -> Source:
    """What the profile is exported from."""
    places = [(number, module, address) for number, (module, address, _) in enumerate(FRAMES)]
    return Source(
        run="20260101T000000Z-tpch-postgresql-abc",
        title="tpch on PostgreSQL",
        wall_minus_monotonic_ns=WALL_MINUS_MONOTONIC_NS,
        machine="x86_64",
        operation=operation,
        profile=a_profile(),
        places=pl.DataFrame(
            places,
            schema={"frame": pl.UInt32, "module": pl.UInt32, "address": pl.UInt64},
            orient="row",
        ),
        modules=pl.DataFrame(
            MODULES, schema={"module": pl.UInt32, "path": pl.String, "build_id": pl.String}
        ),
        threads=pl.DataFrame(
            {"pid": [50, 51, 50], "tid": [50, 51, 52], "name": ["postgres", "worker", "helping"]},
            schema={"pid": pl.UInt32, "tid": pl.UInt32, "name": pl.String},
        ),
    )


def _operation(after_ms: int) -> int | None:
    for number, (_, begun, ended) in enumerate(OPERATIONS):
        if begun <= after_ms < ended:
            return number
    return None


def _samples() -> pl.DataFrame:
    rows = []
    for after_ms, pid, tid, stack in SAMPLES:
        number = _operation(after_ms)
        work = WORKS[stack]
        rows.append(
            {
                "time_ns": BEGUN_NS + after_ms * MS,
                "pid": pid,
                "tid": tid,
                "stack": stack,
                "session": None if number is None else 0,
                "sequence": number,
                "operation": None if number is None else OPERATIONS[number][0],
                "work": work,
                "artefact": None if work else "a pile-up",
                "rule": None,
                "leaf": STACKS[stack][1],
                "decided": STACKS[stack][1],
            }
        )
    numbers = ("pid", "tid", "stack", "session", "rule", "leaf", "decided")
    return pl.DataFrame(
        rows, schema_overrides=dict.fromkeys(numbers, pl.UInt32) | {"sequence": pl.UInt64}
    )


def _frames() -> pl.DataFrame:
    names = [entry["path"].rpartition("/")[2] for entry in MODULES]
    rows = [
        (number, label, label, None if module is None else names[module], "symbol")
        for number, (module, _, label) in enumerate(FRAMES)
    ]
    columns = ["frame", "label", "family", "module", "kind"]
    return pl.DataFrame(rows, schema=columns, schema_overrides={"frame": pl.UInt32}, orient="row")
