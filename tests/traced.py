"""A run of `tests.records` whose reads were traced: a third each sequential, near and random."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assay.record.seal import write_seal
from assay.record.writer import write_json
from tests.conftest import write_stream
from tests.records import MS, PID, event_rows

PAGE = 8192
SECTOR = 512
# Of each execution: one that goes on, one 64 KiB ahead, one far away, and the first.
PAGES = (1000, 1001, 1010, 90_000)
READS = len(PAGES)


def as_traced(directory: Path, error: str | None = None) -> Path:
    """Adds requests to a run that was written, or why they could not be traced."""
    rows: list[dict[str, Any]] = [
        {
            "time_ns": event["started_ns"] + (number + 1) * MS,
            "device": "vda",
            "sector": page * PAGE // SECTOR,
            "bytes": PAGE,
            "rwbs": "RA" if number else "R",
            "pid": PID,
            "tid": PID,
        }
        for event in event_rows()
        for number, page in enumerate(PAGES)
    ]
    probe = {"cost": "a row a request", "stream": "probe-requests", "error": error}
    if error is None:
        write_stream(directory / "raw" / "requests.arrows", rows)
        write_stream(
            directory / "raw" / "probe-requests.arrows",
            [
                {"time_ns": row["time_ns"], "probe": "requests", "cpu_ns": place}
                for place, row in enumerate(rows)
            ],
        )
    facts = json.loads((directory / "run.json").read_text(encoding="utf-8"))
    missing = ["7 requests came faster than they were taken and are missing"]
    facts["probes"]["requests"] = probe | {
        "samples": len(rows),
        "cpu_ns": 1,
        "longest_ns": 1,
        "interval_s": 1.0,
        "notes": missing if error is None else [],
    }
    write_json(directory / "run.json", facts)
    (directory / "SEAL").unlink(missing_ok=True)
    write_seal(directory)
    return directory
