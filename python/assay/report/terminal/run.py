"""Terminal output that explains a run: its time, causes, plans and CPU samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.report.terminal.cluster import cluster_lines
from assay.report.terminal.findings import cause_lines
from assay.report.terminal.memory import memory_lines
from assay.report.terminal.plan_work import plan_work_lines
from assay.report.terminal.plans import overview_lines
from assay.report.terminal.profile import profile_lines, titled
from assay.report.terminal.where import whole_lines
from assay.report.words.counted import counted_lines
from assay.report.words.storage import storage_lines
from assay.report.words.wrapping import indented, labelled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.report.documents.profile.profile import ProfileSection
    from assay.report.documents.run import RunDocument


def run_lines(
    document: RunDocument,
    profile: ProfileSection | str,
    width: int,
    *,
    tried: Mapping[str, str],
    all_symbols: bool = False,
    open_families: bool = False,
) -> Iterator[str]:
    """Yield the lines that `assay explain` prints of a run.

    Args:
        document: The run's document.
        profile: The section `profile`, or the reason why it is missing.
        width: Maximum width of a line.
        tried: Sentence on the results of earlier trials, by method of findings.
        all_symbols: Whether all symbols are shown.
        open_families: Whether the functions of each template are shown, too.
    """
    yield titled(document, width)
    yield ""
    yield from whole_lines(document, width)
    yield ""
    yield from cause_lines(document, width, tried)
    yield ""
    yield from _plans(document, width)
    yield from memory_lines(document, width, everything=all_symbols)
    yield ""
    yield from storage_lines(document, width, everything=all_symbols)
    yield from plan_work_lines(document, profile, width)
    yield from cluster_lines(document, width)
    yield from counted_lines(document, width)
    if isinstance(profile, str):
        yield from labelled("CPU samples", f"not measured, {profile}", width)
    else:
        shown = {"all_symbols": all_symbols, "open_families": open_families}
        yield from profile_lines(profile, width, **shown)


def _plans(document: RunDocument, width: int) -> Iterator[str]:
    if not document["plans"]:
        reason = document["plan_capture"]["reason"] or "no statement has one"
        yield from labelled("Plans", f"not measured, {reason}", width)
        return
    yield from indented("Plans, captured outside of the timed part", "", width)
    yield from overview_lines(document, width)
    yield from indented("A complete plan: assay explain RUN --operation NAME", "  ", width)
