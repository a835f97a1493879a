"""Makes the document of `assay diagnose --json`. Its only side effect is reading records."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, cast

from assay.analysis.diagnose.judging import TRIED_ROUNDS_MAX
from assay.analysis.diagnose.way import interactions, points
from assay.analysis.findings.operation_shares import names_text
from assay.analysis.host.memory import memory_peaks
from assay.analysis.load_plan import load_of
from assay.analysis.summarise import summarise
from assay.model.units import duration_text, percent_text
from assay.report.diagnosis.spoiling import spoiled_by_change
from assay.report.diagnosis.words import dependent_share, shortage_words
from assay.report.sections.try_ import trial_document

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from assay.analysis.diagnose.judging import Dependence, Judgement
    from assay.analysis.diagnose.way import Shortage, Step, Tried, Untried, Way
    from assay.analysis.try_.calibration import Calibration
    from assay.analysis.try_.trial import Gain
    from assay.record.reader import Run
    from assay.report.documents.diagnose import (
        DependentTime,
        DiagnoseDocument,
        DiagnosisStep,
        Experimented,
        TriedCause,
        UntriedCause,
    )
    from assay.report.documents.findings import FindingRow
    from assay.report.documents.try_ import TimeGain

ENDINGS = {
    "no cause left": "no known cause is left above noise",
    "budget": "the budget ended before every cause had a verdict",
    "nothing can be tried": "none of the remaining causes can be tried on this host",
}

TOO_NOISY = "the runs vary too much for a verdict: make them longer (--time, --min-time)"
PLANS_STAYED = "no plan changed, and this change affects the time through plans only"
NOTHING_RUN = "no plan changes with it; nothing was run"
# A cause with a larger share of the time is named if it cannot be tried.
LARGE_MIN = 0.05
# With fewer rounds, the variation between runs is not known.
ROUNDS_MIN = 2


def diagnose_document(
    way: Way,
    operations: Sequence[str],
    declared: Mapping[str, Experimented],
    history: Calibration,
    run_s: float | None,
) -> DiagnoseDocument:
    """Return the document of a diagnosis; its `path` is added when it is written.

    Args:
        way: All steps of the diagnosis.
        operations: Requested operations; empty means all.
        declared: Declarations of experiments, by kind.
        history: Results of trials of advice before this diagnosis.
        run_s: Duration of a run in seconds; None if not known.
    """
    pilot = way.steps[0].run
    facts = pilot.facts
    steps = [_step(step, declared, history, run_s) for step in way.steps]
    return {
        "run": pilot.id,
        "workload": facts["workload"]["name"],
        "workload_title": facts["workload"]["title"],
        "engine": facts["engine"]["name"],
        "engine_title": facts["engine"]["title"],
        "engine_version": facts["engine"]["version"],
        "scale": facts["request"]["scale"],
        "scale_name": facts["workload"]["scale_name"],
        "own_tables": bool(facts["workload"].get("own_tables")),
        "operations": list(operations),
        "of": _of(steps, operations),
        "steps": steps,
        "way": [
            {"change": point.change, "seconds": point.seconds, "runs": point.runs}
            for point in points(way.steps)
        ],
        "interactions": list(interactions(way.steps)),
        "ending": way.ending,
        "left": _left(way, run_s),
        "legal": facts["workload"]["legal"],
    }


def _of(steps: Sequence[DiagnosisStep], operations: Sequence[str]) -> str:
    if len(operations) == 1:
        return operations[0]
    tried = [tried for step in steps for tried in step["tried"]]
    trials = [trial for cause in tried if (trial := cause["trial"]) is not None]
    return trials[0]["of"] if trials else "a pass"


def _step(
    step: Step,
    declared: Mapping[str, Experimented],
    history: Calibration,
    run_s: float | None,
) -> DiagnosisStep:
    return {
        "run": step.run.id,
        "on_top_of": list(step.on_top_of),
        "tried": [_tried(tried, step, declared, history, run_s) for tried in step.tried],
        "cannot_be_tried": [_untried(untried) for untried in step.untriable],
        "left_out": [_untried(untried) for untried in step.left_out],
        "kept": None if step.kept is None else step.kept.change,
    }


def _untried(untried: Untried) -> UntriedCause:
    return {
        "key": untried.cause.key,
        "claim": untried.cause.claim,
        "why": untried.why,
        "change": untried.change,
    }


def _tried(
    tried: Tried,
    step: Step,
    declared: Mapping[str, Experimented],
    history: Calibration,
    run_s: float | None,
) -> TriedCause:
    judgement = tried.judgement
    trial = None
    if tried.rounds:
        # The diagnosis looked at the interval after each round, so only its own is valid.
        measured = judgement.gain if judgement.dependence is None else None
        trial = trial_document(step.run, tried.cause, tried.change, tried.rounds, measured)
    why_not = _why_not(tried, declared[tried.kind])
    return {
        "key": tried.cause.key,
        "cause": cast("FindingRow", tried.cause.facts()),
        "change": tried.change,
        "experiment": declared[tried.kind],
        "verdict": judgement.verdict,
        "says": verdict_words(judgement, run_s),
        "by_plan": judgement.by_plan,
        "rounds": judgement.rounds,
        "rounds_needed": judgement.rounds_needed,
        "gain": _gain(judgement.gain),
        "whole": _gain(judgement.whole),
        "dependence": _dependence(judgement.dependence),
        "slower": [{"operation": op.operation, "share": op.share} for op in judgement.slower],
        "takes_back": tried.takes_back,
        "memory": _most_and_least(tried.rounds, _peak_bytes),
        "disk": _most_and_least(tried.rounds, _data_bytes),
        "set_up_s": _set_up_s(tried),
        "recommended": _is_recommended(judgement, why_not),
        "why_not": why_not,
        "record": history.sentence(tried.cause.method),
        "trial": trial,
    }


def verdict_words(judgement: Judgement, run_s: float | None) -> str:
    """Return a clause on the measurements that a verdict on a cause is based on."""
    if judgement.dependence is not None and judgement.verdict != "undecided":
        return _dependence_words(judgement.dependence)
    if judgement.loss_min is not None and judgement.verdict != "undecided":
        return _superfluous_words(judgement)
    return _gain_words(judgement, run_s)


def _gain_words(judgement: Judgement, run_s: float | None) -> str:
    gain = judgement.gain
    of = f" of {names_text(judgement.operations)}" if judgement.operations else ""
    if judgement.by_plan:
        return PLANS_STAYED if judgement.rounds else NOTHING_RUN
    if gain is None:
        return "no operation succeeded in all runs"
    if judgement.verdict == "confirmed" and gain.interval is not None:
        low, high = (percent_text(end) for end in gain.interval)
        return f"without it {percent_text(gain.share)} of the time{of} is saved, {low} to {high}"
    if judgement.verdict == "refuted" and gain.interval is not None:
        most = gain.interval[1]
        if most < 0:
            return f"without it the time{of} is longer, by {percent_text(-most)} at least"
        return f"without it less than {percent_text(judgement.gain_min)} of the time{of} is saved"
    return _undecided_words(judgement, run_s)


def _superfluous_words(judgement: Judgement) -> str:
    """Return a clause on the loss without an earlier change, for a decided verdict."""
    gain, names = judgement.gain, names_text(judgement.operations)
    low, high = (-1.0, 1.0) if gain is None or gain.interval is None else gain.interval
    time = f"without it the time of {names or 'all operations'} is"
    if judgement.verdict == "confirmed" and low > 0:
        return f"no longer needed: {time} shorter, by {percent_text(low)} at least"
    if judgement.verdict == "confirmed":
        return f"no longer needed: {time} {percent_text(-low)} longer at most"
    if high < 0:
        return f"still needed: {time} longer, by {percent_text(-high)} at least"
    others = names_text([operation.operation for operation in judgement.slower])
    return f"still needed: without it {others or 'the whole'} takes longer"


def _dependence_words(dependence: Dependence) -> str:
    """Return a clause on the share of the time that depends on a slowed resource."""
    share = f"{dependent_share(dependence.share)} of the time depends on it"
    if dependence.interval is None:
        return share
    low, high = map(dependent_share, dependence.interval)
    return f"{share}, {low} to {high}"


def _dependence(dependence: Dependence | None) -> DependentTime | None:
    return None if dependence is None else cast("DependentTime", asdict(dependence))


def _undecided_words(judgement: Judgement, run_s: float | None) -> str:
    if judgement.rounds < ROUNDS_MIN:
        return "one round does not show the noise: several rounds are needed"
    if judgement.rounds == ROUNDS_MIN:
        return f"two rounds are too few to know the noise{_needed_words(judgement, run_s)}"
    return (
        f"{judgement.rounds} rounds do not separate it from noise{_needed_words(judgement, run_s)}"
    )


def _needed_words(judgement: Judgement, run_s: float | None) -> str:
    """Return a clause on how many rounds would decide, if they vary like those so far."""
    needed = judgement.rounds_needed
    if needed is None:
        return "; many more would not decide either"
    if needed > TRIED_ROUNDS_MAX:
        return f"; {needed} would probably decide, and a step makes at most {TRIED_ROUNDS_MAX}"
    more = needed - judgement.rounds
    took = "" if run_s is None else f", in {duration_text(2 * more * run_s)}"
    return f"; {more} more would probably decide{took}"


def _is_recommended(judgement: Judgement, why_not: str | None) -> bool:
    removes_cause = judgement.verdict == "confirmed" and judgement.dependence is None
    return removes_cause and why_not is None


def _why_not(tried: Tried, experiment: Experimented) -> str | None:
    """Return why a confirmed cause's change is not recommended."""
    judgement = tried.judgement
    if judgement.verdict != "confirmed" or judgement.dependence is not None:
        return None
    if experiment["gain_means"] is not None:
        return f"it changes {experiment['changes']}; {experiment['gain_means']}"
    if (spoiled := spoiled_by_change(tried.rounds)) is not None:
        return spoiled
    if judgement.saved_s <= 0 and tried.takes_back is None:
        return "other operations take longer by more than is saved"
    return None


