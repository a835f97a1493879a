"""Makes the lines of `predictions.jsonl` from the verdicts of `assay diagnose`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.report.sections.try_ import prediction

if TYPE_CHECKING:
    from assay.report.documents.diagnose import DiagnoseDocument, TriedCause
    from assay.report.documents.try_ import PredictionRow


def decided_prediction(
    document: DiagnoseDocument, tried: TriedCause, study: str, time_utc: str
) -> PredictionRow:
    """Return the line of a decided cause for the file `predictions.jsonl`.

    A cause that plans refute is a miss of its method, although its gain was not measured.

    Args:
        document: Document of the diagnosis.
        tried: The cause, whose verdict is not `undecided`.
        study: Name of the directory of the study.
        time_utc: Time of the line.
    """
    trial = tried["trial"]
    if trial is not None and not tried["by_plan"]:
        return prediction({**trial, "study": study}, time_utc)
    advice = tried["cause"]["advice"]
    predicted = None if advice is None else advice["gain_share"]
    return {
        "schema": 1,
        "time_utc": time_utc,
        "study": study,
        "run": document["run"],
        "rounds": [] if trial is None else trial["rounds"],
        "engine": document["engine"],
        "engine_version": document["engine_version"],
        "workload": document["workload"],
        "scale": document["scale"],
        "finding": tried["key"],
        "method": tried["cause"]["method"],
        "change": tried["change"],
        "judged": list(tried["cause"]["operations"]),
        "predicted": predicted,
        "measured": None,
        "interval": None,
        "verdict": "no gain",
        "hit": None if predicted is None else False,
    }
