"""`assay diagnose`: tries the causes of a run by experiments, and keeps what makes it faster."""

from __future__ import annotations

from inspect import cleandoc
from typing import Annotated, Any

import typer

from assay.cli.shared.options import Again, AllowChanges, AsJson, Budget, RunsDir, Whole
from assay.cli.shared.output import say_result, width
from assay.cli.shared.run_options import run_keys, with_run_options
from assay.verbs.shared.defaults import DIAGNOSE_BUDGET, DIAGNOSE_RUNS

# Options that stop a run early or use several hosts, which experiments do not support.
WITHOUT = ("kill", "fleet", "fleet_plain", "fleet_tls", "test", "streams", "keep_data")
EXAMPLES = """
\b
Examples:
  assay diagnose tpch --engine postgresql --scale 0.1 --operation q18
  assay diagnose ./queries --dsn postgresql://... --budget 10m
  assay diagnose latest                   the causes of the newest run, tried
  assay diagnose latest --dsn ... --allow-changes

\b
Exit codes:
  0  all runs ended, or the budget is used up
  1  wrong usage: nothing was run
  2  a run failed, or the command was stopped
"""


@with_run_options(*WITHOUT, defaults=DIAGNOSE_RUNS)
def diagnose(
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(
            help="A workload or a folder of queries, which runs first; or a run: 'latest', an id"
            " or its beginning, or a path.",
            metavar="WORKLOAD|RUN",
        ),
    ],
    *,
    budget: Budget = DIAGNOSE_BUDGET,
    again: Again = False,
    allow_changes: AllowChanges = False,
    runs: RunsDir = None,
    whole: Whole = False,
    as_json: AsJson = False,
    **options: Any,  # noqa: ANN401 - options of a run
) -> None:
    """Tests the causes of a run by experiments and shows which of them are real.

    Assay alternates runs with and without each cause until the cause is confirmed or refuted, or
    the budget ends. `assay diagnose` keeps the largest confirmed change and explains the remaining
    time again. If no advised change can be kept, it tries changes that no finding advises: without
    given settings and limits, with indexes, and with queries in another form. After an
    interruption, the same command continues the diagnosis.
    """
    from assay.cli.shared.watching import Watching
    from assay.report.diagnosis.terminal import diagnosis_lines
    from assay.verbs.diagnose import diagnose as made

    document = made(
        what,
        budget=budget,
        again=again,
        allow_changes=allow_changes,
        runs=runs,
        watcher=Watching(),
        **run_keys(context, options),
    )
    say_result(document, lambda: diagnosis_lines(document, width(), whole=whole), as_json=as_json)


diagnose.__doc__ = f"{cleandoc(diagnose.__doc__ or '')}\n{EXAMPLES}"
