"""Terminal output of findings, with their evidence and advice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import percent_text
from assay.report.words.findings import carry_out, is_share, to_do_texts
from assay.report.words.wrapping import indented, labelled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.report.documents.findings import FindingEvidence, FindingRow
    from assay.report.documents.load.operation import OperationDocument
    from assay.report.documents.run import RunDocument

# Kinds of places whose evidence concerns one operation.
OF_OPERATIONS = frozenset({"where", "plan", "profile"})


def cause_lines(document: RunDocument, width: int, tried: Mapping[str, str]) -> Iterator[str]:
    """Yield all findings of a run as terminal lines.

    Args:
        document: Document of the run.
        width: Width of the terminal.
        tried: Sentence on the results of earlier trials, by method.
    """
    findings = document["findings"]
    if not findings:
        yield from labelled("Why", "there is no finding", width)
        return
    yield "Why"
    for number, finding in enumerate(findings, start=1):
        yield from _lines(number, finding, finding["claim"], finding["evidence"], width)
        yield from _to_do(document["run"], finding, width)
        if finding["method"] in tried and finding["advice"] is not None:
            yield from indented(f"Tried: {tried[finding['method']]}", "     ", width)
    yield from _ruled_out(document, width)


def _ruled_out(document: RunDocument, width: int) -> Iterator[str]:
    """Yield the causes that were ruled out, each with the contradicting evidence."""
    for finding in document["ruled_out"]:
        against = [evidence["says"] for evidence in finding["evidence"] if evidence["contradicts"]]
        yield from labelled("Not it", f"{finding['key']}: {'; '.join(against)}", width)


def why_of_operation(run: str, explained: OperationDocument, width: int) -> Iterator[str]:
    """Yield the findings about one operation as terminal lines."""
    findings, name = explained["findings"], explained["operation"]["name"]
    if not findings:
        yield from labelled("Why", f"no finding names {name}", width)
        return
    yield "Why"
    for number, finding in enumerate(findings, start=1):
        own = finding["fraction"]
        lead = "" if own is None else f"{name}: {percent_text(own)} of its time. "
        evidence = _evidence_of(finding, name)
        yield from _lines(number, finding, f"{lead}{finding['claim']}", evidence, width)
        if not _is_a_page(run, finding):
            yield from _to_do(run, finding, width)


def _lines(
    number: int, finding: FindingRow, claim: str, evidence: list[FindingEvidence], width: int
) -> Iterator[str]:
    parts = "; ".join(effect_parts(finding))
    sentence = f"{certainty_lead(finding)}{claim}{parts and f' ({parts})'}"
    yield from indented(sentence, f"  {number}  ", width)
    for witness in evidence:
        if witness["says"] != finding["claim"]:
            yield from indented(f"{witness['witness']}: {witness['says']}", "     - ", width)
    if finding["settle"]:
        yield from indented(f"To settle it: {finding['settle']}", "     ", width)


def certainty_lead(finding: FindingRow) -> str:
    """Return the word `Suspected` for a suspected cause; empty for other findings."""
    is_suspected = finding["tells"] == "cause" and finding["certainty"] == "suspected"
    return "Suspected: " if is_suspected else ""


def effect_parts(finding: FindingRow) -> Iterator[str]:
    """Yield texts on a cause's share of time, the time saved without it, and alternatives."""
    if is_share(finding):
        yield f"{percent_text(finding['effect_share'])} of the run"
    if finding["saved"] is not None:
        least, best = (percent_text(edge) for edge in finding["saved"])
        yield f"{least} to {best} could be saved"
    if finding["interval"] is not None:
        yield finding["interval_words"]
    if finding["shares_with"]:
        yield f"the same time as {', '.join(finding['shares_with'])}"


def _to_do(run: str, finding: FindingRow, width: int) -> Iterator[str]:
    for text in to_do_texts(finding):
        yield from indented(text, "     ", width)
    if finding["to_try"]:
        yield from indented(f"To try: {finding['to_try']}", "     ", width)
    command = carry_out(run, finding)
    if command is not None:
        yield from indented(f"Carry it out: {command}", "     ", width)


def _evidence_of(finding: FindingRow, name: str) -> list[FindingEvidence]:
    """Return the evidence of a finding, without evidence on other operations."""
    places = [evidence["at"].partition(":") for evidence in finding["evidence"]]
    return [
        evidence
        for evidence, (kind, _, of) in zip(finding["evidence"], places, strict=True)
        if kind not in OF_OPERATIONS or of in ("", name)
    ]


def _is_a_page(run: str, finding: FindingRow) -> bool:
    """Return True if the advice is to show the operation that is shown already."""
    return (finding["to_try"] or "").startswith(f"assay explain {run} --operation ")
