"""`assay run`: obtain, start, generate, load, warm up, measure, check, explain, report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.options import AsJson, RunsDir, exit_code
from assay.cli.output import complain, console, say_json
from assay.model.errors import AssayError, RunFailedError, UsageError
from assay.model.units import parse_duration_s

if TYPE_CHECKING:
    from pathlib import Path

    from assay.cli.progress import Progress
    from assay.study.request import RunRequest

EXAMPLES = """
\b
Examples:
  assay run tpch                               DuckDB, SF 1, half a minute
  assay run tpch --scale 0.1 --min-time 5s     a quick look
  assay run tpch --set threads=1 --set memory_limit=1GB
  assay run tpch --parameters drawn --seed 7   other parameters
  assay run tpch --engine null                 what the laboratory itself costs

\b
Exit codes:
  0  done            2  failed or stopped, partial record kept
  1  wrong usage     3  invalid: wrong answers or failed operations
"""


def run(
    workload: Annotated[str, typer.Argument(help="Name of a workload: see `assay workloads`.")],
    *,
    engine: Annotated[str, typer.Option(help="Name of an engine: see `assay engines`.")] = "duckdb",
    scale: Annotated[
        float | None, typer.Option(help="Scale of the data [default: the workload's].")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="A setting of the engine; can be repeated.", metavar="NAME=VALUE"
        ),
    ] = None,
    min_time: Annotated[
        str, typer.Option(help="Passes are repeated until this much time was measured.")
    ] = "20s",
    parameters: Annotated[
        str, typer.Option(help="'default' (the validation's) or 'drawn' from --seed.")
    ] = "default",
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.", min=0)] = 1,
    timeout: Annotated[
        str, typer.Option(help="An operation that takes longer is cancelled and failed; 0s: none.")
    ] = "0s",
    probe_interval: Annotated[
        str, typer.Option(help="Time between two samples of a probe.")
    ] = "100ms",
    runs: RunsDir = None,
    all_operations: Annotated[
        bool, typer.Option("--all", help="Show all operations, not only the longest.")
    ] = False,
    strict: Annotated[bool, typer.Option(help="An 'unknown' verdict also ends with 3.")] = False,
    as_json: AsJson = False,
) -> None:
    """Runs a workload on an engine, checks and explains it, and writes a report."""
    from assay.cli.progress import Progress
    from assay.study.places import runs_dir
    from assay.study.request import PARAMETERS, RunRequest, parse_settings
    from assay.workloads.discovery import find_workload

    request = RunRequest(
        workload=workload,
        engine=engine,
        scale=find_workload(workload).facts.scale_default if scale is None else _scale(scale),
        settings=parse_settings(settings or []),
        parameters=_one_of("--parameters", parameters, PARAMETERS),
        seed=seed,
        min_time_s=_duration("--min-time", min_time),
        operation_deadline_s=_duration("--timeout", timeout),
        probe_interval_s=_interval(probe_interval),
    )
    from assay.report.terminal import render

    shown = console()
    document = _executed(request, runs_dir(runs), Progress(shown), as_json=as_json)
    render(document, all_operations=all_operations, console=shown)
    if as_json:
        say_json(document)
    code = exit_code(document["verdict"], strict=strict)
    if code:
        complain(f"the run is {document['verdict']}")
        raise typer.Exit(code)


run.__doc__ = f"{run.__doc__}\n{EXAMPLES}"


def _executed(
    request: RunRequest, runs: Path, progress: Progress, *, as_json: bool
) -> dict[str, Any]:
    """Carries the run out and returns its document; a run that ended early is told and left."""
    from assay.report.build import build
    from assay.study.execute import execute

    try:
        directory = execute(request, runs, progress)
        progress.phase("checks and report")
        return build(directory)
    except (AssayError, KeyboardInterrupt) as error:
        progress.close()
        if progress.partial is None:
            raise
        stopped = isinstance(error, KeyboardInterrupt)
        complain("stopped by Ctrl-C" if stopped else str(error))
        complain(f"what was measured until then is kept: assay show {progress.partial}")
        if as_json:
            say_json(build(progress.partial))
        code = error.exit_code if isinstance(error, AssayError) else RunFailedError.exit_code
        raise typer.Exit(code) from error
    finally:
        progress.close()


def _scale(scale: float) -> float:
    if not 0 < scale < float("inf"):
        raise UsageError(f"--scale {scale:g}: a scale is a number above 0, such as 0.1 or 1")
    return scale


def _duration(option: str, text: str) -> float:
    try:
        return parse_duration_s(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}; write it like 30s, 1.5m or 200ms") from error


def _interval(text: str) -> float:
    interval_s = _duration("--probe-interval", text)
    if not 0.001 <= interval_s <= 60:  # noqa: PLR2004 - a range of sense, told in the message
        raise UsageError(f"--probe-interval {text}: between 1ms and 60s")
    return interval_s


def _one_of(option: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise UsageError(f"{option} {value}: one of {', '.join(known)}")
    return value
