"""Terminal output of time by cause: a sum in one line, bars, and reasons for gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.causes import CAUSES, UNCOVERED
from assay.analysis.time.where import LOOKED_COVERAGE_MAX
from assay.model.units import percent_text, seconds_text
from assay.record.layout import ENGINE_ACCOUNTS
from assay.report.sections.time import NOT_SPLIT
from assay.report.terminal.summary import bar
from assay.report.terminal.time import no_gain_lines, tree_lines
from assay.report.words.causes import shares_by_cause
from assay.report.words.wrapping import labelled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.report.documents.load.operations import OperationRow
    from assay.report.documents.run import RunDocument

CAUSE_BAR_WIDTH = 24
# Width of the columns beside the bar and the cause.
FIGURES_WIDTH = 20
# Causes with a smaller share have no line.
CAUSE_SHARE_MIN = 0.0005
# Maximum number of operations in a line.
NAMED_MAX = 6
# Parts of an operation's time, by their names in the line above the bars.
PARTS = (
    ("on CPU", ("cpu_user", "cpu_system")),
    ("run queue", ("run_queue",)),
    ("throttled", ("throttled",)),
    ("stolen", ("stolen",)),
    ("disk", ("disk_read", "disk_write", "disk")),
    ("commit and log", ("log",)),
    ("locks", ("lock", "latch")),
    ("client", ("client",)),
    ("other workers", ("workers",)),
    ("idle workers", ("idle",)),
    ("paused", ("paused",)),
    ("not accounted for", (UNCOVERED,)),
)
SCALED = "(what the engine's threads did, scaled to the wall time)"
OF_IT = " of it could be split:"
NOT_READ = "no counters were read around the operation"
NOT_KNOWN = (
    "the engine's processes are not known on this host, so their counters were not read: their "
    "time is part of the wall time and, if they run here, of the background load"
)
NOT_LOOKED = (
    "under a load the split needs samples of the engine's threads (probe waits), and the run "
    "has none"
)
OF_NODES = (
    "threads of several nodes work on an operation and cannot be assigned to it: the line of "
    "the cluster shows the waits of its tasks"
)
OF_STATEMENTS = "time that sessions spent on statements"
TOGETHER = (
    "sessions of this engine share one process, so the split is known for all operations "
    "together only"
)


def is_split(operation: OperationRow) -> bool:
    """Return True if an operation's time was split by cause."""
    return operation["seconds"] is not None and operation["where"]["uncovered"] is not None


def knows_engine(document: RunDocument) -> bool:
    """Return True if the engine's processes were sampled."""
    used = document["accounts"]
    return used is None or any(account in used["by_account_s"] for account in ENGINE_ACCOUNTS)


def why_not_split(document: RunDocument, operation: OperationRow) -> str:
    """Return text on why an operation's time could not be split by cause."""
    coverage = operation["coverage"]
    if coverage is not None and coverage > LOOKED_COVERAGE_MAX:
        return (
            f"not known, the counters of its threads add up to {percent_text(coverage)} of their"
            f" time, and sums above {percent_text(LOOKED_COVERAGE_MAX)} are not used:"
            f" {seconds_text(operation['seconds'])} is too short for counters and samples"
            + ("" if document.get("own_tables") else ". A larger --scale makes it longer")
        )
    if not knows_engine(document):
        return f"not measured, {NOT_KNOWN}"
    if document["cluster"] is not None:
        return f"not measured, {OF_NODES}"
    if document["observed"] is not None:
        return (
            "not known, because too few samples hit the statement: observe for longer, or at a "
            "busier time"
        )
    reason = _why_unknown(document)
    if document["pace"] is None and reason is None:
        return f"not measured, {NOT_READ}"
    return f"not known, {reason or (TOGETHER if document['where'] else NOT_LOOKED)}"


def _why_unknown(document: RunDocument) -> str | None:
    """Return why the engine's threads have no sessions; None if another reason counts."""
    reason = document["time"]["reason"]
    return None if reason == NOT_SPLIT else reason


def split_seconds(operations: list[OperationRow]) -> dict[str, float]:
    """Return seconds by cause of one execution of each operation whose time was split."""
    chosen = [
        (operation["seconds"] or 0.0, shares_by_cause(operation["where"]))
        for operation in operations
        if is_split(operation)
    ]
    return {
        cause.name: sum(seconds * (shares[cause.name] or 0.0) for seconds, shares in chosen)
        for cause in CAUSES
        if any(shares[cause.name] is not None for _, shares in chosen)
    }


