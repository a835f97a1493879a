"""Terminal output of a trial of a finding's advice, and of earlier trials."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from assay.analysis.findings.operation_shares import names_text
from assay.analysis.try_.trial import HIT_FACTOR
from assay.model.units import percent_text, seconds_text
from assay.report.words.run import workload_words
from assay.report.words.wrapping import labelled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.try_ import (
        PredictionHistory,
        PredictionRecord,
        TrialDocument,
        TriedPlan,
        TryDocument,
    )

LABEL_WIDTH = 9
OPERATIONS_MAX, PLANS_MAX, CHANGES_MAX = 6, 3, 2
MEANS = {
    "came true": "the gain is what was predicted",
    "smaller": "the change helps, and the gain is smaller than predicted",
    "larger": "the change helps, and the gain is larger than predicted",
    "no gain": "no gain beyond noise, and the predicted gain is ruled out",
    "slower": "it takes longer",
    "gain": "the change helps, without a prediction to compare with",
    "undecided": "the interval is too wide to decide: raise --repeat",
    "not compared": "no operation succeeded in all runs",
}
WITHOUT_INTERVAL = "one round has no interval: raise --repeat"
TOGETHER = "together"
NOTHING_RULED_OUT = "no gain beyond noise"


def trial_lines(document: TryDocument, width: int) -> Iterator[str]:
    """Yield the lines that `assay try` prints."""
    engine = f"{document['engine_title']} {document['engine_version']}"
    title = f"{document['change']}   {workload_words(document)} on {engine}"
    yield from textwrap.wrap(title, width, subsequent_indent="  ")
    yield from labelled("", f"to mend: {document['finding']['claim']}", width, LABEL_WIDTH)
    yield ""
    yield from _table(document)
    yield ""
    yield from labelled(document["verdict"].upper(), meaning(document), width, LABEL_WIDTH)
    yield from _plan_lines(document["plans"], width)
    yield from labelled("Answers", document["answers"]["words"], width, LABEL_WIDTH)
    if document["left_out"]:
        names = ", ".join(document["left_out"])
        yield from labelled("Not in", f"{names} did not succeed in every run", width, LABEL_WIDTH)
    yield from labelled(
        "History", history_words(document["calibration"], document), width, LABEL_WIDTH
    )
    yield f"{'Run':<{LABEL_WIDTH}}{document['run']}"
    yield f"{'Study':<{LABEL_WIDTH}}{document['study']}"
    if document["legal"]:
        yield f"{'':<{LABEL_WIDTH}}{document['legal']}"


def _plan_lines(plans: list[TriedPlan] | None, width: int) -> Iterator[str]:
    """Yield the first changes of each query plan in a trial."""
    if plans is None:
        return
    changed = [plan for plan in plans if plan["changes"]]
    if not changed:
        yield from labelled("Plans", "as they were", width, LABEL_WIDTH)
    for number, plan in enumerate(changed[:PLANS_MAX]):
        says = "; ".join(change["says"] for change in plan["changes"][:CHANGES_MAX])
        more = len(plan["changes"]) - CHANGES_MAX
        says += f"; {more} more" if more > 0 else ""
        yield from labelled(
            "" if number else "Plans", f"{plan['operation']}: {says}", width, LABEL_WIDTH
        )
    if len(changed) > PLANS_MAX:
        yield from labelled(
            "", f"{len(changed) - PLANS_MAX} more changed (--json)", width, LABEL_WIDTH
        )


def meaning(document: TrialDocument) -> str:
    """Return a sentence on the verdict of a trial, with its operations."""
    judged = document["judged"]
    if judged["gain"] is not None and judged["gain"]["interval"] is None:
        return WITHOUT_INTERVAL
    if document["verdict"] == "no gain" and judged["predicted"] is None:
        return NOTHING_RULED_OUT
    names = judged["operations"]
    of = f"of {names_text(names)}: " if names else ""
    return f"{of}{MEANS[document['verdict']]}"


def _table(document: TrialDocument) -> Iterator[str]:
    shown = document["operations"][:OPERATIONS_MAX]
    rows = [
        (document["of"], document),
        *((operation["operation"], operation) for operation in shown),
    ]
    if len(document["judged"]["operations"]) > 1:
        rows.append((TOGETHER, document["judged"]))
    names = max(len(name) for name, _ in rows)
    yield (
        f"  {'':<{names}} {'as it was':>10} {'changed':>10} {'saved':>9}"
        f" {'95 % interval':>20} {'predicted':>10}"
    )
    for name, row in rows:
        gain = row["gain"]
        if gain is None:
            yield f"  {name:<{names}} {'not compared':>10}"
            continue
        yield (
            f"  {name:<{names}} {seconds_text(gain['before_s']):>10}"
            f" {seconds_text(gain['after_s']):>10} {share_text(gain['share']):>9}"
            f" {_interval(gain['interval']):>20} {_predicted(row['predicted']):>10}"
        )
    left = len(document["operations"]) - len(shown)
    if left:
        yield f"  ... {left} more (--json)"


def share_text(share: float) -> str:
    """Return a share in % as text; the share may be negative."""
    return percent_text(share) if share >= 0 else f"-{percent_text(-share)}"


def _interval(interval: list[float] | tuple[float, float] | None) -> str:
    if interval is None:
        return ""
    return f"[{share_text(interval[0])}, {share_text(interval[1])}]"


def _predicted(share: float | None) -> str:
    return "" if share is None else share_text(share)


def history_words(calibration: PredictionHistory, document: TrialDocument | None = None) -> str:
    """Return text on how often predicted savings came true, for one method and for all."""
    if not calibration["decided"]:
        return "no prediction is decided yet"
    method = document["finding"]["method"] if document else None
    parts = []
    if method in calibration["methods"]:
        parts.append(f"{method} {record_words(calibration['methods'][method])}")
    return "; ".join([*parts, f"all advice {record_words(calibration)}"])


def record_words(record: PredictionRecord) -> str:
    """Return text such as `came true 4 of 5 times, measured / predicted 0.93 (median)`."""
    if not record["decided"]:
        return f"undecided {record['tried']} {_times(record['tried'])}"
    times = _times(record["decided"])
    text = f"came true {record['hits']} of {record['decided']} {times}"
    if record["ratio_median"] is not None:
        text += f", measured / predicted {record['ratio_median']:.2f} (median)"
    undecided = record["tried"] - record["decided"]
    return f"{text}, {undecided} undecided" if undecided else text


def _times(count: int) -> str:
    return "time" if count == 1 else "times"


def calibration_lines(calibration: PredictionHistory, place: str) -> Iterator[str]:
    """Yield the terminal lines of `assay try --history`: outcomes of earlier trials."""
    if not calibration["tried"]:
        yield f"Nothing was tried in {place} yet: assay try RUN FINDING."
        return
    names = max(len(name) for name in [*calibration["methods"], "all advice"])
    for name, record in calibration["methods"].items():
        yield f"  {name:<{names}}  {record_words(record)}"
    yield f"  {'all advice':<{names}}  {record_words(calibration)}"
    yield ""
    yield (
        f"True: the measured 95 % interval holds the prediction, or the gain is within a factor of"
        f" {HIT_FACTOR:g}. Undecided: the interval is as wide as the prediction, or wider."
    )