def _most_and_least(
    rounds: Sequence[tuple[Run, Run]], bytes_of: Callable[[Run], float | None]
) -> tuple[float | None, float | None]:
    """Return the most bytes of any run without the change, and the fewest of any with it."""
    before = [bytes_of(run) for run, _ in rounds]
    after = [bytes_of(run) for _, run in rounds]
    sizes = [size for size in before if size is not None]
    changed = [size for size in after if size is not None]
    return max(sizes, default=None), min(changed, default=None)


def _data_bytes(run: Run) -> float | None:
    size = (run.facts.get("state") or {}).get("data_bytes")
    return None if size is None else float(size)


def _set_up_s(tried: Tried) -> float | None:
    """Return the longest seconds of the SQL file that makes the change; None without one."""
    seconds = [
        float(file["seconds"])
        for _, run in tried.rounds
        for file in run.facts.get("prepared") or ()
        if file["file"] == tried.change
    ]
    return max(seconds, default=None)


def _peak_bytes(run: Run) -> float | None:
    _, peak = memory_peaks(run, under_load=load_of(run.facts) is not None)
    return None if peak.rss_bytes is None else float(peak.rss_bytes)


def _gain(gain: Gain | None) -> TimeGain | None:
    return None if gain is None else cast("TimeGain", asdict(gain))


