"""Terminal output on a cluster's nodes: brief lines, the whole run, and one operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.report.words.cluster import (
    barrier_words,
    cores_words,
    interval_rows,
    skew_words,
    word_rows,
)
from assay.report.words.wrapping import indented

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.host.cluster import (
        ClusterSpan,
    )
    from assay.report.documents.run import RunDocument


def brief_lines(document: RunDocument, width: int) -> Iterator[str]:
    """Yield terminal lines on cluster nodes: work, skew, and time lost at barriers."""
    cluster = document["cluster"]
    if cluster is None or cluster["run"] is None:
        return
    yield ""
    yield from line_of(cluster["run"], "  ", width)
    for sentence in (*skew_words(cluster["run"]), *barrier_words(cluster["barriers"])[:1]):
        yield from indented(sentence, "  ", width)


def cluster_lines(document: RunDocument, width: int) -> Iterator[str]:
    """Yield terminal lines on cluster nodes: whole run, operations, skew, barriers."""
    cluster = document["cluster"]
    if cluster is None:
        return
    yield from indented(f"{cluster['title']}: {cores_words(cluster)}", "", width)
    if cluster["run"] is not None:
        yield from line_of(cluster["run"], "  ", width)
    for operation in cluster["operations"]:
        yield f"{operation['name']}, one execution"
        yield from line_of(operation, "  ", width)
        for sentence in skew_words(operation):
            yield from indented(sentence, "  ", width)
    rows = interval_rows(cluster)
    room = max((len(begun) for begun, _ in rows), default=0)
    for begun, text in rows:
        yield from indented(text, f"  {begun:<{room}}  ", width)
    for sentence in barrier_words(cluster["barriers"]):
        yield from indented(sentence, "  ", width)
    for name, sentence in word_rows(cluster):
        yield from indented(sentence, f"  {name}: ", width)
    for sentence in cluster["notes"]:
        yield from indented(sentence, "  ", width)
    yield ""


def operation_lines(document: RunDocument, name: str, width: int) -> Iterator[str]:
    """Yield terminal lines on cluster nodes in one execution of an operation."""
    cluster = document["cluster"]
    for operation in () if cluster is None else cluster["operations"]:
        if operation["name"] == name:
            yield from line_of(operation, "", width)
            for sentence in skew_words(operation):
                yield from indented(sentence, "  ", width)
            yield ""


def line_of(span: ClusterSpan, lead: str, width: int) -> Iterator[str]:
    """Yield a terminal line for all cluster nodes together, and one for each."""
    yield from indented(span["whole"]["text"], lead, width)
    for node in span["nodes"]:
        yield from indented(node["text"], f"{lead}  ", width)
