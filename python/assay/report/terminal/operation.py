"""Terminal output on one operation: its time, findings, CPU time and plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import bytes_text, count_text, percent_text, seconds_text
from assay.report.sections.operation import operation_of
from assay.report.terminal.cluster import operation_lines as cluster_lines
from assay.report.terminal.findings import why_of_operation
from assay.report.terminal.plans import plan_lines
from assay.report.terminal.profile import profile_lines, titled
from assay.report.terminal.time import tree_lines
from assay.report.terminal.where import cause_lines, time_line, why_not_split
from assay.report.words.causes import shares_by_cause
from assay.report.words.loads.operation import operation_time
from assay.report.words.observed import statement_facts
from assay.report.words.wrapping import labelled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.documents.load.operation import OperationDocument
    from assay.report.documents.load.operations import OperationRow
    from assay.report.documents.profile.profile import ProfileSection
    from assay.report.documents.run import RunDocument

# After a test, only queries are captured again, since refresh functions would change the data.
NOT_ASKED = "after a test, Assay captures plans only of statements that do not change the data"


def operation_lines(
    document: RunDocument,
    name: str,
    profile: ProfileSection | str,
    width: int,
    *,
    all_symbols: bool = False,
    open_families: bool = False,
) -> Iterator[str]:
    """Yield the lines that `assay explain --operation` prints of one operation.

    Args:
        document: The run's document.
        name: Name of the operation.
        profile: The section `profile` of this operation, or the reason why it is missing.
        width: Maximum width of a line.
        all_symbols: Whether all symbols are shown.
        open_families: Whether the functions of each template are shown, too.
    """
    explained = operation_of(document, name)
    operation = explained["operation"]
    yield titled(document, width)
    yield f"{name}  {operation['title']}".rstrip()
    yield ""
    yield from _time(document, operation, width)
    yield ""
    yield from cluster_lines(document, name, width)
    yield from why_of_operation(document["run"], explained, width)
    yield ""
    yield from _plan(explained, width, everything=all_symbols)
    yield ""
    if isinstance(profile, str):
        yield from labelled("CPU samples", f"not measured, {profile}", width)
    else:
        shown = {"all_symbols": all_symbols, "open_families": open_families}
        yield from profile_lines(profile, width, **shown)


def _plan(explained: OperationDocument, width: int, *, everything: bool) -> Iterator[str]:
    capture = explained["plan_capture"]
    if not explained["plans"] and not capture["missing"]:
        reason = capture["reason"] or NOT_ASKED
        yield from labelled("Plan", f"not measured, {reason}", width)
    yield from plan_lines(explained["plans"], capture, width, everything=everything)


def _time(document: RunDocument, operation: OperationRow, width: int) -> Iterator[str]:
    """Yield the time of an operation, and the causes of its threads' time."""
    if document["observed"] is not None:
        yield from _observed_time(document, operation, width)
        return
    if operation["seconds"] is None:
        yield from labelled("Time", operation_time(operation), width)
        return
    yield from labelled("Time", "; ".join(_time_facts(operation)), width)
    wall = time_line([operation])
    if wall is None:
        yield from labelled("Where", why_not_split(document, operation), width)
        return
    yield from labelled("Wall", wall, width)
    tree = document["time"]["operations"].get(operation["name"])
    if tree is None:
        yield from cause_lines(shares_by_cause(operation["where"]), operation["seconds"], width)
    else:
        yield from tree_lines(tree, operation["seconds"], width)
    if operation["coverage"] is not None:
        yield from labelled("Accounted for", _coverage(operation), width)


def _observed_time(document: RunDocument, operation: OperationRow, width: int) -> Iterator[str]:
    """Yield the time of an observed statement, and the causes of its sessions' time."""
    yield from labelled("Time", "; ".join(statement_facts(document, operation)), width)
    tree = document["time"]["operations"].get(operation["name"])
    if tree is None:
        yield from labelled("Where", why_not_split(document, operation), width)
        return
    yield from tree_lines(tree, operation["seconds"], width)


def _time_facts(operation: OperationRow) -> Iterator[str]:
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
        yield f"{count_text(operation['rows'])} row{'s' if operation['rows'] != 1 else ''}"
    if operation["memory_peak_bytes"] is not None:
        yield f"{bytes_text(operation['memory_peak_bytes'])} at most"
    if operation["engine_memory_bytes"] is not None:
        yield f"{bytes_text(operation['engine_memory_bytes'])} by the engine's own account"
    if operation["read_bytes"]:
        yield f"{bytes_text(operation['read_bytes'])} read from storage"


def _coverage(operation: OperationRow) -> str:
    threads = operation["threads_at_work"]
    of = f" of {threads:.1f} threads at work" if threads is not None else ""
    return f"{percent_text(operation['coverage'])} of the time{of}, before scaling to wall time"
