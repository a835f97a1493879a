"""The page of a diagnosis: one HTML file that needs no network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import seconds_text
from assay.report.diagnosis.charts import charts_of
from assay.report.diagnosis.words import (
    beside,
    dependent_share,
    gain_text,
    signed,
    step_words,
    title,
    way_words,
)
from assay.report.page.rendering import rendered_article

if TYPE_CHECKING:
    from assay.report.documents.diagnose import DiagnoseDocument, DiagnosisStep, TriedCause

TITLES = {"way": "Time after each step", "gains": "What each cause costs"}
ABOUT = {
    "way": "Each step keeps all earlier changes; the last bar is the time with all changes.",
    "gains": (
        "Time saved without the cause, in the operations that the cause affects. Intervals are "
        "valid after any number of rounds (95 % for all causes of a step together). With two or "
        "three rounds, they also assume that rounds of one kind differ by a bounded factor."
    ),
}


def diagnosis_page(document: DiagnoseDocument) -> str:
    """Return the document of a diagnosis as an HTML page."""
    drawn = charts_of(document)
    specs = {name: chart.to_dict() for name, chart in drawn.items()}
    return rendered_article(
        "diagnosis.html.j2",
        specs,
        document=document,
        title=title(document),
        way=way_words(document),
        charts=[{"id": name, "title": TITLES[name], "about": ABOUT[name]} for name in drawn],
        steps=[_step(step) for step in document["steps"]],
    )


def _step(step: DiagnosisStep) -> dict[str, object]:
    return {
        "title": step_words(step),
        "run": step["run"],
        "kept": step["kept"],
        "tried": [_tried(tried) for tried in step["tried"]],
        "untried": [
            *((cause, "cannot be tried") for cause in step["cannot_be_tried"]),
            *((cause, "left out") for cause in step["left_out"]),
        ],
    }


def _measured(tried: TriedCause) -> str | None:
    """Return the saved share of time, or the dependent share; None if plans gave the verdict."""
    if tried["by_plan"]:
        return None
    if tried["dependence"] is not None:
        return f"{dependent_share(tried['dependence']['share'])} depends on it"
    return gain_text(tried["gain"])


def _tried(tried: TriedCause) -> dict[str, object]:
    whole = tried["whole"]
    times = None
    if whole is not None:
        times = f"{seconds_text(whole['before_s'])} \u2192 {seconds_text(whole['after_s'])}"
    change = tried["cause"]["change"]
    return {
        "verdict": tried["verdict"],
        "key": tried["key"],
        "claim": tried["cause"]["claim"],
        "change": tried["change"],
        "says": tried["says"],
        "gain": _measured(tried),
        "whole": None if whole is None else signed(whole["share"]),
        "times": times,
        "rounds": tried["rounds"],
        "beside": list(beside(tried)),
        "why_not": tried["why_not"],
        "sql": change["sql"] if change is not None and tried["recommended"] else None,
        "record": tried["record"],
        "experiment": tried["experiment"],
    }
