"""Sentences of a study's report, for page, Markdown and terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypedDict

from assay.analysis.quantities import BYTES, listed, text
from assay.model.units import seconds_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.model.verdict import VerdictWord
    from assay.report.documents.study import (
        ArticleFigureEntry,
        DerivedEntry,
        DoubtEntry,
        PartEntry,
        StudyDocument,
    )

NUMBER = re.compile(r"(\d) (%|x|ns|µs|ms|s|min|h|B|KiB|MiB|GiB|TiB)(?=$|[\s.,;:)])")
ENDED = {
    "complete": "all of its runs were made",
    "partial": "some of its runs were left out",
    "failed": "some of its runs failed",
    "interrupted": "it was stopped",
    "running": "it has not ended",
}
MINUTE_S = 100
GIGA = 1e9
ANSWERS = "answers"


class DoubtRow(TypedDict):
    """A check that some runs failed: its first reason, and the number of other reasons."""

    verdict: VerdictWord
    check: str
    reason: str
    more: str
    runs: list[str]


class PartRow(TypedDict):
    """A section of a study as texts: its purpose, factors and number of runs."""

    name: str
    about: str
    varies: str
    runs: str


def paragraphs(question: str) -> list[str]:
    """Return the paragraphs of a study's question."""
    return [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", question)]


def short(document: StudyDocument) -> list[tuple[str, str]]:
    """Return the name and the first sentence of each result of a study."""
    return [
        (figure["name"], figure["says"][0])
        for figure in document["figures"]
        if figure["says"] and figure["kind"] != ANSWERS
    ]


def doubts_sentence(document: StudyDocument) -> str | None:
    """Return one sentence on why a study is not fully valid; None if it is valid."""
    runs_by_check: dict[str, set[str]] = {}
    for doubt in document["doubts"]:
        runs_by_check.setdefault(doubt["check"].replace("_", " "), set()).update(doubt["runs"])
    if not runs_by_check:
        return None
    many = len({run["run"] for run in document["runs"]})
    parts = [f"{name} in {len(runs)} of {many} runs" for name, runs in runs_by_check.items()]
    return f"What the checks doubt: {listed(parts, 8)}."


def doubt_rows(document: StudyDocument) -> list[DoubtRow]:
    """Return a row per failed check: first reason, number of runs, number of other reasons."""
    by_check: dict[tuple[VerdictWord, str], list[DoubtEntry]] = {}
    for doubt in document["doubts"]:
        by_check.setdefault((doubt["verdict"], doubt["check"]), []).append(doubt)
    return [
        {
            "verdict": verdict,
            "check": check.replace("_", " "),
            "reason": doubts[0]["reason"],
            "more": f"; {len(doubts) - 1} more of this check" if len(doubts) > 1 else "",
            "runs": sorted({run for doubt in doubts for run in doubt["runs"]}),
        }
        for (verdict, check), doubts in by_check.items()
    ]


def runs_sentence(document: StudyDocument) -> str:
    """Return a sentence on a study's runs: number, engines, duration and outcomes."""
    runs = len({run["run"] for run in document["runs"]})
    engines = list(dict.fromkeys(run["engine"] for run in document["runs"] if run["engine"]))
    took = document["took_seconds"]
    parts = [f"{runs} run{'s' if runs != 1 else ''}"]
    if engines:
        parts.append(f"of {listed(engines, 8)}")
    made = sum(bool(part["runs"]) for part in document["parts"])
    if made > 1:
        parts.append(f"in {made} parts")
    if took is not None:
        parts.append(f"took {minutes(took)}")
    ended = ENDED.get(document["status"], document["status"])
    reason = f" ({document['status_reason']})" if document["status_reason"] else ""
    lost = ", and some of their records can no longer be read" if _lost(document) else ""
    return f"{' '.join(parts)}; {ended}{reason}{lost}."


def _lost(document: StudyDocument) -> bool:
    """Return True if a completed run has no readable record."""
    parts = document["parts"]
    ended = sum(variant["runs"] for part in parts for variant in part["variants"])
    return bool(ended > sum(part["runs"] for part in parts))


def minutes(seconds: float) -> str:
    """Return a duration as text: long times in minutes, short times in seconds."""
    return seconds_text(seconds) if seconds < MINUTE_S else f"{seconds / 60:.0f} min"


def part_rows(document: StudyDocument) -> list[PartRow]:
    """Return a row for each section of a study: its purpose, factors and number of runs."""
    return [
        {
            "name": part["name"],
            "about": part["about"] or "",
            "varies": "; ".join(_levels(part)) or "nothing",
            "runs": _runs(part),
        }
        for part in document["parts"]
    ]


def _levels(part: PartEntry) -> Iterator[str]:
    factors: dict[str, dict[str, None]] = {}
    for variant in part["variants"]:
        for factor, name in variant["levels"].items():
            factors.setdefault(factor, {})[name] = None
    for factor, names in factors.items():
        yield f"{factor.removeprefix('set.')}: {', '.join(names)}"


def _runs(part: PartEntry) -> str:
    asked = len(part["variants"]) * part["repetitions"]
    return str(asked) if part["runs"] == asked else f"{part['runs']} of {asked}"


def derived_sentence(derived: DerivedEntry) -> str:
    """Return a sentence on a value that the article derived, and its recomputed value."""
    # Published articles use decimal units for bytes.
    decimal = derived["unit"] == BYTES
    value = (
        f"{derived['value'] / GIGA:.3g} GB" if decimal else text(derived["value"], derived["unit"])
    )
    name = f"{derived['name'][:1].upper()}{derived['name'][1:]}"
    but = "; its own figures give" if derived["agrees"] else ", but its own figures give"
    return f"{name}: {derived['printed']} in the article{but} {value}."


def source_text(document: StudyDocument, figure: ArticleFigureEntry) -> str:
    """Return the published article's name, with the section of one of its results."""
    article, section = document["article"], figure["section"]
    name = "" if article is None else article["words"]
    return f"{name}, section “{section}”" if section else name


def bound(text: str) -> str:
    """Return a text with non-breaking spaces between numbers and their units."""
    return NUMBER.sub("\\1\u00a0\\2", text)
