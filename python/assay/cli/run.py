"""`assay run`: obtain, start, generate, load, warm up, measure, check, explain, report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.conditions import beginning, is_given, resolved_pin, state_default, with_buffer
from assay.cli.options import AsJson, RunsDir, exit_code
from assay.cli.output import complain, console, folded, say_json
from assay.model.errors import AssayError, RunFailedError, UsageError, stopped_by
from assay.model.secrets import without_secrets
from assay.model.units import parse_duration_s

if TYPE_CHECKING:
    from assay.cli.progress import Progress
    from assay.study.request import RunRequest

EXAMPLES = """
\b
Examples:
  assay run tpch                               DuckDB, SF 1, half a minute
  assay run tpch --scale 0.1 --min-time 5s     a quick look
  assay run tpch --set threads=1 --set memory_limit=1GB
  assay run tpch --engine postgresql@18 --set work_mem=64MB
  assay run tpch --engine postgresql --prepare indexes.sql     with SQL on the loaded data
  assay run tpch --dsn postgresql://user@localhost/db    a server that runs already
  assay run ./my-queries --dsn ...             a folder of .sql files is a workload
  assay run ./my-queries --dsn jdbc:... --driver x.jar   any database with a JDBC driver
  assay run tpch --engine postgresql --test full         power and throughput test, twice
  assay run tpch --test throughput --streams 3 --no-refresh
  assay run point-select --engine postgresql --clients 8 --time 30s
  assay run point-select --engine postgresql --clients 8 --rate 5000 --pin engine=0,client=1
  assay run tpch --engine postgresql --profile           with CPU samples
  assay run tpch --engine postgresql --state cold --buffer 256MB
  assay run tpch --engine null                 what the laboratory itself costs

\b
Exit codes:
  0  done            2  failed or stopped, partial record kept
  1  wrong usage     3  invalid: wrong answers or failed operations
