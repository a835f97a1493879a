"""What is true of the mixtures: the server itself says how long each part of an operation took."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import median

import polars as pl

from assay.record.reader import Run

HERE = Path(__file__).parent
ENGINES, WORKLOAD = HERE / "engines", HERE / "workload"
PARTS = ("cpu", "disk", "sleep")


def true_shares(runs: Iterable[Run], operation: str) -> dict[str, float]:
    """By part its share of an operation's time, the median of all executions that were kept."""
    rows = [
        pl.read_ipc(path).row(0, named=True) for run in runs for _, path in run.results(operation)
    ]
    seconds = {part: median(row[f"{part}_s"] for row in rows) for part in PARTS}
    return {part: seconds[part] / sum(seconds.values()) for part in PARTS}
