"""Terminal output of thread time of plans by kind of work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.report.terminal.profile import work_lines
from assay.report.words.plan_work import ABOUT, is_wanted, mixed_words, why_words
from assay.report.words.wrapping import indented

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.profile.profile import ProfileSection
    from assay.report.documents.run import RunDocument


def plan_work_lines(
    document: RunDocument, profile: ProfileSection | str | None, width: int
) -> Iterator[str]:
    """Yield thread time of plans by kind of work, unless CPU samples show it already."""
    plan_work = document["plan_work"]
    if not plan_work["work"] or not is_wanted(profile):
        return
    yield from indented("Time by kind of work, from plans", "", width)
    yield from work_lines(plan_work["work"], width)
    for sentence in (why_words(profile), ABOUT, *mixed_words(plan_work)):
        yield from indented(sentence, "  ", width)
    yield ""
