"""How far a study is: which of its runs are there, which failed, which were left out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from assay.model.units import seconds_text
from assay.record.layout import STATUS_COMPLETE
from assay.report.build import stored

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.record.studies import StudyRecord, StudyRun


def study_document(record: StudyRecord) -> dict[str, Any]:
    """What `assay study --json` prints.

    Its `runs` are those that ended well, `missing` the others that were asked for.
    """
    return {
        "study": record.directory.name,
        "path": str(record.directory),
        "title": record.title,
        "question": record.question,
        "status": record.status,
        "reason": record.reason,
        "parts": [
            {"name": part.name, "repetitions": part.repetitions, "variants": len(part.variants)}
            for part in record.parts
        ],
        "runs": [_run(run) | {"verdict": _verdict(run)} for run in record.complete],
        "missing": [_run(run) for run in record.missing()],
    }


def study_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """The same for people: a line a variant, then what is missing, by its reason."""
    yield str(document["title"] or document["study"])
    made = Counter((run["part"], run["variant"]) for run in document["runs"])
    asked = made + Counter((run["part"], run["variant"]) for run in document["missing"])
    width = max((len(variant) for _, variant in asked), default=0)
    shown = ""
    for part, variant in sorted(asked, key=_order(document)):
        if part != shown:
            yield f"  {part}"
            shown = part
        runs = [run for run in document["runs"] if (run["part"], run["variant"]) == (part, variant)]
        worst = next((one for one in WORST if one in {run["verdict"] for run in runs}), "")
        seconds = ", ".join(seconds_text(run["seconds"]) for run in runs if run["seconds"])
        count = f"{made[part, variant]} of {asked[part, variant]}"
        yield f"    {variant:<{width}}  {count:>8}  {worst:<8}  {seconds}".rstrip()
    reasons = Counter((run["status"], run["reason"] or "") for run in document["missing"])
    for (status, reason), number in reasons.items():
        yield f"  {number} {status}: {' '.join(reason.split())}"
    yield f"  {document['status']}  {document['path']}"


WORST = ("invalid", "unknown", "valid")


def _order(document: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a key to sort by
    parts = [part["name"] for part in document["parts"]]
    return lambda one: (parts.index(one[0]), one[1])


def _run(run: StudyRun) -> dict[str, Any]:
    return {
        "part": run.part,
        "variant": run.variant,
        "levels": dict(run.levels),
        "round": run.round,
        "run": None if run.path is None else run.path.name,
        "status": run.status,
        "reason": run.reason,
        "seconds": run.seconds,
    }


def _verdict(run: StudyRun) -> str | None:
    told = stored(run.path) if run.path is not None and run.status == STATUS_COMPLETE else None
    return None if told is None else str(told["verdict"])