def time_line(operations: list[OperationRow]) -> str | None:
    """Return wall time as a sum of its causes in one line; None if not measured.

    The wall time includes time that could not be split. The sum does not include it, and the line
    reports it.
    """
    timed = [operation for operation in operations if operation["seconds"] is not None]
    split_operations = [operation for operation in timed if is_split(operation)]
    if not split_operations:
        return None
    whole, split = (sum(op["seconds"] or 0.0 for op in some) for some in (timed, split_operations))
    sums = split_seconds(split_operations)
    parts = [f"{label} {seconds_text(spent)}" for label, spent in _parts(sums, split)]
    wall = f"{seconds_text(whole)} of wall time"
    lead = (
        f"{wall} ="
        if len(split_operations) == len(timed)
        else f"{wall}; {seconds_text(split)}{OF_IT}"
    )
    return f"{lead} {' + '.join(parts)} {SCALED}"


def _parts(sums: Mapping[str, float], whole: float) -> Iterator[tuple[str, float]]:
    for label, keys in PARTS:
        spent = sum(sums.get(key, 0.0) for key in keys)
        if spent >= CAUSE_SHARE_MIN * whole:
            yield label, spent


def cause_lines(
    shares: Mapping[str, float | None], seconds: float | None, width: int
) -> Iterator[str]:
    """Yield a terminal line per cause of time: its share as bar and number, and seconds.

    Args:
        shares: Share of the time by cause; None if not measured.
        seconds: Seconds that the shares refer to; None if they are not known.
        width: Maximum width of a line.
    """
    title_shares = [(cause.title, shares.get(cause.name) or 0.0) for cause in CAUSES]
    shown = [(title, share) for title, share in title_shares if share >= CAUSE_SHARE_MIN]
    if not shown:
        return
    title_width = max(len(title) for title, _ in shown)
    longest = max(share for _, share in shown)
    length = max(0, min(CAUSE_BAR_WIDTH, width - title_width - FIGURES_WIDTH))
    for title, share in shown:
        drawn = bar(share / longest, length)
        time = "" if seconds is None else f"  {seconds_text(share * seconds):>7}"
        yield f"  {title:<{title_width}}  {drawn:<{length}} {percent_text(share):>6}{time}"


def whole_lines(document: RunDocument, width: int) -> Iterator[str]:
    """Yield a run's time by cause as terminal lines: seconds of a pass, or shares of a load."""
    operations = document["operations"]
    where = document["where"]
    if not operations:
        yield from labelled("Wall", "no operation was measured", width)
    elif document["pace"] is not None or document["observed"] is not None:
        yield from _load_lines(document, width)
    elif (wall := time_line(operations)) is None:
        yield from labelled("Where", why_not_split(document, operations[0]), width)
    else:
        sums = split_seconds(operations)
        split = sum(operation["seconds"] or 0.0 for operation in operations if is_split(operation))
        yield from labelled("One pass", wall, width)
        shares = {name: spent / split if split else 0.0 for name, spent in sums.items()}
        yield from _tree_or_causes(document, shares, split, width)
        yield from _left_lines(document, width)
    if where is not None and where["coverage"] is not None:
        sentence = f"{percent_text(where['coverage'])} of the time of its threads, before scaling"
        yield from labelled("Accounted for", sentence, width)


def _load_lines(document: RunDocument, width: int) -> Iterator[str]:
    if document["where"] is None:
        why = _why_unknown(document) or (NOT_LOOKED if knows_engine(document) else NOT_KNOWN)
        yield from labelled("Where", f"not known, {why}", width)
        return
    of = "service time of all operations" if document["observed"] is None else OF_STATEMENTS
    yield from labelled("Where", f"of the {of}", width)
    yield from _tree_or_causes(document, shares_by_cause(document["where"]["shares"]), None, width)


def _tree_or_causes(
    document: RunDocument,
    shares: Mapping[str, float | None],
    seconds: float | None,
    width: int,
) -> Iterator[str]:
    """Yield the run's time tree, or else its causes, as terminal lines."""
    tree = document["time"]["run"]
    if tree is None:
        yield from cause_lines(shares, seconds, width)
        return
    yield from tree_lines(tree, seconds, width)
    yield from no_gain_lines(document, width)


def _left_lines(document: RunDocument, width: int) -> Iterator[str]:
    """Yield text on the operations whose time was not split, and why."""
    timed = [op for op in document["operations"] if op["seconds"] is not None]
    left = [operation for operation in timed if not is_split(operation)]
    if not left:
        return
    names = ", ".join(operation["name"] for operation in left[:NAMED_MAX])
    more = f" and {len(left) - NAMED_MAX} more" if len(left) > NAMED_MAX else ""
    why = f"{left[0]['name']}: {why_not_split(document, left[0])}"
    yield from labelled("Not split", f"{names}{more}. {why}", width)
