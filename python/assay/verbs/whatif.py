"""`assay whatif`: predicts the effect of changes on a run's metrics, and their sensitivity."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from assay.analysis.summarise import summarise
from assay.analysis.whatif import predict
from assay.analysis.whatif.changes import (
    RemoveWait,
    RemoveWork,
    ScaleOperation,
    SetCores,
    SetTime,
    wait_named,
)
from assay.analysis.whatif.prediction import check_whole
from assay.checks.judge import judge
from assay.model.errors import UsageError, suggestion
from assay.model.units import parse_duration_s
from assay.record.places import runs_dir
from assay.record.reader import find_measured_run
from assay.report.build import run_document
from assay.report.results.what_if import WhatIf
from assay.report.sections.what_if import judged_of, what_if

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from assay.analysis.whatif.changes import SupposedChange
    from assay.analysis.whatif.timing import Measured
    from assay.record.reader import Run
    from assay.report.documents.prediction import PredictionDocument

HALF = 0.5
CHANGES = [
    *("halve", "operation_time", "scale_operation"),
    *("remove_operation", "remove_wait", "cores"),
]


def whatif(
    run: str = "latest",
    *changes: tuple[str, object],
    runs: Path | str | None = None,
    **named: object,
) -> WhatIf:
    """Predicts a run's metrics after changes, by a model that states its assumptions.

    Without a change it returns the sensitivity of the metrics. Changes are applied in their order:
    `whatif("latest", halve="q15,q17", cores=4)`.

    Args:
        run: `latest`, an id, the beginning of an id, or a path.
        changes: Pairs of a change's name and its value, for changes whose names repeat.
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.
        named: Changes by their names; each has a value, or a list of values. `halve`: operations
            that take half their time, `"q15,q17"`. `operation_time`: an operation and its new time,
            `"q02=120ms"`. `scale_operation`: an operation and the factor of its time, `"q09=0.7"`.
            `remove_operation`: a kind of work whose CPU time becomes zero; needs a profiled run.
            `remove_wait`: a cause of waiting whose time becomes zero. `cores`: number of cores of
            the engine.

    Returns:
        The prediction. The prediction's `document` is the one that `assay whatif --json` prints.

    Raises:
        UsageError: If a change is unknown, or refers to something that the run does not have.
        RecordUnreadableError: If no run has this name, or its record is damaged.
    """
    supposed = list(_supposed([*changes, *named.items()]))
    record = find_measured_run(run, runs_dir(runs))
    measured = _measured(record)
    if not supposed:
        return WhatIf(run_document(record), None, what_if(measured))
    prediction = cast("PredictionDocument", predict(measured, supposed).facts())
    return WhatIf(run_document(record), prediction, None)


def _measured(run: Run) -> Measured:
    made = judged_of(run, summarise(run), judge(run))
    check_whole(made)
    return made


def _supposed(asked: Iterable[tuple[str, object]]) -> Iterator[SupposedChange]:
    for name, value in asked:
        for text in value if isinstance(value, list | tuple) else [value]:
            yield from _changes(name, str(text))


def _changes(name: str, text: str) -> Iterator[SupposedChange]:
    match name:
        case "halve":
            for operation in _names(text):
                yield ScaleOperation(operation, HALF)
        case "operation_time":
            yield SetTime(*_pair("--operation-time", text, parse_duration_s, "q02=120ms"))
        case "scale_operation":
            yield ScaleOperation(*_pair("--scale-operation", text, float, "q09=0.7"))
        case "remove_operation":
            yield RemoveWork(text.strip())
        case "remove_wait":
            yield RemoveWait(wait_named(text))
        case "cores":
            yield SetCores(_whole_number(text))
        case _:
            raise UsageError(f"unknown change {name!r}: {suggestion(name, CHANGES)}")


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


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise UsageError(f"--cores {text!r}: write it as --cores 4") from error
