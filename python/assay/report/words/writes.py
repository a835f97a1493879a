"""Phrases on whether a run was allowed to write to existing tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.report.documents.host.conditions import WritesSection


def writes_phrase(writes: WritesSection | None) -> str:
    """Return a phrase on write protection for a run's line of conditions, or empty."""
    if writes is None or writes["leave"] == "read only":
        return ""
    return "rolled back" if writes["leave"] == "rolled back" else "writes allowed"


def writes_sentences(writes: WritesSection | None) -> str:
    """Return sentences on how existing tables were protected from writes."""
    if writes is None:
        return ""
    if writes["leave"] == "allowed":
        return (
            "The tables were not created by Assay; changes of the operations remain "
            "(--allow-writes)."
        )
    if writes["leave"] == "read only":
        means = writes["server_told"]
        server = (
            f"and every connection refused writes ({means})"
            if means is not None
            else "but the server cannot refuse writes, which a function may hide"
        )
        return (
            "The tables were not created by Assay: no statement contains a keyword that "
            f"writes, {server}.{_around(writes)}"
        )
    kept = "".join(f" Not rolled back: {entry}." for entry in writes["kept"])
    return (
        "Each operation was executed between begin and rollback, which are separate statements "
        "and part of its latency; the log write of a commit is not included. Sequence numbers "
        f"are not rolled back.{kept}"
    )


def _around(writes: WritesSection) -> str:
    """Return text on how a transaction around each operation affects its latency."""
    # Documents of older versions do not have this key.
    if not writes.get("by_transaction"):
        return ""
    return (
        " A pooler keeps no session settings, so each operation was executed in a separate "
        "transaction, whose begin and rollback are part of its latency."
    )
