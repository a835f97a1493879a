"""Phrases on a diagnosis, for terminal and page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.model.units import bytes_text, percent_text, seconds_text
from assay.report.words.run import workload_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.analysis.diagnose.way import Shortage
    from assay.report.documents.diagnose import (
        DiagnoseDocument,
        DiagnosisStep,
        TriedCause,
    )
    from assay.report.documents.try_ import TimeGain

# Memory use is reported if every run with the change needs this factor more than any without.
MEMORY_MIN = 1.05
# Disk use is reported if data files grow by this factor. Smaller growth also comes from free space
# in files.
DISK_MIN = 1.02
# Spare part of a suggested budget, because runs vary, and the longest one that is given in seconds.
SPARE, IN_SECONDS_MAX = 0.05, 300.0


def title(document: DiagnoseDocument) -> str:
    """Return the title of a diagnosis: workload, engine and scale in one line."""
    engine = f"{document['engine_title']} {document['engine_version'] or ''}".rstrip()
    names = f", {', '.join(document['operations'])}" if document["operations"] else ""
    return f"{workload_words(document)} on {engine}{names}"


def way_words(document: DiagnoseDocument) -> str | None:
    """Return text on the time after each change: `412 ms -> 198 ms (work_mem=64MB)`."""
    points = document["way"]
    if not points:
        return None
    parts = [f"{document['of']} {seconds_text(points[0]['seconds'])}"]
    parts += [f"{seconds_text(point['seconds'])} ({point['change']})" for point in points[1:]]
    return " -> ".join(parts)


def gain_text(gain: TimeGain | None) -> str:
    """Return a saved share of time with its interval as text, such as `52 %, 48 % to 55 %`."""
    if gain is None:
        return "not compared"
    share = signed(gain["share"])
    if gain["interval"] is None:
        return f"{share}, no interval yet"
    low, high = gain["interval"]
    return f"{share}, {signed(low)} to {signed(high)}"


def times_words(tried: TriedCause) -> str:
    """Return text on the times behind a verdict; empty if the verdict is based on plans."""
    gain = tried["gain"]
    if gain is None or tried["by_plan"]:
        return ""
    rounds = tried["rounds"]
    slowed = "slowed " if tried["dependence"] is not None else ""
    open_ = tried["verdict"] == "undecided" and not slowed and gain["interval"] is not None
    so_far = f", so far {gain_text(gain)} saved" if open_ else ""
    return (
        f": {seconds_text(gain['before_s'])} -> {slowed}{seconds_text(gain['after_s'])} over "
        f"{rounds} round{'s' if rounds != 1 else ''}{so_far}"
    )


def dependent_share(share: float) -> str:
    """Return the share of the time that depends on a resource as text, within 0 % to 100 %.

    Noise can move the measured share, or an end of its interval, beyond these limits.
    """
    return percent_text(min(1.0, max(0.0, share)))


def signed(share: float) -> str:
    """Return a saved share of time as text, with a minus sign if the time grew."""
    return percent_text(share) if share >= 0 else f"\u2212{percent_text(-share)}"


def shortage_words(shortage: Shortage) -> str:
    """Return a clause on a time limit that is too short for most verdicts."""
    seconds = shortage.enough_s * (1 + SPARE)
    if seconds <= IN_SECONDS_MAX:
        enough = f"{math.ceil(seconds / 10) * 10}s"
    else:
        enough = f"{math.ceil(seconds / 60)}m"
    return (
        f"the budget is too short for {shortage.rounds} rounds, and fewer decide only on a change "
        "that saves most of the time; "
        f"the same command with --budget {enough} goes on"
    )


def step_words(step: DiagnosisStep) -> str:
    """Return text on the earlier changes that a step of the diagnosis includes."""
    if not step["on_top_of"]:
        return "As it is"
    return f"With {', '.join(step['on_top_of'])}"


def _of_data(tried: TriedCause) -> Iterator[str]:
    """Yield text on the cost of a change of the data: disk space, and time to make it."""
    before, after = tried["disk"]
    if before and after and after > DISK_MIN * before:
        share = percent_text(after / before - 1)
        yield f"data of {bytes_text(after)} on disk, {share} more than without it"
    if tried["set_up_s"] is not None:
        yield f"made in {seconds_text(tried['set_up_s'])} on the loaded data"


def beside(tried: TriedCause) -> Iterator[str]:
    """Yield a sentence on each side effect of a change."""
    # The verdict on a change that is left out again names these operations.
    slower = tried["slower"] if tried.get("takes_back") is None else []
    for operation in slower:
        least = percent_text(operation["share"])
        yield f"{operation['operation']} takes longer with it, by {least} at least"
    before, after = tried["memory"]
    if before and after and after > MEMORY_MIN * before:
        yield f"memory of {bytes_text(after)} at least, {bytes_text(before)} at most without it"
    yield from _of_data(tried)
    change = tried["cause"]["change"]
    if change is not None and change["costs"]:
        yield f"on the server {change['costs']}"
