"""Phrases and rows on a benchmark's transaction mix: its rate and its types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from assay.model.units import percent_text, rate_text, seconds_text
from assay.report.words.wrapping import indented

if TYPE_CHECKING:
    from assay.report.documents.figures import Percentile, TimeDistribution
    from assay.report.documents.load.transactions import TransactionRate, TransactionTypeRow
    from assay.report.documents.run import RunDocument

PERCENTILES: tuple[tuple[str, Percentile], ...] = (
    ("p50", "p50"),
    ("p90", "p90"),
    ("p95", "p95"),
    ("p99", "p99"),
    ("p99.9", "p999"),
    ("max", "max"),
)
TIMES: tuple[Literal["latency", "service"], ...] = ("latency", "service")
NAME_WIDTH = 14
CELL = 10


class Row(NamedTuple):
    """A table row for a transaction type: the kind of its times, then cells with values."""

    name: str
    of: str
    cells: tuple[tuple[str, float | None], ...]


HEADS = (
    ("count", "transactions that succeeded"),
    ("share", "of all that succeeded, and the least that it has to be"),
    *((label, "of those that succeeded") for label, _ in PERCENTILES),
    ("limit", "of the 90th percentile of latency"),
)


def rate_words(document: RunDocument) -> str | None:
    """Return text on the specified transaction rate; None without one."""
    rate = _rate(document)
    if rate is None:
        return None
    counted = f"{rate['counted']:,} {rate['operation']} that succeeded, a {_span(rate['seconds'])}"
    text = f"{rate['name']} {_number(rate['value'])}: {counted}"
    if not rate["waits"]:
        whole = rate_text(document["metrics"]["throughput_per_s"])
        reason = f"clients did not wait as people do, so this is no {rate['specified']}"
        return f"{text}; {whole} of all types; {reason}"
    clients = rate["clients"]
    if rate["terminals"] is not None and rate["terminals"] != clients:
        return f"{text}; by {clients} clients, where {rate['terminals']} are specified"
    return f"{text}; by {clients} terminals"


def rate_figure(document: RunDocument) -> str | None:
    """Return the transaction rate briefly, such as `NOPM 16,400`; None without a rate."""
    rate = _rate(document)
    return None if rate is None else f"{rate['name']} {_number(rate['value'])}"


def _rate(document: RunDocument) -> TransactionRate | None:
    transactions = document.get("transactions")
    return None if transactions is None else transactions["rate"]


def transaction_lines(document: RunDocument, width: int) -> list[str]:
    """Return terminal lines of the transaction rate and of each type."""
    transactions = document.get("transactions")
    if transactions is None:
        return []
    text = rate_words(document)
    lines = ["", *(indented(text, "  ", width) if text else [])]
    lines.append(f"  {'':<{NAME_WIDTH}}{''.join(f'{name:>{CELL}}' for name, _ in PERCENTILES)}")
    for transaction in transactions["types"]:
        head = [f"{transaction['ok']:,}", share_text(transaction), limit_text(transaction)]
        lines.append(
            f"  {transaction['name']:<{NAME_WIDTH}}{'   '.join(part for part in head if part)}"
        )
        latency, service = (times_text(transaction[key]) for key in TIMES)
        lines += [] if not latency else [f"    {'latency':<{NAME_WIDTH - 2}}{latency}"]
        differs = service not in ("", latency)
        lines += [] if not differs else [f"    {'service':<{NAME_WIDTH - 2}}{service}"]
    return lines


def rows(document: RunDocument) -> list[Row]:
    """Return two table rows per transaction type: latency, then service time."""
    type_rows: list[Row] = []
    transactions = document.get("transactions")
    for transaction in [] if transactions is None else transactions["types"]:
        for of in TIMES:
            first = of == TIMES[0]
            counts: tuple[tuple[str, float | None], ...] = (
                (f"{transaction['ok']:,}", transaction["ok"]),
                (share_text(transaction), transaction["share"]),
            )
            times = tuple(
                (seconds_text(transaction[of][key]), transaction[of][key]) for _, key in PERCENTILES
            )
            limit = (limit_text(transaction), transaction["limit_s"])
            nothing = tuple(("", None) for _ in counts)
            cells = (*counts, *times, limit) if first else (*nothing, *times, ("", None))
            type_rows.append(Row(transaction["name"] if first else "", of, cells))
    return type_rows


def share_text(transaction: TransactionTypeRow) -> str:
    """Return text on a transaction type's share, and its required minimum."""
    if transaction["share"] is None:
        return "none succeeded"
    least = (
        ""
        if transaction["share_min"] is None
        else f" (at least {percent_text(transaction['share_min'])})"
    )
    return f"{100 * transaction['share']:.2f} %{least}"


def limit_text(transaction: TransactionTypeRow) -> str:
    """Return text on a transaction type's time limit and whether it was met."""
    if transaction["limit_s"] is None:
        return ""
    kept = {True: "kept", False: "broken", None: "not checked: too few"}[transaction["limit_kept"]]
    return f"limit {seconds_text(transaction['limit_s'])} {kept}"


def times_text(times: TimeDistribution) -> str:
    """Return percentiles in columns by name as text; empty if none is known."""
    seconds = [times[key] for _, key in PERCENTILES]
    cells = ("" if value is None else seconds_text(value) for value in seconds)
    return "".join(f"{cell:>{CELL}}" for cell in cells).rstrip()


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"  # noqa: PLR2004 - digits


def _span(seconds: float) -> str:
    return {1.0: "second", 60.0: "minute", 3600.0: "hour"}.get(seconds, f"{seconds:g} s")
