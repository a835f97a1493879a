"""`assay run`: obtain, start, generate, load, warm up, measure, check, explain, report."""

from __future__ import annotations

from inspect import cleandoc
from typing import TYPE_CHECKING, Any, cast

import typer

from assay.cli.executing import executed
from assay.cli.options import AsJson, Page, RunsDir, Strict, Whole, Workload, exit_code, given
from assay.cli.output import complain, console, say_json
from assay.cli.run_options import run_options, with_run_options
from assay.cli.scale_name import SCALE, check_scale_name

if TYPE_CHECKING:
    from assay.report.documents.run import RunDocument

EXAMPLES = """
\b
Examples:
  assay run tpch                               DuckDB, SF 1, half a minute
  assay run tpch --scale 0.1 --min-time 5s     a quick look
  assay run tpch --engine postgresql@18 --set work_mem=64MB --profile
  assay run tpch --engine postgresql --test full --streams 3
  assay run tpcc --engine mysql --warehouses 10 --clients 8 --time 60s
  assay run bsbm --engine virtuoso --clients 16
  assay run ./my-queries --dsn postgresql://user@localhost/db
  assay run tpch --state cold --limit memory=512MB --allow-host-changes

\b
More of them are in docs/running.md.

\b
Exit codes:
  0  done            2  failed or stopped, partial record kept
  1  wrong usage     3  invalid: wrong answers or failed operations
"""


@with_run_options()
def run(
    context: typer.Context,
    workload: Workload,
    *,
    runs: RunsDir = None,
    whole: Whole = False,
    strict: Strict = False,
    page: Page = True,
    as_json: AsJson = False,
    **options: Any,  # noqa: ANN401 - options of a run
) -> None:
    """Runs a workload on an engine, checks and explains it, and writes a report."""
    from assay.cli.progress import Progress
    from assay.record.places import runs_dir
    from assay.running.asked.understanding import request_of

    check_scale_name(context.meta[SCALE], workload)
    request = request_of(run_options(workload, options), given(context))
    # What runs it takes longer to import than a wrong request takes to be refused.
    from assay.running.execute import execute

    shown = console()
    document = executed(
        lambda progress: execute(request, runs_dir(runs), progress),
        Progress(shown),
        as_json=as_json,
        with_page=page,
    )
    from assay.report.terminal.summary import render

    render(cast("RunDocument", document), all_operations=whole, console=shown)
    if as_json:
        say_json(document)
    code = exit_code(document["verdict"], strict=strict)
    if code:
        complain(f"the run is {document['verdict']}")
        raise typer.Exit(code)


run.__doc__ = f"{cleandoc(run.__doc__ or '')}\n{EXAMPLES}"
