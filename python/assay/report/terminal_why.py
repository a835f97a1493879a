"""Findings on a terminal, with what they rest on and what to try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.model.units import percent_text
from assay.report.why_page import carry_out
from assay.report.wrapping import indented, labelled

if TYPE_CHECKING:
    from collections.abc import Iterator

# Evidence at such a place is of one operation.
OF_OPERATIONS = frozenset({"where", "plan", "profile"})


def why_lines(document: dict[str, Any], width: int) -> Iterator[str]:
    """All findings of a run."""
    found = document["findings"]
    if not found:
        yield from labelled("Why", "there is no finding", width)
        return
    yield "Why"
    for number, finding in enumerate(found, start=1):
        yield from _lines(number, finding, finding["claim"], finding["evidence"], width)
        yield from _to_do(document["run"], finding, width)


def why_of_operation(run: str, told: dict[str, Any], width: int) -> Iterator[str]:
    """The findings that are about an operation, as `operation_section` tells them."""
    found, name = told["findings"], told["operation"]["name"]
    if not found:
        yield from labelled("Why", f"no finding names {name}", width)
        return
    yield "Why"
    for number, finding in enumerate(found, start=1):
        own = finding["fraction"]
        lead = "" if own is None else f"{name}: {percent_text(own)} of its time. "
        evidence = _evidence_of(finding, name)
        yield from _lines(number, finding, f"{lead}{finding['claim']}", evidence, width)
        if not _is_a_page(run, finding):
            yield from _to_do(run, finding, width)


def _lines(
    number: int, finding: dict[str, Any], claim: str, evidence: list[dict[str, str]], width: int
) -> Iterator[str]:
    effect = f"{percent_text(finding['effect_share'])} of the run"
    words = f"{claim} ({effect}; {finding['interval_words']})"
    yield from indented(words, f"  {number}  ", width)
    for one in evidence:
        if one["says"] != finding["claim"]:
            yield from indented(one["says"], "     - ", width)


def _to_do(run: str, finding: dict[str, Any], width: int) -> Iterator[str]:
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


def _is_a_page(run: str, finding: dict[str, Any]) -> bool:
    """Whether the advice is to look at the page of an operation, which the reader does already."""
    return (finding["to_try"] or "").startswith(f"assay explain {run} --operation ")
