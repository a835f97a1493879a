"""Writes the streams of a profile made by hand: stacks are lists of functions, outermost first."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

FREQUENCY_HZ = 500
PID = 100
MODULE = "/opt/engine/lib/libengine.so"
KERNEL = "[kernel]"
WORD = pa.dictionary(pa.uint16(), pa.string())
U32, U64, TIME = pa.uint32(), pa.uint64(), pa.int64()
COLUMNS: dict[str, dict[str, pa.DataType]] = {
    "samples": {"time_ns": TIME, "pid": U32, "tid": U32, "cpu": U32, "stack": U32},
    "stacks": {"stack": U32, "parent": U32, "frame": U32},
    "frames": {"frame": U32, "module": U32, "address": U64},
    "modules": {"module": U32, "path": pa.string(), "build_id": pa.string()},
    "symbols": {"frame": U32, "name": pa.string(), "kind": WORD, "start": U64, "size_bytes": U64},
    "threads": {"time_ns": TIME, "pid": U32, "tid": U32, "name": pa.string()},
    "profile": {
        "time_ns": TIME,
        "samples": U64,
        "lost": U64,
        "throttled": U64,
        "cut": U64,
        "broken": U64,
        "elsewhere": U64,
    },
}
FACTS = {
    "event": "cpu-clock",
    "frequency_hz": FREQUENCY_HZ,
    "kernel": True,
    "stacks": "copies",
    "copied_bytes": 8192,
    "whole_machine": False,
    "notes": [],
}


@dataclass(frozen=True)
class At:
    """A place in the code. `name` None: not named; with a `size_bytes` its bounds are known."""

    name: str | None
    path: str = MODULE
    kind: str | None = None
    address: int = 0x1000
    size_bytes: int | None = None

    def symbol(self) -> dict[str, Any]:
        named = "kernel" if self.path == KERNEL else "symbol"
        unnamed = "none" if self.size_bytes is None else "bounds"
        kind = self.kind or (unnamed if self.name is None else named)
        begin = None if self.size_bytes is None else self.address
        return {"name": self.name, "kind": kind, "start": begin, "size_bytes": self.size_bytes}


def kernel(name: str) -> At:
    """A function of the kernel."""
    return At(name, KERNEL)


@dataclass
class MadeProfile:
    """What `write` puts beside the other streams of a run. Names stand for places in `MODULE`."""

    facts: dict[str, Any] = field(default_factory=lambda: dict(FACTS))
    samples: list[dict[str, Any]] = field(default_factory=list)
    stacks: dict[tuple[At, ...], int] = field(default_factory=dict)
    frames: dict[At, int] = field(default_factory=dict)
    modules: dict[str, int] = field(default_factory=dict)
    threads: list[dict[str, Any]] = field(default_factory=list)
    counts: list[dict[str, Any]] = field(default_factory=list)
    symbols: bool = True

    def add(self, time_ns: int, *stack: At | str, count: int = 1, **about: Any) -> None:
        """So many samples of a stack, outermost first, a nanosecond apart."""
        path = tuple(frame if isinstance(frame, At) else At(frame) for frame in stack)
        node = self._node(path)
        for number in range(count):
            row = {"time_ns": time_ns + number, "pid": PID, "tid": PID, "cpu": 0, "stack": node}
            self.samples.append(row | about)

    def _node(self, path: tuple[At, ...]) -> int:
        if path not in self.stacks:
            if len(path) > 1:
                self._node(path[:-1])
            self.frames.setdefault(path[-1], len(self.frames))
            self.modules.setdefault(path[-1].path, len(self.modules))
            self.stacks[path] = len(self.stacks)
        return self.stacks[path]

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """The rows of every stream."""
        streams = {
            "samples": self.samples,
            "stacks": [
                {
                    "stack": node,
                    "parent": self.stacks.get(path[:-1]),
                    "frame": self.frames[path[-1]],
                }
                for path, node in self.stacks.items()
            ],
            "frames": [
                {"frame": number, "module": self.modules[at.path], "address": at.address}
                for at, number in self.frames.items()
            ],
            "modules": [{"module": at, "path": path} for path, at in self.modules.items()],
            "symbols": [{"frame": number} | at.symbol() for at, number in self.frames.items()],
            "threads": self.threads,
            "profile": self.counts,
        }
        return streams if self.symbols else {k: v for k, v in streams.items() if k != "symbols"}

    def write(self, raw: Path) -> None:
        """Writes all streams, and how they were taken."""
        for stream, rows in self.rows().items():
            write_rows(raw / f"{stream}.arrows", rows)
        (raw / "profile.json").write_text(json.dumps(self.facts), encoding="utf-8")


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    """Writes a stream of a profile; what a row does not name is null."""
    columns = COLUMNS[path.stem]
    table = pa.table(
        {name: pa.array([row.get(name) for row in rows], kind) for name, kind in columns.items()}
    )
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
