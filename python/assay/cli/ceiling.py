"""`assay ceiling`: what this host's disk, memory and cores can do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from assay.cli.executing import executed
from assay.cli.options import AsJson, RunsDir, exit_code
from assay.cli.output import complain, console, say, say_json
from assay.model.errors import UsageError, suggestion

if TYPE_CHECKING:
    from assay.report.documents.ceiling import CeilingDocument
    from assay.study.ceiling.trials import CeilingRequest


def ceiling(
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer sizes and depths, shorter: half a minute.")
    ] = False,
    directory: Annotated[
        Path | None,
        typer.Option(
            "--dir",
            help="Measure the disk of this directory [default: where engines keep their data].",
            metavar="DIR",
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(help="Size of the file that is read [default: 4GB; --quick: 1GB]."),
    ] = None,
    time: Annotated[
        str | None, typer.Option(help="How long each trial lasts [default: 250ms; --quick: 100ms].")
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(help="How often each trial is made [default: 5; --quick: 3].", min=1),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(help="What is tried [default: all].", metavar="disk,memory,core"),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Seed of the order of trials and of places.", min=0)
    ] = 1,
    runs: RunsDir = None,
    strict: Annotated[bool, typer.Option(help="An 'unknown' verdict also ends with 3.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measures what this host can do: requests a second of its disk by size, memory, cores.

    Only a file of its own is read and written; it has no name, and goes with the command however
    that ends. The record is one like any other: `assay show`, `report` and `export` know it.

    \b
    Examples:
      assay ceiling                           four minutes
      assay ceiling --quick                   half a minute
      assay ceiling --dir /data --size 16GB   the disk of another directory
      assay ceiling --only disk               no memory, no cores
      assay ceiling --json > ceiling.json
    """
    from assay.cli.progress import Progress
    from assay.record.places import runs_dir
    from assay.report.ceiling.terminal import ceiling_lines
    from assay.study.ceiling.measuring import measure_ceiling

    options = {"size": size, "time": time, "only": only, "rounds": rounds, "seed": seed}
    request = _request(_directory(directory), options, quick=quick)
    shown = console()
    document = executed(
        lambda progress: measure_ceiling(request, runs_dir(runs), progress),
        Progress(shown),
        as_json=as_json,
    )
    if as_json:
        say_json(document)
    else:
        for line in ceiling_lines(cast("CeilingDocument", document)):
            say(line)
    code = exit_code(document["verdict"], strict=strict)
    if code:
        complain(f"the ceiling is {document['verdict']}")
        raise typer.Exit(code)


def _request(directory: Path, options: dict[str, Any], *, quick: bool) -> CeilingRequest:
    """Return the request of these options, by their names; None is the default."""
    from assay.study.ceiling.trials import CeilingRequest, quick_defaults

    asked: dict[str, Any] = {
        "size_bytes": None if options["size"] is None else _size_bytes(options["size"]),
        "time_s": None if options["time"] is None else _time_s(options["time"]),
        "parts": None if options["only"] is None else _parts(options["only"]),
        "rounds": options["rounds"],
        "seed": options["seed"],
    }
    given = {name: value for name, value in asked.items() if value is not None}
    defaults = quick_defaults() if quick else {}
    return CeilingRequest(directory, **{**defaults, **given, "quick": quick})


def _parts(text: str) -> tuple[str, ...]:
    from assay.study.ceiling.trials import PARTS

    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if part not in PARTS:
            raise UsageError(f"--only: no part {part!r}; {suggestion(part, list(PARTS))}")
    return tuple(part for part in PARTS if part in parts)


def _directory(asked: Path | None) -> Path:
    """The directory asked for; else the one of engines' data, which is made if it is not there."""
    from assay.running.host.places import instances_dir

    if asked is not None:
        return asked
    place = instances_dir()
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{error}: name another directory with --dir.") from error
    return place


def _size_bytes(text: str) -> int:
    from assay.model.units import bytes_text, parse_bytes
    from assay.study.ceiling.trials import FILE_BYTES_MIN

    try:
        size = parse_bytes(text)
    except ValueError as error:
        raise UsageError(f"--size: {error}; write it as 4GB or 512MB") from error
    if size < FILE_BYTES_MIN:
        least = bytes_text(FILE_BYTES_MIN)
        raise UsageError(f"--size: the deepest queue of the largest reads needs {least} or more")
    return size


def _time_s(text: str) -> float:
    from assay.model.units import parse_duration_s, seconds_text
    from assay.study.ceiling.trials import TIME_S_MAX, TIME_S_MIN

    try:
        time_s = parse_duration_s(text)
    except ValueError as error:
        raise UsageError(f"--time: {error}; write it as 250ms or 1s") from error
    if not TIME_S_MIN <= time_s <= TIME_S_MAX:
        ends = f"{seconds_text(TIME_S_MIN)} to {seconds_text(TIME_S_MAX)}"
        raise UsageError(f"--time: a trial lasts {ends}, not {text}")
    return time_s
