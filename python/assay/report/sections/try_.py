"""Makes the document of `assay try --json`: the measured effect of a finding's advice."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, cast

from assay.analysis.plans.recorded import compare_plans, read_plans
from assay.analysis.try_.trial import judge_trial, times_for
from assay.checks import answers
from assay.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.try_.trial import Gain
    from assay.model.finding import Finding
    from assay.record.reader import Run
    from assay.report.documents.findings import FindingRow
    from assay.report.documents.try_ import (
        PlacedTrial,
        PredictionRow,
        TimeGain,
        TrialDocument,
        TriedAnswers,
        TriedPlan,
        TriedPlanChange,
    )

    Pair = tuple[Run, Run]


def trial_document(
    run: Run,
    finding: Finding,
    change: str,
    rounds: Sequence[Pair],
    measured: Gain | None = None,
) -> TrialDocument:
    """Return the document of a trial, without its directory and earlier trials.

    Args:
        run: The run with the finding.
        finding: The finding whose advice was tried.
        change: Short description of the change.
        rounds: Pairs of runs, without and with the change.
        measured: Gain of the judged operations; None means it is computed from the rounds.
    """
    advice = finding.advice
    predicted = None if advice is None else advice.gain_share
    times = [(times_for(advice, before), times_for(advice, after)) for before, after in rounds]
    trial = judge_trial(times, predicted, finding.operations, measured)
    return {
        "run": run.id,
        "workload": run.facts["workload"]["name"],
        "workload_title": run.facts["workload"]["title"],
        "engine": run.facts["engine"]["name"],
        "engine_title": run.facts["engine"]["title"],
        "engine_version": rounds[0][0].facts["engine"]["version"],
        "scale": run.facts["request"]["scale"],
        "scale_name": run.facts["workload"]["scale_name"],
        "own_tables": bool(run.facts["workload"].get("own_tables")),
        "finding": cast("FindingRow", finding.facts()),
        "change": change,
        "verdict": trial.verdict,
        "hit": trial.hit,
        "predicted": predicted,
        "gain": _gain(trial.gain),
        "of": "an operation" if times[0][0].whole_s is not None else "a pass",
        "operations": [
            {
                "operation": operation.operation,
                "predicted": operation.predicted,
                "gain": _gain(operation.gain),
            }
            for operation in trial.operations
        ],
        "judged": {
            "operations": list(trial.judged.operations),
            "predicted": trial.judged.predicted,
            "gain": _gain(trial.judged.gain),
        },
        "left_out": list(trial.left_out),
        "plans": plans_document(rounds[0], finding.operations),
        "answers": answers_document(rounds),
        "rounds": [{"before": before.id, "after": after.id} for before, after in rounds],
        "legal": run.facts["workload"]["legal"],
    }


def prediction(document: PlacedTrial, time_utc: str) -> PredictionRow:
    """Return the line of a trial for the file `predictions.jsonl`."""
    judged = document["judged"]
    gain = judged["gain"]
    return {
        "schema": 1,
        "time_utc": time_utc,
        "study": document["study"],
        "run": document["run"],
        "rounds": document["rounds"],
        "engine": document["engine"],
        "engine_version": document["engine_version"],
        "workload": document["workload"],
        "scale": document["scale"],
        "finding": document["finding"]["key"],
        "method": document["finding"]["method"],
        "change": document["change"],
        "judged": judged["operations"],
        "predicted": judged["predicted"],
        "measured": None if gain is None else gain["share"],
        "interval": None if gain is None else gain["interval"],
        "verdict": document["verdict"],
        "hit": document["hit"],
    }


def _gain(gain: Gain | None) -> TimeGain | None:
    return None if gain is None else cast("TimeGain", asdict(gain))


def plans_document(pair: Pair, operations: Sequence[str]) -> list[TriedPlan] | None:
    """Return plan changes of the named operations, or of all; None without plans.

    Args:
        pair: The runs of one round, without and with the change.
        operations: Operations that the finding concerns.
    """
    before, after = (read_plans(run) for run in pair)
    both = [name for name in operations or before if before.get(name) and after.get(name)]
    if not both:
        return None
    tried_plans: list[TriedPlan] = []
    for name in both:
        for old, new in zip(before[name], after[name], strict=False):
            comparison = compare_plans(old, new)
            changes: list[TriedPlanChange] = [
                {"kind": change.kind, "says": change.says} for change in comparison.changes
            ]
            tried_plans.append(
                {"operation": name, "changed": comparison.changed, "changes": changes}
            )
    return tried_plans


def answers_document(rounds: Sequence[Pair]) -> TriedAnswers:
    """Return a verdict on whether query results stayed equal after the tried change."""
    before = [answers.check(run) for run, _ in rounds]
    after = [answers.check(run) for _, run in rounds]
    worst = max(result.of_answers for result in after)
    wrong = [result.reason for result in after if result.verdict is Verdict.INVALID]
    if wrong:
        too = (
            "; it was before" if any(result.verdict is Verdict.INVALID for result in before) else ""
        )
        return {"verdict": worst.word, "words": f"{wrong[0]}{too}"}
    if worst is Verdict.VALID:
        return {
            "verdict": worst.word,
            "words": f"right in every run with the change ({len(after)})",
        }
    others = [
        name for name in _operations(rounds) if _rows(rounds, 1, name) - _rows(rounds, 0, name)
    ]
    if others:
        changed = f"{', '.join(others)} returned other rows than before"
    else:
        changed = "the same rows as before"
    unknown = next(result.reason for result in after if result.of_answers is Verdict.UNKNOWN)
    return {"verdict": worst.word, "words": f"{changed}; {unknown}"}


def _operations(rounds: Sequence[Pair]) -> list[str]:
    return list(rounds[0][0].facts["plan"]["operations"])


def _rows(rounds: Sequence[Pair], side: int, operation: str) -> set[str]:
    """Return digests of the rows that an operation returned without or with the change."""
    return {digest for pair in rounds for digest, _ in pair[side].results(operation)}
