"""Runs `assay run` on one arm of a cell, as a person would, while others do what the arm says."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from threading import Timer
from typing import Any

import polars as pl

from assay.record.reader import Run
from tests.e2e.conftest import Lab
from tests.planted.cells import Arm, Cell
from tests.planted.outside import planted_outside
from tests.planted.reached import OUTSIDER_PASSWORD, reached

PATIENCE_S = 300.0
# Phases of a run, each told by a line when it is over: others act from the warm-up on, until the
# plans are known. A server is started for what prepares its data, and once more for the load.
PREPARED, STARTED, AFTER_LOAD = "prepare", "start", ("plans", "stop", "stopping", "seal")
# 3: the verdict may be invalid, where the plant itself is what a check warns of.
ENDED = (0, 3)
MYSQL_FAMILY = ("mariadb", "mysql")
ACCOUNT = """create user '{name}'@'%' identified by '{password}';
grant all on *.* to '{name}'@'%';
"""


class RunEndedError(Exception):
    """A run that has no document; the text is what it said."""


def explained(lab: Lab, cell: Cell, arm: Arm) -> dict[str, Any]:
    """The document of a run of one arm.

    Raises:
        UnplantableError: Where this host does not let the cause be planted.
        RunEndedError: Where there is no document.
    """
    given = arguments(cell, arm, lab.root)
    started = lab.begin("run", *given, "--json")
    phases = [PREPARED, STARTED] if "--prepare" in given else [STARTED]
    patience = Timer(PATIENCE_S, started.kill)
    patience.start()
    try:
        text, lines = _outputs(started, phases, lambda: _acting(lab, arm))
    finally:
        patience.cancel()
    if started.returncode not in ENDED or not text:
        raise RunEndedError(f"{cell.name}: ended with {started.returncode}: {''.join(lines[-12:])}")
    document: dict[str, Any] = json.loads(text)
    return document


def _acting(lab: Lab, arm: Arm) -> AbstractContextManager[None]:
    return planted_outside(arm.outside, reached(lab.instances) if arm.outside else None)


def _outputs(
    started: subprocess.Popen[str],
    phases: list[str],
    acting: Callable[[], AbstractContextManager[None]],
) -> tuple[str, list[str]]:
    """What a run writes to its end, and the lines of its errors.

    Args:
        started: The run.
        phases: Which have to be over, one after the other, before others act.
        acting: What they do, until the plans are known.
    """
    assert started.stdout is not None
    assert started.stderr is not None
    lines: list[str] = []
    with started.stdout, started.stderr, ThreadPoolExecutor(1) as pool, ExitStack() as stack:
        text = pool.submit(started.stdout.read)
        for line in started.stderr:
            lines.append(line)
            phase = next(iter(line.split()), "")
            if phases and phase == phases[0]:
                phases = phases[1:]
                if not phases:
                    stack.enter_context(acting())
            elif phase in AFTER_LOAD and not phases:
                stack.close()
        started.wait()
        return text.result(), lines


def arguments(cell: Cell, arm: Arm, place: Path) -> list[str]:
    """The arguments of `assay run`."""
    given = [str(_folder(cell, arm, place)), "--engine", cell.engine, *arm.options]
    for name, setting in arm.settings.items():
        given += ["--set", f"{name}={setting}"]
    for file in (*_accounts(cell, place), *arm.prepare):
        given += ["--prepare", str(file)]
    return given


def _folder(cell: Cell, arm: Arm, place: Path) -> Path:
    """The workload; with other statements it is a copy."""
    if arm.operations is None:
        return cell.folder
    copied = place / cell.name
    shutil.copytree(cell.folder, copied, dirs_exist_ok=True)
    shutil.copytree(arm.operations, copied / "operations", dirs_exist_ok=True)
    return copied


def _accounts(cell: Cell, place: Path) -> Iterator[Path]:
    """SQL that makes accounts for the sessions of others, in both arms, where a server wants it."""
    both = (*cell.planted.outside, *cell.free.outside)
    names = {outsider.arguments["name"] for outsider in both if outsider.does == "session"}
    if names and cell.product in MYSQL_FAMILY:
        file = place / "accounts.sql"
        texts = [ACCOUNT.format(name=name, password=OUTSIDER_PASSWORD) for name in sorted(names)]
        file.write_text("".join(texts), encoding="utf-8")
        yield file


def service_s(document: dict[str, Any]) -> float:
    """Seconds of an operation on average; of an order, of a pass over all of it.

    Arms draw the same operations equally often, so that this mean compares them.
    """
    events = Run(Path(document["path"])).table("events")
    done = events.filter((pl.col("phase") == "measured") & (pl.col("outcome") == "ok"))
    seconds = (pl.col("finished_ns") - pl.col("started_ns")).mean() / 1e9
    means = done.group_by("operation").agg(seconds.alias("seconds"), pl.len().alias("count"))
    if means.is_empty():
        raise RunEndedError("no operation was completed in the measured part")
    if document["conditions"]["arrival"] == "power":
        return float(means["seconds"].sum())
    return float((means["seconds"] * means["count"]).sum() / means["count"].sum())
