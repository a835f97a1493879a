"""Terminal output of the resources that limit operations, with elasticities."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from assay.analysis.why.scarcity import SHORT
from assay.model.units import percent_text, seconds_text
from assay.report.words.run import workload_words
from assay.report.words.wrapping import labelled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.report.documents.why import BoundOperation, MissingVariant, VariantTime, WhyDocument

LABEL_WIDTH = 9
SHAPES = {
    "serial": "in proportion",
    "flat": "no effect",
    "unclear": "not beyond noise",
    "kinked": "below a level only",
}
REMARKS_MAX = 4


def why_lines(document: WhyDocument, width: int, *, whole: bool = False) -> Iterator[str]:
    """Yield the terminal lines of `assay why`: the resource that limits each operation.

    Args:
        document: Document of `assay why`.
        width: Columns of the terminal.
        whole: Whether to show every remark, not only the first ones.
    """
    if document["operations"]:
        yield from textwrap.wrap(_head(document), width, subsequent_indent="  ")
    for operation in document["operations"]:
        yield ""
        yield from _operation(operation, width, whole=whole)
    yield ""
    for what, reason in document["unvaried"].items():
        yield from labelled("Not made", f"{what}: {reason}", width, LABEL_WIDTH)
    for sentence in _failed(document["missing"]):
        yield from labelled("Missing", sentence, width, LABEL_WIDTH)
    yield f"{'Study':<{LABEL_WIDTH}}{document['study']}"
    if document["report"]:
        yield f"{'Article':<{LABEL_WIDTH}}{document['report']}"
    if document["legal"]:
        yield f"{'':<{LABEL_WIDTH}}{document['legal']}"


def _head(document: WhyDocument) -> str:
    rounds = document["rounds"]
    return (
        f"{workload_words(document)} on {document['engine_title']}"
        f" {document['engine_version']}, {document['state']}   {rounds} interleaved"
        f" round{'s' if rounds != 1 else ''}"
    )


def _operation(operation: BoundOperation, width: int, *, whole: bool) -> Iterator[str]:
    yield operation["operation"]
    yield from _variants(operation["variants"])
    yield ""
    yield from _elasticities(operation)
    yield ""
    verdict = operation["verdict"]
    yield from labelled("VERDICT", verdict["words"], width, LABEL_WIDTH)
    if verdict["sum_words"]:
        yield from labelled("", f"{verdict['sum_words']}.", width, LABEL_WIDTH)
    remarks = verdict["remarks"] if whole else verdict["remarks"][:REMARKS_MAX]
    for remark in remarks:
        yield from labelled("", f"- {remark}", width, LABEL_WIDTH)
    if len(verdict["remarks"]) > len(remarks):
        yield f"{'':<{LABEL_WIDTH}}... {len(verdict['remarks']) - len(remarks)} more (--all)"


def _variants(variants: Sequence[VariantTime]) -> Iterator[str]:
    names = max(len(variant["name"]) for variant in variants)
    for variant in variants:
        time = variant["seconds"]
        ends = (
            f"[{seconds_text(time['low'])}, {seconds_text(time['high'])}]"
            if time["count"] > 1
            else "one round"
        )
        change = "" if variant["change"] is None else _change(variant["change"])
        middle = seconds_text(time["middle"])
        line = f"  {variant['name']:<{names}}  {middle:>9}  {ends:<20}{change:>7}"
        yield line.rstrip()


def _change(share: float) -> str:
    return f"{'+' if share >= 0 else '-'}{percent_text(abs(share))}"


def _elasticities(operation: BoundOperation) -> Iterator[str]:
    for elasticity in sorted(operation["elasticities"], key=lambda row: not row["counts"]):
        name = f"{SHORT[elasticity['resource']]}, {elasticity['method']}"
        if elasticity["value"] is None:
            reasons = [level["left_out"] for level in elasticity["levels"] if level["left_out"]]
            yield f"  {name:<16} not measured: {reasons[0] if reasons else 'too few runs'}"
            continue
        ends = elasticity["interval"]
        interval = "" if ends is None else f"[{ends[0]:z5.2f}, {ends[1]:z5.2f}]"
        shape = SHAPES[elasticity["shape"] or "unclear"]
        if elasticity["binds_below"] is not None:
            shape = f"only below {percent_text(elasticity['binds_below'])} of it"
        does = "" if elasticity["counts"] else ", does not count"
        yield f"  {name:<16} {elasticity['value']:z5.2f} {interval:<16} {shape}{does}"


def _failed(missing: Sequence[MissingVariant]) -> list[str]:
    """Return texts with each reason for missing runs, and the variants it concerns."""
    variants: dict[str, dict[str, None]] = {}
    for variant in missing:
        variants.setdefault(variant["reason"], {})[variant["variant"]] = None
    return [f"{', '.join(names)}: {reason}" for reason, names in variants.items()]
