"""Writes studies in which resources were scarce: times follow a law that a test gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from assay.analysis.figures.contract import Asked, Figure
from assay.analysis.figures.discovery import make
from assay.model.verdict import CheckResult
from assay.record.writer import write_json
from tests.conftest import write_stream
from tests.records import write_run
from tests.studies import RIGHT, MadeStudy, shortened

FREE = "as it is"


def scarce_study(
    place: Path,
    levels: dict[str, dict[str, Any]],
    times: Callable[[dict[str, Any], int], float],
    rounds: int = 3,
    checks: dict[str, CheckResult] | None = None,
) -> MadeStudy:
    """Runs at each level and round whose operations take so many times as long as usual.

    Args:
        place: Where to.
        levels: By name what of a request is not as usual; a level without any comes first.
        times: By request and round.
        rounds: So many of each.
        checks: By level what a check said of its runs.
    """
    made = MadeStudy(place)
    for number in range(1, rounds + 1):
        for name, asked in {FREE: {}, **levels}.items():
            run = write_run(place / "made")
            facts = json.loads((run / "run.json").read_text("utf-8"))
            facts["request"] |= asked
            facts |= done(asked)
            write_json(run / "run.json", facts)
            grown = times(asked, number)
            shortened(run / "raw" / "events.arrows", grown)
            waited(run / "raw" / "tasks.arrows", grown)
            made.add("levels", {"level": name}, run, number, (checks or {}).get(name, RIGHT))
    return made


def done(asked: dict[str, Any]) -> dict[str, Any]:
    """What the record says of slowing that came to what was asked for."""
    ((resource, factor),) = (asked.get("slow") or {"": 1.0}).items()
    taken_ns = 1_000_000_000
    stopped_ns = round((factor - 1) * taken_ns)
    return (
        {
            "slowing": {f"taken_{resource}_ns": taken_ns, "stopped_ns": stopped_ns, "error": None}
            | {"asked": asked["slow"]}
        }
        if "slow" in asked
        else {}
    )


def waited(tasks: Path, times: float) -> None:
    """Has the engine wait for a CPU for so many times as long."""
    table = pl.read_ipc_stream(tasks)
    grown = (pl.col("run_delay_ns") * times).cast(pl.UInt64).alias("run_delay_ns")
    tasks.unlink()
    write_stream(tasks, table.with_columns(grown).to_dicts())


def serial(cpu: float, disk: float) -> Callable[[dict[str, Any], int], float]:
    """Times of an operation of so much CPU and so much disk, one after the other, with drift."""

    def times(asked: dict[str, Any], number: int) -> float:
        slow = asked.get("slow", {})
        grown = 1 + cpu * (slow.get("cpu", 1.0) - 1) + disk * (slow.get("disk", 1.0) - 1)
        # What drifts between rounds is no effect, and a hundredth of noise is no doubt.
        noise = 0.01 * ((7 * number + 13 * len(str(asked))) % 5 - 2) / 2
        return grown * (1 + 0.1 * number) * (1 + noise)

    return times


def slowed(*factors: float, names: tuple[str, ...] = ("cpu", "disk")) -> dict[str, dict[str, Any]]:
    """Levels of `--slow`."""
    return {
        f"{name} slowed {factor:g} x": {"slow": {name: factor}}
        for name in names
        for factor in factors
    }


def figure_of(made: MadeStudy, **options: Any) -> Figure:
    """The figure that tells elasticities."""
    return make(Asked("elasticity", "elasticity", "What bounds it", tuple(made.studied), options))
