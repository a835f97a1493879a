"""Phrases on an observed server, for terminal and page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import bytes_text, count_text, percent_text, rate_text, seconds_text

if TYPE_CHECKING:
    from assay.report.documents.load.operations import OperationRow
    from assay.report.documents.observed import ObservedSection, ObservedStatementRow
    from assay.report.documents.run import RunDocument

NOT_MEASURED = "not measured"
# Counters of a statement and their names in a line, as values per execution.
PER_CALL = (
    ("rows", "rows"),
    ("rows_examined", "rows examined"),
    ("temporary_disk_tables", "temporary tables on disk"),
    ("cache_hit_bytes", "found in the server's cache"),
    ("cache_read_bytes", "read from outside of it"),
    ("temporary_written_bytes", "written to temporary files"),
    ("log_bytes", "of log"),
)


def observed_conditions(observed: ObservedSection) -> str:
    """Return how long and by which method the server was observed."""
    ended = ", stopped before its time" if observed["stopped"] else ""
    source = observed["source"] or "looks alone"
    return f"{seconds_text(observed['window_s'])} by {source}{ended}"


def observed_figures(document: RunDocument) -> list[tuple[str, str]]:
    """Return an observed server's rate and working sessions, each with its title."""
    observed = document["observed"]
    if observed is None:
        return []
    rate = document["metrics"]["statements_per_s"]
    counted = [] if rate is None else [(rate_text(rate), "statements")]
    return [*counted, (f"{observed['sessions_at_work']:.1f}", "sessions at work")]


def observed_words(document: RunDocument) -> list[str]:
    """Return sentences on how a server was observed and the cost of that."""
    observed = document["observed"]
    if observed is None:
        return []
    every = observed["look_interval_s"]
    often = "" if every is None else f", one every {seconds_text(every)}"
    sentences = [f"{observed['looks']:,} looks at its sessions{often}"]
    ours = document["probes"]["core_share"]
    server = observed["own_cpu_share"]
    theirs = NOT_MEASURED if server is None else f"{percent_text(server)} of a core"
    if observed["engine_host"] is not None:
        sentences.append(f"the engine's host was sampled by the agent {observed['engine_host']}")
    sentences.append(
        f"cost: {percent_text(ours)} of a core here, {theirs} on the server for our sessions"
    )
    return sentences


def not_seen_words(document: RunDocument) -> list[str]:
    """Return sentences on what was not observed on a server."""
    observed = document["observed"]
    return [] if observed is None else [f"{NOT_MEASURED}: {limit}" for limit in observed["limits"]]


def counts_text(statement: ObservedStatementRow) -> str:
    """Return text on an observed statement's counters per execution."""
    counts = statement["counts"]
    calls = counts.get("calls")
    if not calls:
        return ""
    return ", ".join(
        f"{(bytes_text if name.endswith('_bytes') else count_text)(counts[name] / calls)} {title}"
        for name, title in PER_CALL
        if counts.get(name)
    )


def statement_facts(document: RunDocument, operation: OperationRow) -> list[str]:
    """Return texts on the time of an observed statement."""
    observed = document["observed"]
    if observed is None:
        return []
    row = next(row for row in observed["statements"] if row["operation"] == operation["name"])
    whole = f"{seconds_text(row['seconds'])} of {seconds_text(observed['window_s'])}"
    facts = [whole, f"{percent_text(operation['share'])} of the time of all statements"]
    if operation["seconds"] is not None:
        calls = f"mean of {count_text(row['counts']['calls'])} calls"
        facts.insert(0, f"{seconds_text(operation['seconds'])} ({calls})")
    return [*facts, *filter(None, (counts_text(row), basis_text(row)))]


def basis_text(statement: ObservedStatementRow) -> str:
    """Return text on why a statement's time differs from the server's counters."""
    counted = statement["counted_s"]
    if statement["basis"] == "counters" or counted is None:
        return ""
    return (
        f"by {statement['looks']:,} samples {seconds_text(statement['looked_s'])}, of which the"
        f" server counted {seconds_text(counted)}: it does not count the end of a transaction,"
        " nor what has not ended"
    )