"""
ENGINE_DEFAULT = "duckdb"


# Options that only one of the two kinds of load has a meaning for.
OF_A_MIX = ("time", "warmup", "retries")
OF_A_TEST = ("streams", "refresh", "refresh_batches")


def run(
    context: typer.Context,
    workload: Annotated[
        str, typer.Argument(help="A workload (see `assay workloads`), or a folder of .sql files.")
    ],
    *,
    engine: Annotated[
        str | None,
        typer.Option(
            help="An engine (see `assay engines`) [default: duckdb, or what --dsn names].",
            metavar="NAME[@VERSION]",
        ),
    ] = None,
    dsn: Annotated[
        str | None,
        typer.Option(help="A server that runs already, as its own clients write it."),
    ] = None,
    driver: Annotated[
        list[str] | None,
        typer.Option(
            help="With --dsn jdbc:...: the JDBC driver's jar, or what Maven calls it; can be"
            " repeated.",
            metavar="FILE.jar|GROUP:ARTEFACT:VERSION",
        ),
    ] = None,
    keep_data: Annotated[
        bool, typer.Option("--keep-data", help="With --dsn: leave the tables for the next run.")
    ] = False,
    bin_dir: Annotated[
        Path | None, typer.Option(help="Take the server's programs from here.", metavar="DIR")
    ] = None,
    scale: Annotated[
        float | None, typer.Option(help="Scale of the data [default: the workload's].")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="A setting of the engine; can be repeated.", metavar="NAME=VALUE"
        ),
    ] = None,
    prepare: Annotated[
        list[Path] | None,
        typer.Option(
            help="SQL that changes the loaded data before anything is timed; can be repeated.",
            metavar="FILE.sql",
        ),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            help="A test as the specification has it: power, throughput, both twice (full), or"
            " power until passes are alike (steady).",
            metavar="power|throughput|full|steady",
        ),
    ] = None,
    streams: Annotated[
        int | None,
        typer.Option(
            help="Query streams of the throughput test [default: the specification's minimum].",
            min=1,
        ),
    ] = None,
    refresh: Annotated[
        bool, typer.Option("--refresh/--no-refresh", help="Play the refresh functions of a test.")
    ] = True,
    refresh_batches: Annotated[
        int,
        typer.Option(help="Transactions of each refresh function; 0: one an order.", min=0),
    ] = 1,
    clients: Annotated[
        int | None,
        typer.Option(help="Sessions that draw from the mix [default: 1 for a mix].", min=1),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(help="Operations a second that become due, whether or not one is free."),
    ] = None,
    time: Annotated[str, typer.Option(help="How long a mix is measured.")] = "30s",
    warmup: Annotated[str, typer.Option(help="How long it is played before that.")] = "5s",
    retries: Annotated[
        int, typer.Option(help="Attempts beyond the first after a temporary error.", min=0)
    ] = 0,
    min_time: Annotated[
        str, typer.Option(help="Passes over an order are repeated for at least this long.")
    ] = "20s",
    parameters: Annotated[
        str | None,
        typer.Option(
            help="'default' (the validation's) or 'drawn' from --seed [default: drawn in a test].",
            metavar="default|drawn",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.", min=0)] = 1,
    timeout: Annotated[
        str, typer.Option(help="An operation that takes longer is cancelled and failed; 0s: none.")
    ] = "0s",
    state: Annotated[
        str | None,
        typer.Option(
            help="What is in memory at the start: nothing, the files, or all after N untimed passes"
            " [default: hot; the files for a test].",
            metavar="cold|os-warm|hot[:N]",
        ),
    ] = None,
    allow_host_changes: Annotated[
        bool,
        typer.Option(
            "--allow-host-changes",
            help="With --state cold: drop the caches of the whole host, too (needs root).",
        ),
    ] = False,
    buffer: Annotated[
        str | None,
        typer.Option(help="Size of the engine's own cache of data.", metavar="SIZE"),
    ] = None,
    pin: Annotated[
        str | None,
        typer.Option(
            help="CPUs of engine and client: numbers, a NUMA node (node0), or the rest.",
            metavar="engine=0,client=rest",
        ),
    ] = None,
    probes: Annotated[
        str, typer.Option(help="Which probes observe the run.", metavar="all|none|NAME,NAME")
    ] = "all",
    probe_interval: Annotated[
        str, typer.Option(help="Time between two samples of a probe.")
    ] = "100ms",
    profile: Annotated[
        bool,
        typer.Option(
            "--profile", help="Take CPU samples of the engine: `assay explain` reads them."
        ),
    ] = False,
    profile_hz: Annotated[
        int, typer.Option(help="Samples a second of CPU time.", min=1, max=10_000)
    ] = 499,
    plans: Annotated[
        bool,
        typer.Option(
            "--plans/--no-plans",
            help="Ask each operation once more for its plan, after the measured part: about one"
            " pass longer.",
        ),
    ] = True,
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
    from assay.study.request import (
        PARAMETERS,
        RunRequest,
        parse_probes,
        parse_settings,
        read_prepare,
    )
    from assay.study.specified import TESTS
    from assay.workloads.discovery import find_workload

    facts = find_workload(workload).facts
    name, version = _engine(engine, dsn)
    mixed = facts.arrival == "closed" or clients is not None
    _check_load(context, facts.name, mixed=mixed)
    begun = beginning(
        context, state or state_default(name, test=test is not None, dsn=dsn), mixed=mixed
    )
    request = RunRequest(
        workload=workload,
        engine=name,
        engine_version=version,
        bin_dir=None if bin_dir is None else str(bin_dir.absolute()),
        dsn=dsn,
        drivers=driver or [],
        keep_data=keep_data,
        scale=facts.scale_default if scale is None else _above_zero("--scale", scale),
        settings=with_buffer(name, parse_settings(settings or []), buffer, dsn),
        prepare=read_prepare(prepare or []),
        parameters=_one_of("--parameters", parameters or PARAMETERS[test is not None], PARAMETERS),
        test=None if test is None else _one_of("--test", test, TESTS),
        streams=streams,
        refresh=refresh,
        refresh_batches=refresh_batches,
        seed=seed,
        clients=clients or (1 if mixed else None),
        rate_per_s=_above_zero("--rate", rate) if mixed and rate is not None else None,
        time_s=_above_zero("--time", _duration("--time", time)),
        warmup_s=_duration("--warmup", warmup) if begun.is_hot else 0.0,
        retries_max=retries,
        min_time_s=_duration("--min-time", min_time) if begun.repeats else 0.0,
        operation_deadline_s=_duration("--timeout", timeout),
        probes=parse_probes(probes),
        probe_interval_s=_interval(probe_interval),
        profile_hz=profile_hz if profile else None,
        plans=plans,
        pin=resolved_pin(pin),
        state=begun.state,
        state_passes=begun.passes,
        allow_host_changes=allow_host_changes,
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


def _check_load(context: typer.Context, workload: str, *, mixed: bool) -> None:
    """Refuses options that would do nothing; those of files and the environment are defaults."""
    given = [name for name in context.params if is_given(context, name)]
    if context.params["test"] is not None:
        _check_beside_test(given)
    else:
        for name in OF_A_TEST:
            if name in given:
                raise UsageError(f"{_as_given(context, name)} is of a test: say --test, too")
    if mixed:
        if "min_time" in given:
            raise UsageError(
                f"--min-time is of an order that is repeated; {workload} is played as a mix here:"
                " say --time"
            )
        return
    for name in ("rate", *OF_A_MIX):
        if name in given:
            raise UsageError(
                f"--{name} is of a mix; {workload} is played in its order here: add --clients N"
                " to play it as a mix, or say --min-time"
            )


def _check_beside_test(given: list[str]) -> None:
    """Refuses what a test leaves no room for."""
    if "clients" in given:
        raise UsageError(
            "--test and --clients: with clients it is played as a mix, and a test plays orders;"
            " leave one of the two out"
        )
    for name in ("min_time", "rate", *OF_A_MIX):
        if name in given:
            raise UsageError(
                f"--test and --{name.replace('_', '-')}: a test is of as many operations as it has;"
                " leave one of the two out"
            )


def _as_given(context: typer.Context, name: str) -> str:
    """An option as it stands on the command line."""
    denied = context.params[name] is False
    return f"--{'no-' if denied else ''}{name.replace('_', '-')}"


def _engine(given: str | None, dsn: str | None) -> tuple[str, str | None]:
    """Name and version of the engine: as given, or the one that speaks the scheme of the DSN."""
    if given is not None:
        name, _, version = given.partition("@")
        if dsn is not None and version:
            raise UsageError(f"--engine {given}: a running server has the version that it has")
        return name, version or None
    if dsn is None:
        return ENGINE_DEFAULT, None
    from assay.engines.discovery import find_engines

    speaking = [
        (len(scheme), name)
        for name, found in find_engines().items()
        for scheme in found.facts.schemes
        if dsn.startswith(f"{scheme}:")
    ]
    if not speaking:
        raise UsageError(
            f"no engine speaks the scheme of --dsn {without_secrets(dsn)}: write it as"
            " postgresql://user@host/database, or name the --engine"
        )
    # Of `jdbc:` and the same for one product, the longer one says more.
    return max(speaking)[1], None


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
        if isinstance(error, KeyboardInterrupt):
            complain(f"stopped by {stopped_by(error)}")
        else:
            complain(folded(str(error)))
        complain(f"what was measured until then is kept: assay show {progress.partial}")
        if as_json:
            say_json(build(progress.partial))
        raise typer.Exit(RunFailedError.exit_code) from error
    finally:
        progress.close()


def _above_zero(option: str, number: float) -> float:
    if not 0 < number < float("inf"):
        raise UsageError(f"{option} {number:g}: it must be above 0")
    return number


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
