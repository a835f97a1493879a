"""Lists what a study could not show, and why: missing runs and missing article values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.quantities import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.analysis.published.facts import Published
    from assay.record.studies import StudyRecord
    from assay.report.documents.study import FigureEntry, NotShownEntry

NAMED_MAX = 6
NOT_MEASURED = "the article has it, and no run of this study measures it"
WITHOUT_REASON = {
    "running": "begun, and killed or still under way",
    "interrupted": "stopped before the end",
}
LEVELS = "the article has it of these levels, and this study has others"


def not_shown(
    record: StudyRecord,
    figures: Sequence[FigureEntry],
    published: Published | None,
    unreadable: Mapping[str, str],
) -> Iterator[NotShownEntry]:
    """Yield each run or result that the study does not show, with the reason.

    Args:
        record: The study.
        figures: Figures of its document.
        published: Values of the article; None without an article.
        unreadable: Runs that cannot be read, by id.
    """
    yield from _runs(record)
    for part, why in record.without.items():
        yield {"what": f"part {part}", "why": why}
    for run, why in unreadable.items():
        yield {"what": f"run {run}", "why": why}
    for figure in figures:
        for why in figure["missing"]:
            yield {"what": figure["title"], "why": why}
        yield from _values(figure)
    yield from _figures(figures, published)


def _runs(record: StudyRecord) -> Iterator[NotShownEntry]:
    """Yield the missing runs of a study; runs with the same reason share an entry."""
    by_reason: dict[str, list[str]] = {}
    for run in record.missing():
        why = run.reason or WITHOUT_REASON.get(run.status, run.status)
        by_reason.setdefault(why, []).append(f"{run.part}: {run.variant}, round {run.round}")
    for why, names in by_reason.items():
        count = f"{len(names)} runs" if len(names) > 1 else "1 run"
        yield {"what": f"{count} ({listed(names, NAMED_MAX)})", "why": why}


def _values(figure: FigureEntry) -> Iterator[NotShownEntry]:
    """Yield values of the article for which the study has no quantity."""
    article = figure["article"]
    if article is None or not figure["subjects"]:
        return
    lacking = [
        compared["title"]
        for compared in article["compared"]
        if not compared["ours"] and compared["key"] not in article["inputs"]
    ]
    if lacking:
        yield {
            "what": f"{figure['title']}: {listed(lacking, NAMED_MAX)}",
            "why": LEVELS if figure["kind"] == "sweep" else NOT_MEASURED,
        }


def _figures(
    figures: Sequence[FigureEntry], published: Published | None
) -> Iterator[NotShownEntry]:
    """Yield published results that the study does not request, with their content."""
    names = {figure["name"] for figure in figures}
    for facts in () if published is None else published.figures:
        if facts.name not in names:
            claim = f": {facts.says.rstrip('.')}" if facts.says else ""
            yield {
                "what": f"{facts.section or facts.name}{claim}",
                "why": " ".join(facts.reasons) or "the study has no figure of it",
            }
