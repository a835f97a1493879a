"""Phrases on whether a run could write to tables that are not Assay's."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.report.documents.host.conditions import WritesSection


def writes_phrase(writes: WritesSection | None) -> str:
    """Return a phrase for a run's line of conditions; empty if there is nothing to report."""
    if writes is None or writes["leave"] == "read only":
        return ""
    return "rolled back" if writes["leave"] == "rolled back" else "writes allowed"


def writes_sentences(writes: WritesSection | None) -> str:
    """Return how tables were protected from writes, and the limits of this; empty if Assay's."""
    if writes is None:
        return ""
    if writes["leave"] == "allowed":
        return "The tables are not Assay's; what operations wrote into them stays (--allow-writes)."
    if writes["leave"] == "read only":
        told = writes["server_told"]
        server = (
            f"and every connection refused writes ({told})"
            if told is not None
            else "but the server cannot refuse writes, which a function may hide"
        )
        return (
            "The tables are not Assay's: statements were read for words that write, of which there"
            f" were none, {server}.{_around(writes)}"
        )
    kept = "".join(f" Not taken back: {entry}." for entry in writes["kept"])
    return (
        "Each operation was played between begin and rollback, which are in its latency and are"
        " statements of their own; writing the log at a commit is not in it. Numbers of sequences"
        f" are not taken back.{kept}"
    )


def _around(writes: WritesSection) -> str:
    """Return what a transaction around each operation means for its latency; empty without one."""
    # Documents of older versions do not have this key.
    if not writes.get("by_transaction"):
        return ""
    return (
        " A pooler keeps no setting of a session, so each operation was played in a transaction of"
        " its own, whose begin and rollback are in its latency."
    )
