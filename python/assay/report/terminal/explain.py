"""Terminal output of `assay explain`: causes, plans and CPU samples of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.report.results.explain import (
    ExplainedDifference,
    ExplainedOperation,
    ExplainedRun,
    ExplainedSamples,
    MissingRules,
)
from assay.report.terminal.article import article_lines
from assay.report.terminal.before_after import before_after_lines
from assay.report.terminal.difference import compared_lines, uncompared_lines
from assay.report.terminal.operation import operation_lines
from assay.report.terminal.plans import changed_line, difference_lines
from assay.report.terminal.run import run_lines
from assay.report.words.missing_rules import skeleton_lines
from assay.report.words.run import title
from assay.report.words.wrapping import indented

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.results.explain import Explanation


def explained_lines(
    explained: Explanation, width: int, *, all_symbols: bool = False, open_families: bool = False
) -> Iterator[str]:
    """Yield the lines that `assay explain` prints.

    Args:
        explained: Result of `assay explain`.
        width: Maximum width of a line.
        all_symbols: Whether all symbols are shown.
        open_families: Whether the functions of each template are shown, too.
    """
    shown = {"all_symbols": all_symbols, "open_families": open_families}
    match explained:
        case ExplainedRun(report, profile, no_profile, tried):
            yield from run_lines(report, profile or no_profile, width, tried=tried, **shown)
        case ExplainedOperation(report, operation, profile, no_profile):
            yield from operation_lines(report, operation, profile or no_profile, width, **shown)
        case ExplainedSamples(report, samples):
            yield from article_lines(title(report), samples, all_symbols=all_symbols)
        case MissingRules(run, rows, outermost):
            yield from skeleton_lines(rows, run, outermost=outermost, all_symbols=all_symbols)
        case ExplainedDifference():
            yield from _difference_lines(explained, width, all_symbols=all_symbols)


def _difference_lines(
    explained: ExplainedDifference, width: int, *, all_symbols: bool
) -> Iterator[str]:
    """Yield the differences in CPU samples, then those in plans, as terminal lines."""
    if explained.unequal is not None:
        yield explained.unequal
    if explained.samples is None:
        yield from uncompared_lines(explained.ours, explained.theirs, width)
    else:
        yield from compared_lines(
            explained.ours, explained.theirs, explained.samples, width, all_symbols=all_symbols
        )
    yield ""
    if explained.operation is None:
        yield from before_after_lines(explained.times, width)
        yield ""
    yield from _plan_lines(explained, width)
    if explained.page is not None:
        yield f"Page {explained.page}"


def _plan_lines(explained: ExplainedDifference, width: int) -> Iterator[str]:
    if explained.no_plans is not None:
        yield from indented(f"Plans: not compared, {explained.no_plans}", "", width)
    elif explained.operation is None or not explained.plans:
        yield changed_line(explained.plans)
    else:
        yield from difference_lines(explained.plans, width)
