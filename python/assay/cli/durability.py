"""`assay durability`: kills an engine under load, and looks for all that it had acknowledged."""

from __future__ import annotations

from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options import (
    AsJson,
    Engine,
    RunsDir,
    Scale,
    Settings,
    given,
)
from assay.cli.output import complain

if TYPE_CHECKING:
    from assay.study.variants import Study

MADE_BY = "assay durability"
CLIENTS, BETWEEN = 4, "2s-5s"
# What tells whether the host was quiet; nothing asks the engine, which is to be killed.
OBSERVED = {"warmup": "1s", "probes": "system,processes", "plans": False}
EXAMPLES = """
\b
Examples:
  assay durability tpcc --engine postgresql --kills 10
  assay durability tpcc --engine mysql --durability relaxed --clients 8
  assay durability tpcc --engine sqlite --kills 3 --between 500ms-2s
  assay durability tpcc --engine postgresql --durability none --kills 0 --copies 5 \
--allow-host-changes

\b
A kill leaves the kernel's page cache, and so what was never written to the device: --copies look at
that. Exit codes:
  0  all that was acknowledged was found      2  a run failed, or it was stopped
  1  wrong usage: nothing was run             3  something was lost, or not recovered
"""


Level = Annotated[
    str | None,
    typer.Option(
        "--durability",
        help="What a transaction that committed is to survive [default: full].",
        metavar="full|relaxed|none",
    ),
]
Kills = Annotated[int, typer.Option(help="How often it is killed, in a run each.", min=0)]
Copies = Annotated[
    int,
    typer.Option(
        help="How often what reached its device is copied, in one more run (needs root and"
        " --allow-host-changes).",
        min=0,
    ),
]
Between = Annotated[
    str,
    typer.Option(
        help="From when to when after the load's begin it is killed; drawn from the seed.",
        metavar="2s-5s",
    ),
]
AllowHostChanges = Annotated[
    bool,
    typer.Option("--allow-host-changes", help="Allow the loop devices that --copies are made of."),
]


def durability(
    context: typer.Context,
    workload: Annotated[
        str, typer.Argument(help="A workload that says what it leaves to be found, such as tpcc.")
    ],
    *,
    engine: Engine = None,
    bin_dir: Annotated[
        Path | None, typer.Option(help="Take the server's programs from here.", metavar="DIR")
    ] = None,
    scale: Scale = None,
    settings: Settings = None,
    level: Level = None,
    kills: Kills = 5,
    copies: Copies = 0,
    between: Between = BETWEEN,
    clients: Annotated[int, typer.Option(help="Sessions that draw from the mix.", min=1)] = CLIENTS,
    pipeline: Annotated[
        bool,
        typer.Option("--pipeline", help="Send statements that need no earlier answer at once."),
    ] = False,
    allow_host_changes: AllowHostChanges = False,
    seed: Annotated[int, typer.Option(help="Seed of moments and of the load.", min=0)] = 1,
    runs: RunsDir = None,
    as_json: AsJson = False,
) -> None:
    """Kills an engine under load, recovers it, and looks for all that it had acknowledged.

    Each kill is an ordinary run with --kill. After an end before time, the same command goes on
    where it was.
    """
    from assay.cli.several import end, shown
    from assay.record.places import runs_dir
    from assay.running.asked.options import RunOptions, request_of
    from assay.running.asked.request import parse_settings
    from assay.study.durability import Crashes, durability_study, parse_between

    options = {
        "workload": workload,
        "engine": engine,
        "bin_dir": None if bin_dir is None else str(bin_dir),
        "scale": scale,
        "set": parse_settings(settings or []),
        "durability": level,
        "clients": clients,
        "pipeline": pipeline,
        "allow_host_changes": allow_host_changes,
        "seed": seed,
        **OBSERVED,
    }
    asked = [name for name in given(context) if name in RunOptions.model_fields]
    study = durability_study(
        request_of(RunOptions.model_validate(options), asked),
        Crashes(kills, copies, parse_between(between)),
    )
    directory = _carried_out(study, runs_dir(runs))
    end(directory, shown(directory, whole=True, as_json=as_json))


durability.__doc__ = f"{cleandoc(durability.__doc__ or '')}\n{EXAMPLES}"


def _carried_out(study: Study, place: Path) -> Path:
    """Makes the runs that are not there yet; the study's directory.

    Raises:
        AssayError: What ended a run that failed; those before it are kept, as is told.
        KeyboardInterrupt: On Ctrl-C, likewise.
    """
    from assay.cli.study_progress import studying
    from assay.record.studies import STUDIES_DIR
    from assay.record.writer import new_run_id
    from assay.study.pace import expected_after
    from assay.study.several import Means, begun_in, carry_out, remaining, unfinished

    about = {"made_by": MADE_BY}
    base = study.parts[0].variants[0].request
    found = unfinished(place / STUDIES_DIR, study, about)
    if found is None:
        workload = Path(str(getattr(base, "workload", ""))).name
        engine = str(getattr(base, "engine", ""))
        found = place / STUDIES_DIR / new_run_id(f"durability-{workload}", engine)
    else:
        order = len(study.order())
        left = len(remaining(study, begun_in(found)))
        complain(f"going on with {found.name}: {order - left} of {order} runs are there")
    for part, reason in study.without.items():
        complain(f"without part {part}: {reason}")
    with studying(found.absolute(), one_part=len(study.parts) == 1) as progress:
        means = Means(expected=expected_after(place))
        carry_out(study, found.absolute(), place, progress, about=about, means=means)
    return found.absolute()
