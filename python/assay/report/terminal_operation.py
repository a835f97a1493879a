"""One operation on one page of a terminal: its time, what was found about it, its CPU, its plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.analysis.causes import CAUSES
from assay.model.units import bytes_text, count_text, percent_text, seconds_text
from assay.report.operation_section import operation_of
from assay.report.terminal import bar, operation_time
from assay.report.terminal_plans import plan_lines
from assay.report.terminal_profile import profile_lines, time_line, titled
from assay.report.why_page import carry_out
from assay.report.wrapping import indented, labelled

if TYPE_CHECKING:
    from collections.abc import Iterator

CAUSE_BAR_WIDTH = 24
# What stands beside the bar and the cause.
FIGURES_WIDTH = 20
# Causes with less are one line.
CAUSE_SHARE_MIN = 0.0005
# Evidence at such a place is of one operation.
OF_OPERATIONS = frozenset({"where", "plan", "profile"})


def operation_lines(
    document: dict[str, Any],
    name: str,
    profile: dict[str, Any] | str,
    width: int,
    *,
    all_symbols: bool = False,
    open_families: bool = False,
) -> Iterator[str]:
    """What `assay explain --operation` prints of one operation.

    Args:
        document: The run's document.
        name: The operation.
        profile: The section `profile` of this operation, or why there is none.
        width: How wide lines may be.
        all_symbols: Whether all symbols are shown.
        open_families: Whether the functions of each template are shown, too.
    """
    told = operation_of(document, name)
    operation = told["operation"]
    yield titled(document, width)
    yield f"{name}  {operation['title']}".rstrip()
    yield ""
    yield from time_lines(operation, width)
    yield ""
    yield from why_lines(document["run"], told, width)
    yield ""
    yield from _plan(told, width, everything=all_symbols)
    yield ""
    if isinstance(profile, str):
        yield from labelled("CPU samples", f"not measured, {profile}", width)
    else:
        shown = {"all_symbols": all_symbols, "open_families": open_families}
        yield from profile_lines(profile, width, **shown)


def _plan(told: dict[str, Any], width: int, *, everything: bool) -> Iterator[str]:
    capture = told["plan_capture"]
    if not told["plans"] and not capture["missing"]:
        yield from labelled("Plan", f"not measured, {capture['reason']}", width)
    yield from plan_lines(told["plans"], capture, width, everything=everything)


def time_lines(operation: dict[str, Any], width: int) -> Iterator[str]:
    """The time of an operation, and what its threads did meanwhile, cause by cause."""
    if operation["seconds"] is None:
        yield from labelled("Time", operation_time(operation), width)
        return
    yield from labelled("Time", "; ".join(_time_facts(operation)), width)
    where, seconds = operation["where"], operation["seconds"]
    known = [(cause, where[cause.name]) for cause in CAUSES if where[cause.name] is not None]
    if not known:
        yield from labelled("Where", "not measured: no counters were read around it", width)
        return
    yield from labelled("Wall", time_line([operation], operation["name"]) or "", width)
    told = [(cause.title, share) for cause, share in known if share >= CAUSE_SHARE_MIN]
    words = max(len(title) for title, _ in told)
    longest = max(share for _, share in told)
    length = max(0, min(CAUSE_BAR_WIDTH, width - words - FIGURES_WIDTH))
    for title, share in told:
        drawn = bar(share / longest, length)
        figures = f"{percent_text(share):>6}  {seconds_text(share * seconds):>7}"
        yield f"  {title:<{words}}  {drawn:<{length}} {figures}"
    if operation["coverage"] is not None:
        yield from labelled("Accounted for", _coverage(operation), width)


def why_lines(run: str, told: dict[str, Any], width: int) -> Iterator[str]:
    """The findings that are about an operation, with what they rest on and what to try."""
    found = told["findings"]
    if not found:
        yield from labelled("Why", f"no finding names {told['operation']['name']}", width)
        return
    yield "Why"
    for number, finding in enumerate(found, start=1):
        effect = f"{percent_text(finding['effect_share'])} of the run"
        claim = f"{finding['claim']} ({effect}; {finding['interval_words']})"
        yield from indented(claim, f"  {number}  ", width)
        for one in _evidence_of(finding, told["operation"]["name"]):
            yield from indented(one["says"], "     - ", width)
        if finding["to_try"]:
            yield from indented(f"To try: {finding['to_try']}", "     ", width)
        command = carry_out(run, finding)
        if command is not None:
            yield from indented(f"Carry it out: {command}", "     ", width)


def _evidence_of(finding: dict[str, Any], name: str) -> list[dict[str, str]]:
    """What a finding rests on, without what is of other operations."""
    places = [one["at"].partition(":") for one in finding["evidence"]]
    return [
        one
        for one, (kind, _, of) in zip(finding["evidence"], places, strict=True)
        if kind not in OF_OPERATIONS or of in ("", name)
    ]


def _time_facts(operation: dict[str, Any]) -> Iterator[str]:
    passes = operation["passes"]
    spread = ""
    if passes > 1:
        edges = (operation["seconds_min"], operation["seconds_max"])
        spread = f", {seconds_text(edges[0])} to {seconds_text(edges[1])}"
    median = f"median of {passes} passes" if passes > 1 else "one pass"
    yield f"{seconds_text(operation['seconds'])} ({median}{spread})"
    if operation["share"] is not None:
        yield f"{percent_text(operation['share'])} of the run"
    if operation["parallelism"] is not None:
        yield f"{operation['parallelism']:.2f} cores busy"
    if operation["rows"] is not None:
        yield f"{count_text(operation['rows'])} rows"
    if operation["memory_peak_bytes"] is not None:
        yield f"{bytes_text(operation['memory_peak_bytes'])} at most"
    if operation["read_bytes"]:
        yield f"{bytes_text(operation['read_bytes'])} read from storage"


def _coverage(operation: dict[str, Any]) -> str:
    threads = operation["threads_at_work"]
    of = f" of {threads:.1f} threads at work" if threads is not None else ""
    return f"{percent_text(operation['coverage'])} of the time{of}, before scaling to wall time"
