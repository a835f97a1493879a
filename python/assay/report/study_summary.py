"""How far a study is, for terminals: which of its runs are there, which failed or were left out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from assay.model.units import duration_text
from assay.report.build import stored

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.record.studies import StudyPart, StudyRecord, StudyRun

# Verdicts of runs, the worst first.
VERDICTS = ("invalid", "unknown", "valid")


def study_lines(record: StudyRecord) -> Iterator[str]:
    """A line a variant, then what is missing, by its reason."""
    yield record.title or record.question
    for part in record.parts:
        yield f"  {part.name}"
        yield from _variants(part, [run for run in record.complete if run.part == part.name])
    missing = Counter(
        (run.status, " ".join((run.reason or "").split())) for run in record.missing()
    )
    for (status, reason), number in missing.items():
        yield f"  {number} {status}: {reason}" if reason else f"  {number} {status}"


def _variants(part: StudyPart, runs: Sequence[StudyRun]) -> Iterator[str]:
    width = max(len(variant.name) for variant in part.variants)
    for variant in part.variants:
        own = [run for run in runs if run.variant == variant.name]
        verdicts = {_verdict(run) for run in own}
        worst = next((verdict for verdict in VERDICTS if verdict in verdicts), "")
        took = ", ".join(duration_text(run.seconds) for run in own if run.seconds is not None)
        count = f"{len(own)} of {max(part.repetitions, len(own))}"
        yield f"    {variant.name:<{width}}  {count:>8}  {worst:<8}  {took}".rstrip()


def _verdict(run: StudyRun) -> str | None:
    """The verdict of a run, as it was judged when it was over."""
    told = None if run.path is None else stored(run.path)
    return None if told is None else str(told["verdict"])
