"""`assay whatif`: what changes would do to a run's metrics, and what those depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from assay.cli.help import GroupedCommand
from assay.cli.options import AsJson, RunsDir, WhichRun
from assay.cli.output import console, say, say_json
from assay.model.errors import UsageError
from assay.model.units import parse_duration_s

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from assay.analysis.whatif.changes import SupposedChange
    from assay.analysis.whatif.timing import Measured
    from assay.record.reader import Run
    from assay.report.documents.prediction import PredictionDocument

HALF = 0.5
GIVEN = "assay.given"


class InOrder(GroupedCommand):
    """A command that remembers its arguments: changes are carried out in the order they have."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Typer's own
        """Keeps the arguments before they are grouped by option."""
        ctx.meta[GIVEN] = list(args)
        return super().parse_args(ctx, args)


def whatif(
    context: typer.Context,
    which: WhichRun = "latest",
    *,
    halve: Annotated[
        list[str] | None, typer.Option(help="Operations in half the time.", metavar="NAME,...")
    ] = None,
    operation_time: Annotated[
        list[str] | None,
        typer.Option(help="An operation in another time.", metavar="NAME=TIME"),
    ] = None,
    scale_operation: Annotated[
        list[str] | None,
        typer.Option(help="An operation in so many times its time.", metavar="NAME=FACTOR"),
    ] = None,
    remove_operation: Annotated[
        list[str] | None,
        typer.Option(
            help="A kind of work that takes no CPU time, of a profiled run.", metavar="WORK"
        ),
    ] = None,
    remove_wait: Annotated[
        list[str] | None,
        typer.Option(help="A cause of waiting that takes no time.", metavar="CAUSE"),
    ] = None,
    cores: Annotated[
        list[int] | None, typer.Option(help="The engine on other cores.", metavar="NUMBER")
    ] = None,
    runs: RunsDir = None,
    all_operations: Annotated[
        bool, typer.Option("--all", help="Show all operations, not only the first.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Predicts what changes would do to a run's metrics, by a model that says what it assumes.

    Changes can be repeated and are carried out in their order. Without one it tells what the
    metrics depend on: the weight of each operation, and what mending each cause would be worth.

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
    from assay.record.places import runs_dir
    from assay.record.reader import find_workload_run

    given = {
        "--halve": halve,
        "--operation-time": operation_time,
        "--scale-operation": scale_operation,
        "--remove-operation": remove_operation,
        "--remove-wait": remove_wait,
        "--cores": cores,
    }
    texts = {option: [str(value) for value in values or []] for option, values in given.items()}
    changes = list(_changes(_in_order(context.meta.get(GIVEN, []), texts)))
    run = find_workload_run(which, runs_dir(runs))
    measured = _measured(run)
    if changes:
        _predicted(run, measured, changes, all_operations=all_operations, as_json=as_json)
    else:
        _weighed(run, measured, all_operations=all_operations, as_json=as_json)


def _in_order(
    arguments: Sequence[str], texts: Mapping[str, list[str]]
) -> Iterator[tuple[str, str]]:
    """Options with their values: those of files and of the environment first, then as given."""
    asked = [argument.partition("=")[0] for argument in arguments]
    order = [option for option in asked if option in texts]
    left = {option: list(values) for option, values in texts.items()}
    for option, values in left.items():
        while len(values) > order.count(option):
            yield option, values.pop(0)
    for option in order:
        if left[option]:
            yield option, left[option].pop(0)


def _changes(given: Iterable[tuple[str, str]]) -> Iterator[SupposedChange]:
    from assay.analysis.whatif.changes import (
        RemoveWait,
        RemoveWork,
        ScaleOperation,
        SetCores,
        SetTime,
        wait_named,
    )

    for option, text in given:
        match option:
            case "--halve":
                for name in _names(text):
                    yield ScaleOperation(name, HALF)
            case "--operation-time":
                yield SetTime(*_pair(option, text, parse_duration_s, "q02=120ms"))
            case "--scale-operation":
                yield ScaleOperation(*_pair(option, text, float, "q09=0.7"))
            case "--remove-operation":
                yield RemoveWork(text.strip())
            case "--remove-wait":
                yield RemoveWait(wait_named(text))
            case _:
                yield SetCores(int(text))


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise UsageError(f"--halve {text!r}: write it as --halve q15,q17")
    return names


def _pair(option: str, text: str, parse: Callable[[str], float], example: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        return name.strip(), parse(value)
    except ValueError as error:
        raise UsageError(f"{option} {text!r}: write it as {option} {example}") from error


def _measured(run: Run) -> Measured:
    from assay.analysis.summarise import summarise
    from assay.analysis.whatif.prediction import check_whole
    from assay.checks.judge import judge
    from assay.report.sections.what_if import judged_of

    made = judged_of(run, summarise(run), judge(run))
    check_whole(made)
    return made


def _predicted(
    run: Run,
    measured: Measured,
    changes: list[SupposedChange],
    *,
    all_operations: bool,
    as_json: bool,
) -> None:
    from assay.analysis.whatif import predict
    from assay.report.build import run_document
    from assay.report.terminal.summary import width_of
    from assay.report.terminal.what_if import predicted_lines

    prediction = cast("PredictionDocument", predict(measured, changes).facts())
    if as_json:
        say_json({"run": run.id, "prediction": prediction})
        return
    width = width_of(console(stderr=False))
    for line in predicted_lines(
        run_document(run), prediction, width, all_operations=all_operations
    ):
        say(line)


def _weighed(run: Run, measured: Measured, *, all_operations: bool, as_json: bool) -> None:
    from assay.report.build import run_document
    from assay.report.sections.what_if import what_if
    from assay.report.terminal.summary import width_of
    from assay.report.terminal.what_if import weighed_lines

    weights = what_if(measured)
    if as_json:
        say_json({"run": run.id, "what_if": weights})
    elif weights is not None:
        width = width_of(console(stderr=False))
        for line in weighed_lines(run_document(run), weights, width, all_operations=all_operations):
            say(line)
