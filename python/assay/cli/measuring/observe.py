"""`assay observe`: watches the statements that a running server executes for its clients."""

from __future__ import annotations

import inspect
from typing import Any

from assay.cli.shared.executing import end_by_verdict, executed
from assay.cli.shared.options import AsJson, Page, RunsDir, Strict, Whole
from assay.cli.shared.output import console, say_json
from assay.cli.shared.run_options import parameters_of
from assay.running.asked.observe import ObserveOptions


def observe(
    *,
    runs: RunsDir = None,
    whole: Whole = False,
    strict: Strict = False,
    page: Page = True,
    as_json: AsJson = False,
    **options: Any,  # noqa: ANN401 - options of an observation
) -> None:
    """Watches the statements that other clients execute on a running server, and sends no load.

    The report shows each statement's share of the time, and the causes of lost time, like a report
    of `assay run`. Assay opens two sessions, which cannot write. Ctrl-C ends the observation; then
    Assay writes the report.

    \b
    Examples:
      assay observe --dsn postgresql://user@localhost/shop
      assay observe --dsn postgresql://user@localhost/shop --time 5m
      assay observe --dsn mysql://user@localhost/shop --until-stopped
      assay observe --dsn postgresql://user@db.example/shop --no-plans --json

    \b
    PostgreSQL counts statements where pg_stat_statements is loaded, MySQL and
    MariaDB where performance_schema is on. Without pg_stat_statements or
    performance_schema, Assay finds statements by sampling the sessions.
    """
    from assay.cli.shared.progress import Progress
    from assay.report.terminal.summary import render
    from assay.verbs.observe import observe as made_by

    shown = console()
    made = executed(
        lambda teller: made_by(page=page, runs=runs, teller=teller, **options),
        Progress(shown),
        as_json=as_json,
        with_page=page,
    )
    render(made.document, all_operations=whole, console=shown)
    if as_json:
        say_json(made.document)
    end_by_verdict(made.document["verdict"], "observation", strict=strict)


def _with_options() -> inspect.Signature:
    own = [
        parameter
        for parameter in inspect.signature(observe, eval_str=True).parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    return inspect.Signature([*own, *parameters_of(ObserveOptions)])


observe.__signature__ = _with_options()  # type: ignore[attr-defined]
