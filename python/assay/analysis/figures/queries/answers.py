"""Table of whether each run's query results were correct."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from assay.analysis.figures.contract import Column, Figure, Measure, Table
from assay.analysis.figures.subjects import subjects_of
from assay.analysis.quantities import SHARE, Spread, listed
from assay.model.verdict import Verdict

if TYPE_CHECKING:
    from assay.analysis.figures.contract import Asked
    from assay.analysis.figures.subjects import Subject
    from assay.analysis.study_runs import StudyRun
    from assay.model.verdict import CheckResult

OPTIONS: dict[str, str] = {}
CHECK = "answers"
COLUMNS = (
    Column("subject"),
    Column("round", "count"),
    Column("run"),
    Column("answers"),
    Column("what was seen"),
)


def figure(asked: Asked) -> Figure:
    """Return a table of whether each run's query results were correct."""
    subjects = subjects_of(asked)
    judged = {run.run.id: result_of(run) for run in asked.runs}
    rows = tuple(
        (
            subject.name,
            run.round,
            run.run.id,
            "not judged" if result is None else _word(result),
            "" if result is None else result.reason,
        )
        for subject in subjects
        for run in subject.runs
        for result in (result_of(run),)
    )
    right = Measure(
        "right",
        "runs whose answers are right",
        SHARE,
        {subject.name: _share(subject) for subject in subjects},
    )
    unjudged = sum(result is None for result in judged.values())
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=says(subjects),
        subjects=tuple(subject.name for subject in subjects),
        measures=(right,),
        tables=(Table("answers", "the answers of each run", COLUMNS, rows),),
        missing=(f"{unjudged} runs were not judged",) if unjudged else (),
    )


def result_of(run: StudyRun) -> CheckResult | None:
    """Return the verdict on a run's query results; None if they were not checked."""
    return next((result for result in run.checks if result.check == CHECK), None)


def says(subjects: tuple[Subject, ...]) -> tuple[str, ...]:
    """Return sentences on how many runs returned correct results, and on the other runs."""
    results = [(subject.name, result_of(run)) for subject in subjects for run in subject.runs]
    # A run that belongs to two parts of the study counts once.
    runs = {run.run.id: result_of(run) for subject in subjects for run in subject.runs}
    counts = Counter(None if result is None else result.of_answers for result in runs.values())
    of = len(runs)
    right = counts[Verdict.VALID]
    if right == of:
        runs_of = "the one run" if of == 1 else f"all {of} runs"
        return (f"The answers of {runs_of} are right.",)
    if counts[Verdict.UNKNOWN] == of:
        return ("It is unknown whether the answers are right: there was nothing to compare with.",)
    sentences = [f"The answers of {right} of {of} runs are right."]
    for verdict, lead in (
        (Verdict.INVALID, "Wrong answers came from"),
        (Verdict.UNKNOWN, "It is unknown whether answers are right of"),
    ):
        names = list(
            dict.fromkeys(
                name
                for name, result in results
                if result is not None and result.of_answers is verdict
            )
        )
        if names:
            sentences.append(f"{lead} {listed(names)}.")
    return tuple(sentences)


def _word(result: CheckResult) -> str:
    return {Verdict.VALID: "right", Verdict.UNKNOWN: "unknown", Verdict.INVALID: "wrong"}[
        result.of_answers
    ]


def _share(subject: Subject) -> Spread:
    results = [result_of(run) for run in subject.runs]
    share = sum(
        result is not None and result.of_answers is Verdict.VALID for result in results
    ) / len(results)
    return Spread(share, share, share, len(results))
