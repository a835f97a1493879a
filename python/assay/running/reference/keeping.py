"""Stores the rows that a user's own queries returned as expected answers.

An operation has an answer if two executions returned the same rows, compared by the rows and order
that its statement defines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.answers.comparison import FLOAT_RELATIVE, Tolerances, difference
from assay.analysis.answers.kept import (
    expected_rows,
    inexact_columns,
    kept_text,
    read_kept_rows,
)
from assay.analysis.answers.states import executions
from assay.model.kept_answer import KeptAnswer, text_digest, write_kept_answers
from assay.model.whole_file import whole_file
from assay.record.streams import read_result
from assay.workloads.queries import cut_ends, ordered_by, reads
from assay.workloads.rewriting.grammar import grammar_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from assay.record.reader import Run

NEW, SAME = "new", "the same"


@dataclass(frozen=True)
class OperationAnswer:
    """The rows of an operation that will be stored as its expected answer.

    Attributes:
        operation: Name of the operation.
        answer: Facts kept with the rows; None if there are no rows to keep.
        change: `new`, `the same` as the kept answer, or the difference from it.
        why_not: Reason why it has no answer.
        text: Rows in the format of the file.
    """

    operation: str
    answer: KeptAnswer | None
    change: str | None
    why_not: str | None
    text: str | None = None


def operation_answers(
    run: Run, dialects: Sequence[str], folder: Path, kept: Mapping[str, KeptAnswer]
) -> list[OperationAnswer]:
    """Return the answer of each operation of a run, compared with those stored in a folder."""
    grammar = grammar_of(dialects)
    executed = executions(run.table("events"), None)
    answered = set(executed["operation"].unique())
    return [
        _answer(run, name, grammar, folder, kept.get(name))
        if name in answered
        else OperationAnswer(name, None, None, "it failed, or was not played")
        for name in run.facts["plan"]["operations"]
    ]


def write_answers(
    folder: Path, answers: Sequence[OperationAnswer], kept: Mapping[str, KeptAnswer]
) -> None:
    """Write answers to a folder, in which answers of other operations stay.

    Raises:
        OSError: If the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    whole = dict(kept)
    for row in answers:
        if row.answer is None or row.text is None:
            continue
        with whole_file(folder / f"{row.operation}.csv") as partial:
            partial.write_text(row.text, encoding="utf-8")
        whole[row.operation] = row.answer
    write_kept_answers(folder, whole)


def _answer(
    run: Run, operation: str, grammar: str | None, folder: Path, before: KeptAnswer | None
) -> OperationAnswer:
    path, text = folder / f"{operation}.csv", run.facts["statements"][operation]["text"]
    results = [(digest, read_result(file)) for digest, file in run.results(operation)]
    why_not = _why_not(run, operation, text, grammar, results)
    if why_not is None and path.is_file() and before is None:
        why_not = f"{path} was not made by this command: remove it first"
    if why_not is not None:
        return OperationAnswer(operation, None, None, why_not)
    digest, frame = results[0]
    order = ordered_by(text, frame.columns, grammar)
    facts = run.facts
    answer = KeptAnswer(
        rows=frame.height,
        digest=digest,
        text_sha256=text_digest(text),
        ordered_by=order,
        floats=inexact_columns(frame.schema),
        cut=cut_ends(text, frame.height, grammar),
        kept_utc=facts["started_utc"],
        engine=f"{facts['engine']['title']} {facts['engine']['version']}",
        server=facts["request"]["dsn"],
        run=run.id,
    )
    for _, other in results[1:]:
        if (different := _difference(other, frame, answer)) is not None:
            why = f"two executions returned different rows: {different}"
            return OperationAnswer(operation, None, None, why)
    change = _change(path, frame, answer, before)
    return OperationAnswer(operation, answer, change, None, kept_text(frame.columns, frame.rows()))


def _why_not(
    run: Run,
    operation: str,
    text: str,
    grammar: str | None,
    results: Sequence[tuple[str, pl.DataFrame]],
) -> str | None:
    """Return why an operation's rows cannot be stored as its answer; None if they can."""
    if operation in run.facts["workload"].get("drawn_operations", []):
        return "its values are drawn at each execution"
    does = reads(text, grammar)
    if does is not None and does.changes:
        return "it may change the data"
    if not results:
        return "its rows were not kept"
    return None if results[0][1].width else "it returns no rows"


def _difference(rows: pl.DataFrame, wanted: pl.DataFrame, answer: KeptAnswer) -> str | None:
    """Return how rows differ from another answer; None if they are equal."""
    expected = expected_rows(wanted.columns, wanted.rows(), answer)
    return difference(rows.rows(), expected, _tolerances(answer))


def _tolerances(answer: KeptAnswer) -> Tolerances:
    kinds = dict.fromkeys(answer.floats, "float")
    return Tolerances.of(kinds, 0.0, 0.0, 1.0, float(FLOAT_RELATIVE))


def _change(path: Path, frame: pl.DataFrame, answer: KeptAnswer, before: KeptAnswer | None) -> str:
    if before is None or not path.is_file():
        return NEW
    if before.text_sha256 != answer.text_sha256:
        return "its statement is another one than when its answer was kept"
    expected = read_kept_rows(path, before)
    if len(expected.columns) != frame.width:
        return f"{frame.width} columns instead of {len(expected.columns)}"
    return difference(frame.rows(), expected, _tolerances(before)) or SAME
