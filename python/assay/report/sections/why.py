"""Makes the document that `assay why --json` prints: the bottlenecks of operations."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, cast

from assay.analysis.ceiling.trials import read_ceiling
from assay.analysis.figures.bounds.elasticity import placed_of
from assay.analysis.quantities import spread
from assay.analysis.try_.trial import gain_over, times_of
from assay.analysis.why.bottleneck import place_words, verdict_of
from assay.analysis.why.diagnosis import diagnose, operations_of
from assay.analysis.why.scarcity import is_unhindered
from assay.checks import answers
from assay.model.verdict import Verdict, worst
from assay.report.study.reading import read_runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.analysis.quantities import Spread
    from assay.analysis.study_runs import StudyRun
    from assay.analysis.why.bottleneck import Bottleneck
    from assay.analysis.why.diagnosis import Diagnosis, TimeResponse
    from assay.record.studies import StudyRecord
    from assay.report.documents.why import (
        BottleneckVerdict,
        BoundOperation,
        ResourceElasticity,
        SecondsSpread,
        VariantTime,
        WhyDocument,
        WhyHead,
    )

SCARCE = "scarce"


def why_document(record: StudyRecord, report: str | None) -> WhyDocument:
    """Return the document on the resources that limit a workload's operations.

    Args:
        record: Record of the study.
        report: Path of its article; None if it could not be written.
    """
    every, unreadable = read_runs(record)
    runs = [study_run for study_run in every if not study_run.is_ceiling]
    scarce = [study_run for study_run in runs if study_run.part == SCARCE]
    ceilings = [study_run for study_run in every if study_run.is_ceiling]
    return {
        **_head(runs),
        "question": record.question,
        "study": str(record.directory),
        "report": report,
        "status": record.status,
        "status_reason": record.reason,
        "pilot": record.about.get("pilot"),
        "ceiling": ceilings[0].run.id if ceilings else None,
        "rounds": max((study_run.round for study_run in scarce), default=0),
        "operations": [
            operation
            for name in operations_of(scarce)
            if (operation := _operation(name, runs, scarce, ceilings)) is not None
        ],
        "unvaried": dict(record.without),
        "missing": [
            {
                "part": absent.part,
                "variant": absent.variant,
                "reason": absent.reason or absent.status,
            }
            for absent in record.missing()
        ],
        "unreadable": unreadable,
    }


def _head(runs: Sequence[StudyRun]) -> WhyHead:
    """Return the facts that all runs of the study share."""
    if not runs:
        return {"verdict": "unknown", "answers": None, "legal": None}
    facts = runs[0].run.facts
    free = [study_run.run for study_run in runs if is_unhindered(study_run.run.facts["request"])]
    answers_verdict = max(
        (answers.check(run).of_answers for run in free[:1]), default=Verdict.UNKNOWN
    )
    return {
        "workload": facts["workload"]["name"],
        "workload_title": facts["workload"]["title"],
        "scale": facts["request"]["scale"],
        "scale_name": facts["workload"]["scale_name"],
        "own_tables": bool(facts["workload"].get("own_tables")),
        "engine": facts["engine"]["name"],
        "engine_title": facts["engine"]["title"],
        "engine_version": facts["engine"]["version"],
        "state": facts["request"].get("state"),
        "verdict": worst([check for study_run in runs for check in study_run.checks]).word,
        "answers": answers_verdict.word,
        "legal": facts["workload"].get("legal"),
    }


def _operation(
    name: str,
    runs: Sequence[StudyRun],
    scarce: Sequence[StudyRun],
    ceilings: Sequence[StudyRun],
) -> BoundOperation | None:
    placed = placed_of(scarce, read_ceiling(ceilings[0].run), name) if ceilings else None
    diagnosis = diagnose(scarce, name, placed)
    if diagnosis is None:
        return None
    verdict = verdict_of(diagnosis, place_words(placed))
    return {
        "operation": name,
        "verdict": _verdict(verdict),
        "seconds": _spread(diagnosis.time),
        "variants": list(_variants(name, runs)),
        "elasticities": [_answer(answer, diagnosis) for answer in diagnosis.answers],
        "unmeasured": dict(diagnosis.unmeasured),
        "sum": diagnosis.total,
        "sum_interval": diagnosis.interval,
        "missing_from_1": None if diagnosis.total is None else 1 + diagnosis.total,
        "shares": {} if diagnosis.demand is None else dict(diagnosis.demand.shares),
        "reads": None
        if placed is None
        else {
            "mean_bytes": placed.reads.size_bytes,
            "per_second": placed.reads.per_s,
            "at_once": placed.depth,
            "ceiling_per_second": None if placed.random is None else placed.random.value,
            "share_of_ceiling": placed.share,
        },
    }


def _verdict(verdict: Bottleneck) -> BottleneckVerdict:
    return {
        "kind": verdict.kind,
        "resources": list(verdict.resources),
        "words": verdict.sentence,
        "sum_words": verdict.sum_words,
        "remarks": list(verdict.remarks),
    }


def _answer(answer: TimeResponse, diagnosis: Diagnosis) -> ResourceElasticity:
    elasticity = answer.elasticity
    return {
        "resource": answer.resource,
        "method": answer.method,
        "value": None if elasticity is None else elasticity.value,
        "interval": None if elasticity is None else elasticity.interval,
        "shape": None if elasticity is None else elasticity.shape,
        "binds_below": None if elasticity is None else elasticity.binds_below,
        "may_be": answer.at_most,
        "counts": diagnosis.chosen.get(answer.resource) is answer,
        "levels": [
            {
                "name": level.name,
                "times_as_scarce": level.factor,
                "seconds": _spread(level.time),
                "left_out": level.left_out,
            }
            for level in answer.levels
        ],
    }


def _spread(seconds: Spread) -> SecondsSpread:
    return cast("SecondsSpread", asdict(seconds))


def _variants(operation: str, runs: Sequence[StudyRun]) -> Iterator[VariantTime]:
    """Yield an operation's time in each variant, and its change from the unlimited run."""
    seconds = {
        study_run.run.id: times_of(study_run.run).operations.get(operation) for study_run in runs
    }
    by_name: dict[str, dict[int, str]] = {}
    for study_run in runs:
        by_name.setdefault(next(iter(study_run.levels.values()), study_run.part), {})[
            study_run.round
        ] = study_run.run.id
    free = next(iter(by_name.values()), {})
    for name, ids in by_name.items():
        time = spread(seconds[run] for run in ids.values())
        if time is None:
            continue
        pairs = [
            (seconds[free[number]], seconds[run]) for number, run in ids.items() if number in free
        ]
        gain = None if ids is free or not pairs else gain_over(pairs)
        interval = None if gain is None or gain.interval is None else gain.interval
        yield {
            "name": name,
            "seconds": _spread(time),
            "change": None if gain is None else -gain.share,
            "change_interval": None if interval is None else [-interval[1], -interval[0]],
        }
