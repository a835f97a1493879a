"""`assay ceiling`: measures the maximum speed of this host's disk, memory and cores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from assay.model.errors import UsageError, suggestion
from assay.model.units import bytes_text, parse_bytes, parse_duration_s, seconds_text
from assay.record.outside import refuse_inside_record
from assay.record.places import runs_dir
from assay.report.build import build
from assay.running.host.places import instances_dir
from assay.study.ceiling.measuring import measure_ceiling
from assay.study.ceiling.trials import (
    FILE_BYTES_MIN,
    PARTS,
    TIME_S_MAX,
    TIME_S_MIN,
    CeilingRequest,
    quick_defaults,
)
from assay.verbs.shared.watching import Logged

if TYPE_CHECKING:
    from assay.report.documents.ceiling import CeilingDocument
    from assay.running.telling import Teller


def ceiling(
    *,
    quick: bool = False,
    directory: Path | str | None = None,
    size: str | None = None,
    time: str | None = None,
    rounds: int | None = None,
    only: str | None = None,
    seed: int = 1,
    runs: Path | str | None = None,
    teller: Teller | None = None,
) -> CeilingDocument:
    """Measures the maximum speed of this host's disk (by request size), memory and cores.

    Args:
        quick: Try fewer sizes and queue depths, for a shorter time: about half a minute.
        directory: Directory on the disk to measure; None means the directory of the engines' data.
        size: Size of the file that is read, such as `4GB`; None means 4 GB, or 1 GB with `quick`.
        time: Duration of each trial, such as `250ms`; None means 250 ms, or 100 ms with `quick`.
        rounds: Number of repetitions of each trial; None means 5, or 3 with `quick`.
        only: Resources to measure, out of `disk,memory,core`; None means all.
        seed: Seed of the order of trials and of the positions that are read.
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.
        teller: Receives the progress.

    Returns:
        The document that `assay ceiling --json` prints.

    Raises:
        UsageError: If an option has no meaning. In this case nothing was measured.
        RunFailedError: If the measurement ended early. The partial record is kept.
    """
    place = _directory(directory)
    asked: dict[str, Any] = {
        "size_bytes": None if size is None else _size_bytes(size),
        "time_s": None if time is None else _time_s(time),
        "parts": None if only is None else _parts(only),
        "rounds": rounds,
        "seed": seed,
    }
    given = {name: value for name, value in asked.items() if value is not None}
    defaults = quick_defaults() if quick else {}
    request = CeilingRequest(place, **{**defaults, **given, "quick": quick})
    progress = teller or Logged()
    record = measure_ceiling(request, runs_dir(runs), progress)
    progress.phase("checks and report")
    return cast("CeilingDocument", build(record))


def _directory(asked: Path | str | None) -> Path:
    """Return the requested directory, or that of the engines' data."""
    if asked is not None:
        refuse_inside_record(Path(asked), "--dir")
        return Path(asked)
    place = instances_dir()
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{error}: name another directory with --dir.") from error
    return place


def _size_bytes(text: str) -> int:
    try:
        size = parse_bytes(text)
    except ValueError as error:
        raise UsageError(f"--size: {error}; write it as 4GB or 512MB") from error
    if size < FILE_BYTES_MIN:
        least = bytes_text(FILE_BYTES_MIN)
        raise UsageError(
            f"--size: the trials with the largest reads need a file of {least} or more"
        )
    return size


def _time_s(text: str) -> float:
    try:
        time_s = parse_duration_s(text)
    except ValueError as error:
        raise UsageError(f"--time: {error}; write it as 250ms or 1s") from error
    if not TIME_S_MIN <= time_s <= TIME_S_MAX:
        ends = f"{seconds_text(TIME_S_MIN)} to {seconds_text(TIME_S_MAX)}"
        raise UsageError(f"--time {text}: the time of a trial must be {ends}")
    return time_s


def _parts(text: str) -> tuple[str, ...]:
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if part not in PARTS:
            raise UsageError(f"--only: there is no part {part!r}; {suggestion(part, list(PARTS))}")
    return tuple(part for part in PARTS if part in parts)
