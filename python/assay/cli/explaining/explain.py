"""`assay explain`: shows where the time of a run went, and all facts about one operation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.shared.options import AsJson, RunsDir, WhichRun
from assay.cli.shared.output import complain, say_result, width
from assay.model.errors import UsageError

Operation = Annotated[str | None, typer.Option(help="This operation only.", metavar="NAME")]
Against = Annotated[
    str | None,
    typer.Option(help="Compare with this other run, and show what changed.", metavar="RUN"),
]
UnequalDurability = Annotated[
    bool,
    typer.Option(
        "--unequal-durability",
        help="With --against: compare although durability is weaker in one of the runs.",
    ),
]
Rules = Annotated[
    Path | None,
    typer.Option(
        help="File of your own rules that assign functions to kinds of work; they"
        " precede the engine's rules.",
        metavar="FILE",
    ),
]
Unclassified = Annotated[
    bool,
    typer.Option(
        "--unclassified",
        help="Print functions to which no rule assigns a kind of work, as rules in TOML.",
    ),
]
OpenFamilies = Annotated[
    bool,
    typer.Option(
        "--open-families",
        help="Show every function of a family, such as all instances of a C++ template.",
    ),
]
AllSymbols = Annotated[
    bool, typer.Option("--all", help="Show all functions, not only those with most samples.")
]
Style = Annotated[
    str, typer.Option(help="'table', or 'article': Markdown with a description of each function.")
]
Html = Annotated[
    Path | None,
    typer.Option(help="With --against: write a differential flame graph.", metavar="FILE"),
]


def explain(
    which: WhichRun = "latest",
    *,
    operation: Operation = None,
    against: Against = None,
    unequal_durability: UnequalDurability = False,
    operations: Rules = None,
    unclassified: Unclassified = False,
    open_families: OpenFamilies = False,
    all_symbols: AllSymbols = False,
    style: Style = "table",
    html: Html = None,
    runs: RunsDir = None,
    as_json: AsJson = False,
) -> None:
    """Explains where the time of a run went and why, from its waits, plans and CPU time.

    If the run has CPU samples (assay run --profile), the explanation also shows functions.

    \b
    Examples:
      assay explain                          the latest run, whole
      assay explain latest --operation q09   one operation, with its plan
      assay explain latest --against 4c193c  what changed since then
      assay explain latest --against 4c193c --operation q09   plans, step by step
      assay explain latest --all             all kinds of work, all functions
      assay explain latest --against 4c193c --html difference.html
      assay explain latest --unclassified > my.toml
      assay explain latest --style article   as an article prints it
    """
    from assay.report.results.explain import ExplainedDifference
    from assay.report.terminal.explain import explained_lines
    from assay.verbs.explain import explain as explained_by

    for option, of_text in (
        ("--style article", style == "article"),
        ("--open-families", open_families),
    ):
        if as_json and of_text:
            raise UsageError(f"{option} has no effect with --json: remove one of the two")
    shown = {"all_symbols": all_symbols, "open_families": open_families}
    explained = explained_by(
        which,
        operation=operation,
        against=against,
        unequal_durability=unequal_durability,
        operations=operations,
        unclassified=unclassified,
        style=style,
        html=html,
        runs=runs,
        **shown,
    )
    if as_json and isinstance(explained, ExplainedDifference) and explained.unequal is not None:
        complain(explained.unequal)
    say_result(
        explained.document, lambda: explained_lines(explained, width(), **shown), as_json=as_json
    )
