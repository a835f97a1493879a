"""`assay durability`: kills an engine under load, and looks for all that it had acknowledged."""

from __future__ import annotations

from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.options import AsJson, RunsDir, given
from assay.cli.output import complain
from assay.cli.run_options import run_options, with_run_options

if TYPE_CHECKING:
    from assay.study.variants import Study

MADE_BY = "assay durability"
CLIENTS, BETWEEN = 4, "2s-5s"
OF_RUNS = (
    "engine",
    "bin_dir",
    "scale",
    "settings",
    "durability",
    "clients",
    "pipeline",
    "allow_host_changes",
    "seed",
)
# What tells whether the host was quiet; nothing asks the engine, which is to be killed.
OBSERVED = {"warmup": "1s", "probes": "system,processes", "plans": False}
EXAMPLES = """
\b
Examples:
  assay durability tpcc --engine postgresql --kills 10
  assay durability tpcc --engine mysql --durability relaxed --clients 8
  assay durability tpcc --engine sqlite --kills 3 --between 500ms-2s
  assay durability tpcc --kills 0 --copies 5 --allow-host-changes

\b
A kill leaves the kernel's page cache, and so what was never written to the
device: --copies look at that.

\b
Exit codes:
  0  all that was acknowledged was found   2  a run failed, or it was stopped
  1  wrong usage: nothing was run          3  something was lost
"""


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


@with_run_options(only=OF_RUNS, defaults={"clients": CLIENTS})
def durability(
    context: typer.Context,
    workload: Annotated[
        str, typer.Argument(help="A workload that says what it leaves to be found, such as tpcc.")
    ],
    *,
    kills: Kills = 5,
    copies: Copies = 0,
    between: Between = BETWEEN,
    runs: RunsDir = None,
    as_json: AsJson = False,
    **told: Any,  # noqa: ANN401 - options of a run
) -> None:
    """Kills an engine under load, recovers it, and looks for all that it had acknowledged.

    Each kill is an ordinary run with --kill. After an end before time, the same command goes on
    where it was.
    """
    from assay.cli.several import end, shown
    from assay.record.places import runs_dir
    from assay.running.asked.understanding import request_of
    from assay.study.durability import Crashes, durability_study, parse_between

    request = request_of(run_options(workload, OBSERVED | told), given(context))
    study = durability_study(request, Crashes(kills, copies, parse_between(between)))
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
