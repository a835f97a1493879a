"""`assay whatif`: predicts the effect of changes on a run's metrics, and their sensitivity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.shared.in_order import GIVEN, in_order
from assay.cli.shared.options import AsJson, RunsDir, WhichRun
from assay.cli.shared.output import say_result, width

if TYPE_CHECKING:
    from collections.abc import Sequence

AllOperations = Annotated[
    bool,
    typer.Option("--all", help="Show all operations, not only the operations with most time."),
]


def whatif(
    context: typer.Context,
    which: WhichRun = "latest",
    *,
    halve: Annotated[
        list[str] | None,
        typer.Option(help="Operations that would take half of their time.", metavar="NAME,..."),
    ] = None,
    operation_time: Annotated[
        list[str] | None,
        typer.Option(help="An operation that would take this time.", metavar="NAME=TIME"),
    ] = None,
    scale_operation: Annotated[
        list[str] | None,
        typer.Option(help="An operation whose time changes by a factor.", metavar="NAME=FACTOR"),
    ] = None,
    remove_operation: Annotated[
        list[str] | None,
        typer.Option(
            help="A kind of work that would take no CPU time (needs a profiled run).",
            metavar="WORK",
        ),
    ] = None,
    remove_wait: Annotated[
        list[str] | None,
        typer.Option(help="A cause of waiting that would take no time.", metavar="CAUSE"),
    ] = None,
    cores: Annotated[
        list[int] | None,
        typer.Option(help="Number of cores that the engine would have.", metavar="NUMBER"),
    ] = None,
    runs: RunsDir = None,
    all_operations: AllOperations = False,
    as_json: AsJson = False,
) -> None:
    """Predicts a run's metrics after changes, by a model that states its assumptions.

    Changes can be repeated and are applied in their order. Without a change, `assay whatif` shows
    the sensitivity of the metrics: the weight of each operation, and the gain of removing each
    cause.

    \b
    Examples:
      assay whatif                         what the latest run's metrics depend on
      assay whatif latest --halve q15,q17
      assay whatif latest --operation-time q02=120ms
      assay whatif latest --scale-operation q09=0.7 --json
      assay whatif latest --remove-operation "hash probe"    of a profiled run
      assay whatif latest --remove-wait "disk read"
      assay whatif latest --cores 4 --halve q15       both, one after the other
    """
    from assay.report.terminal.what_if import what_if_lines
    from assay.verbs.whatif import whatif as predicted

    changes: dict[str, Sequence[object]] = {
        "halve": halve or [],
        "operation_time": operation_time or [],
        "scale_operation": scale_operation or [],
        "remove_operation": remove_operation or [],
        "remove_wait": remove_wait or [],
        "cores": cores or [],
    }
    made = predicted(which, *in_order(context.meta.get(GIVEN, []), changes), runs=runs)
    say_result(
        made.document,
        lambda: what_if_lines(made, width(), all_operations=all_operations),
        as_json=as_json,
    )
