"""Phrases on statements of operations, their slowest executions, and stalls of a load."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assay.model.statement import EARLIER
from assay.model.units import amount_text, percent_text, rate_text, seconds_text
from assay.report.words.wrapping import indented

if TYPE_CHECKING:
    from assay.report.documents.figures import Percentile
    from assay.report.documents.load.load import MovedFigure, StallRow, StallsSection
    from assay.report.documents.load.statements import StatementTail
    from assay.report.documents.run import RunDocument

LABEL_WIDTH = 10
PERCENT = 100.0
SECONDS: tuple[tuple[str, Percentile], ...] = (
    ("p50", "p50"),
    ("p95", "p95"),
    ("p99", "p99"),
    ("p99.9", "p999"),
    ("max", "max"),
)
STALLS_SHOWN = 3


class Row(NamedTuple):
    """A table row for one statement: its operation, then cells of text."""

    operation: str
    name: str
    cells: tuple[tuple[str, float | None], ...]


HEADS = (
    ("a time", "executions in each execution of the operation"),
    ("share", "of the service time of the operation"),
    ("rows", "mean number of rows that the statement returned or changed"),
    *((label, "time of an execution") for label, _ in SECONDS),
)


def rows(document: RunDocument) -> list[Row]:
    """Return a table row for each statement of each operation, largest share first."""
    statement_rows = []
    for operation, section in document["statements"].items():
        for statement in section["statements"]:
            times = [statement["seconds"][name] for _, name in SECONDS]
            statement_rows.append(
                Row(
                    operation,
                    statement["name"],
                    (
                        (f"{statement['per_operation']:.3g}", statement["per_operation"]),
                        (percent_text(statement["share"]), statement["share"]),
                        (f"{statement['rows']:.3g}", statement["rows"]),
                        *((seconds_text(value), value) for value in times),
                    ),
                )
            )
    return statement_rows


def tail_words(operation: str, tail: StatementTail) -> str:
    """Return a clause on the statement that makes an operation's slowest executions slow."""
    name = tail["statement"]
    what = name if name == EARLIER else f"statement {name}"
    return (
        f"{what} is {percent_text(tail['share'])} of the extra time of the slowest "
        f"{PERCENT * tail['tail_share']:g} % of {operation} (above "
        f"{seconds_text(tail['beyond_s'])}): {seconds_text(tail['typical_s'])} in a typical "
        f"execution, {seconds_text(tail['tail_s'])} in the slowest"
    )


def tails(document: RunDocument) -> list[str]:
    """Return a sentence per operation on what makes its slowest executions slow."""
    sentences = [
        (section["tail"]["excess_share"], tail_words(operation, section["tail"]))
        for operation, section in document["statements"].items()
        if section["tail"] is not None
    ]
    return [sentence for _, sentence in sorted(sentences, reverse=True)]


def moved_words(moved: MovedFigure | None) -> str:
    """Return text on the counter that is unusual during a stall."""
    if moved is None:
        return "no figure of engine or host stands out"
    rate = "/s" if moved["kind"] == "counter" else ""
    if moved["unit"] == "%":
        inside, outside = (f"{moved[key]:.2g} %" for key in ("inside", "outside"))
    else:
        inside, outside = (amount_text(moved[key], moved["unit"]) for key in ("inside", "outside"))
    return f"{moved['title']} {inside}{rate} (else {outside}{rate})"


def stall_words(stall: StallRow) -> str:
    """Return text on a stall: when, the longest latency, and the unusual counter."""
    longest = stall["longest_s"]
    longest_text = "" if longest is None else f", up to {seconds_text(longest)} an operation"
    when = f"{stall['begin_s']:.4g} to {stall['end_s']:.4g} s"
    return f"{when}{longest_text}: {moved_words(stall['moved'])}"


def stalls_words(stalls: StallsSection) -> str:
    """Return text on all stalls of a load, without a full stop."""
    number = len(stalls["stalls"]) + stalls["left_out"]
    if not number:
        return (
            f"none: no interval of {seconds_text(stalls['interval_s'])} had less than half of "
            f"the usual {rate_text(stalls['usual_per_s'])}"
        )
    return (
        f"{number}, {seconds_text(stalls['seconds'])} together,"
        f" {percent_text(stalls['missing_share'])} of the operations missing"
    )


def statement_lines(document: RunDocument, width: int) -> list[str]:
    """Return terminal lines on slow executions and stalls; empty if there are none."""
    lines = []
    for sentence in tails(document)[:1]:
        lines += indented(sentence, f"  {'tail':<{LABEL_WIDTH}}", width)
    stalls = document["stalls"]
    if stalls is None or not stalls["stalls"]:
        return lines
    worst = sorted(stalls["stalls"], key=lambda stall: -stall["missing"])[:STALLS_SHOWN]
    lines += indented(stalls_words(stalls), f"  {'stalls':<{LABEL_WIDTH}}", width)
    for stall in sorted(worst, key=lambda stall: stall["begin_s"]):
        lines += indented(stall_words(stall), " " * (LABEL_WIDTH + 2), width)
    return lines
