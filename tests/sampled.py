"""A run of `tests.records` with CPU samples, whose every share is known beforehand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assay.record.seal import write_seal
from assay.record.writer import write_json
from tests.profiles import FREQUENCY_HZ, At, MadeProfile, kernel
from tests.records import MS, PID, S, event_rows

# Operations are on a CPU for nine tenths of their time, and samples are of CPU time.
SAMPLE_NS = round(S / FREQUENCY_HZ / 0.9)
RULES: dict[str, Any] = {
    "outermost": ["Execute"],
    "families": ["Decompress_*"],
    "rules": [
        {
            "work": "hash probe",
            "symbols": ["HashTable<*>::Probe*"],
            "says": "Looks up each row in the hash table.",
        },
        {"work": "scan", "symbols": ["Scan::*"], "says": "Reads rows of a table."},
        {"work": "decode", "symbols": ["Decompress_*"], "says": "Unpacks values of a column."},
        {"work": "aggregate", "symbols": ["Aggregate::*"], "says": "Adds up groups."},
        {"work": "kernel I/O", "symbols": ["vfs_read"], "says": "Reads files."},
        {
            "artefact": "the clock of a virtual machine ticks late here",
            "symbols": ["late_tick"],
            "says": "Ends a tick.",
        },
    ],
}
TOP = ("_start", "Execute(Plan*)")
PROBE = "void HashTable<%s>::Probe(Chunk&)"
LONG = (
    "Aggregate::Update<std::vector<std::pair<unsigned long, double>>, Sum<double>>(Chunk&, State&)"
)
FILTER = "Filter(Chunk&)"
# Of ten samples of an operation, which stack they have; what one pass more has is counted beside.
STACKS: dict[str, list[tuple[At | str, ...]]] = {
    "q01": [
        (*TOP, "Scan::Next(Chunk&)"),
        (*TOP, "Scan::Next(Chunk&)", "Decompress_int32(Column&)"),
        (*TOP, "Scan::Next(Chunk&)", "Decompress_date(Column&)"),
        (*TOP, LONG),
        (*TOP, LONG),
        (*TOP, LONG),
        (*TOP, LONG),
        (*TOP, LONG),
        (*TOP, "Scan::Next(Chunk&)", kernel("entry_SYSCALL_64"), kernel("vfs_read")),
        (*TOP, kernel("late_tick")),
    ],
    "q02": [
        (*TOP, PROBE % "int"),
        (*TOP, PROBE % "int"),
        (*TOP, PROBE % "int"),
        (*TOP, PROBE % "int"),
        (*TOP, PROBE % "date"),
        (*TOP, PROBE % "date"),
        (*TOP, "Scan::Next(Chunk&)"),
        (*TOP, "Scan::Next(Chunk&)"),
        (*TOP, FILTER),
        (*TOP, At("memmove", "/usr/lib/libc.so.6")),
    ],
    "q03": [
        (*TOP, PROBE % "long"),
        (*TOP, PROBE % "long"),
        (*TOP, PROBE % "long"),
        (*TOP, PROBE % "long"),
        (*TOP, "Scan::Next(Chunk&)"),
        (*TOP, "Scan::Next(Chunk&)"),
        (*TOP, "Scan::Next(Chunk&)", "Decompress_int32(Column&)"),
        (*TOP, At(None, address=0x1F300, size_bytes=0x2A0)),
        (*TOP, LONG),
        (*TOP, kernel("entry_SYSCALL_64"), kernel("vfs_read")),
    ],
}


def as_sampled(
    directory: Path, *, slower: str | None = None, by: float = 1.5, filter_name: str = FILTER
) -> Path:
    """Adds CPU samples to a run: one each 2 ms of an operation's CPU time.

    Args:
        directory: A run of `write_run`.
        slower: A stack whose innermost function has this in its name was sampled more often ...
        by: ... so many times.
        filter_name: What the function is called that has no rule.
    """
    made = MadeProfile()
    for event in event_rows():
        _sample(made, event, slower, by, filter_name)
    totals = {"samples": len(made.samples), "lost": 0, "throttled": 0, "cut": 3, "broken": 1}
    zero = dict.fromkeys(totals, 0)
    times = [row["time_ns"] for row in made.samples]
    made.counts = [{"time_ns": min(times) - S} | zero, {"time_ns": max(times) + S} | totals]
    made.threads = [{"time_ns": min(times), "pid": PID, "tid": PID, "name": "engine"}]
    made.facts["notes"] = ["cycles of the hardware: this virtual machine does not hand them on"]
    made.write(directory / "raw")
    facts = json.loads((directory / "run.json").read_text(encoding="utf-8"))
    facts["engine"]["operations"] = RULES
    write_json(directory / "run.json", facts)
    (directory / "SEAL").unlink(missing_ok=True)
    write_seal(directory)
    return directory


def _sample(
    made: MadeProfile, event: dict[str, Any], slower: str | None, by: float, filter_name: str
) -> None:
    stacks = STACKS[event["operation"]]
    begun, ended = event["started_ns"] + MS, event["finished_ns"]
    for number, time_ns in enumerate(range(begun, ended, SAMPLE_NS)):
        stack = stacks[number % len(stacks)]
        stack = tuple(filter_name if frame == FILTER else frame for frame in stack)
        innermost = stack[-1] if isinstance(stack[-1], str) else stack[-1].name or ""
        more = slower is not None and slower in innermost and number % 10 < 10 * (by - 1)
        made.add(time_ns, *stack, count=2 if more else 1, pid=PID, tid=PID)