def _shortage_text(shortage: Shortage, tried: Sequence[Tried], run_s: float | None) -> str:
    """Return a clause on the time limit that suffices, by the variation of the rounds so far."""
    judgements = [each.judgement for each in tried if each.judgement.rounds >= ROUNDS_MIN]
    needed = [judgement.rounds_needed or math.inf for judgement in judgements]
    rounds = min(needed, default=0)
    if rounds > TRIED_ROUNDS_MAX:
        return TOO_NOISY
    more = max(0, int(rounds) - shortage.rounds)
    enough_s = shortage.enough_s + 2 * more * (run_s or 0.0)
    return shortage_words(replace(shortage, rounds=shortage.rounds + more, enough_s=enough_s))


def _left(way: Way, run_s: float | None) -> str:
    """Return text on why the diagnosis ended, and what limits the run at the end."""
    bound = next(
        (finding for finding in summarise(way.last).findings if finding.tells == "bound"), None
    )
    ending = ENDINGS[way.ending]
    last = way.steps[-1]
    tried = [tried for step in way.steps for tried in step.tried if tried.rounds]
    has_verdict = any(each.judgement.verdict != "undecided" for each in tried)
    if way.ending == "budget" and way.shortage is not None and not has_verdict:
        ending = _shortage_text(way.shortage, tried, run_s)
    if way.ending == "no cause left" and any(
        tried.judgement.verdict == "confirmed" and tried.judgement.dependence is None
        for tried in last.tried
    ):
        ending = "the remaining confirmed causes have no change to keep"
    large = [one.cause for one in last.untriable if one.cause.effect_share >= LARGE_MIN]
    if way.ending == "no cause left" and large:
        causes = names_text([f"{each.key} ({percent_text(each.effect_share)})" for each in large])
        ending += f", apart from what cannot be tried: {causes}"
    return ending if bound is None else f"{ending}. {bound.claim}"
