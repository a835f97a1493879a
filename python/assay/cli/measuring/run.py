"""`assay run`: makes one run: load, warm up, measure, check, explain, report."""

from __future__ import annotations

from inspect import cleandoc
from typing import TYPE_CHECKING, Any

import typer

from assay.cli.shared.executing import end_by_verdict, executed
from assay.cli.shared.options import AsJson, Page, RunsDir, Strict, Whole, Workload
from assay.cli.shared.output import console, say_json
from assay.cli.shared.run_options import given, run_keys, with_run_options
from assay.cli.shared.scale_name import SCALE, check_scale_name
from assay.model.foreign_text import visible

if TYPE_CHECKING:
    from rich.console import Console

    from assay.report.notebook import LoadedRun

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
The page docs/guides/running.md has more examples of `assay run`.

\b
Exit codes:
  0  the run ended
  1  wrong usage: nothing was run
  2  the run failed or was stopped; its partial record is kept
  3  the run is invalid: wrong answers or failed operations
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
    from assay.cli.shared.progress import Progress
    from assay.report.terminal.summary import render
    from assay.verbs.run import run as made_by

    check_scale_name(context.meta[SCALE], workload)
    keys, asked = run_keys(context, options), given(context)
    shown = console()
    made = executed(
        lambda teller: made_by(workload, page=page, runs=runs, teller=teller, given=asked, **keys),
        Progress(shown),
        as_json=as_json,
        with_page=page,
    )
    render(made.document, all_operations=whole, console=shown)
    if made.document.get("own_tables"):
        _show_before_and_after(made, shown)
    if as_json:
        say_json(made.document)
    end_by_verdict(made.document["verdict"], "run", strict=strict)


def _show_before_and_after(made: LoadedRun, console: Console) -> None:
    """Print how the operations' times changed since the previous run of this request."""
    from assay.record.earlier import earlier_run
    from assay.report.sections.before_after import before_after
    from assay.report.terminal.before_after import before_after_lines
    from assay.report.terminal.summary import width_of

    before = earlier_run(made.run, made.run.dir.parent)
    if before is not None:
        console.print()
        for line in before_after_lines(before_after(before, made.run), width_of(console)):
            console.print(visible(line), markup=False)


run.__doc__ = f"{cleandoc(run.__doc__ or '')}\n{EXAMPLES}"
