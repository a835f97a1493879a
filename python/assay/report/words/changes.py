"""Phrases on resource limits of the engine, and changes to the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import seconds_text
from assay.report.words.wrapping import indented

if TYPE_CHECKING:
    from assay.report.documents.run import RunDocument

LABEL_WIDTH = 10


def slow_words(document: RunDocument) -> str:
    """Return text on the resources that were slowed, and by how much; empty without any."""
    changes = document["changes"]
    if changes is None or (slowed := changes["slowed"]) is None:
        return ""
    asked = ", ".join(f"{name} {factor:g} x" for name, factor in slowed["asked"].items())
    if slowed["reached"] is None:
        return f"{asked} requested; the reached factor is not known"
    reached = ", ".join(f"{name} {factor:.2f} x" for name, factor in slowed["reached"].items())
    stopped = seconds_text(slowed["stopped_s"])
    return f"{asked} requested, {reached} reached: the engine was stopped for {stopped}"


def limit_words(document: RunDocument) -> str:
    """Return text on all resource limits with their use; empty without any."""
    changes = document["changes"]
    if changes is None:
        return ""
    sentences = [limit["words"] for limit in changes["limits"]]
    if changes["oom_kills"]:
        sentences.append(f"killed for want of memory: {changes['oom_kills']}")
    return "; ".join(sentences)


def host_words(document: RunDocument) -> str:
    """Return text on the host changes and whether they were undone; empty if none."""
    changes = document["changes"]
    if changes is None or not changes["host"]:
        return ""
    sentences = []
    for change in changes["host"]:
        was = "" if change["before"] is None else f" (was {change['before']})"
        sentences.append(f"{change['what']}: {change['effective'] or change['asked']}{was}")
    restored = all(change["restored"] for change in changes["host"])
    return f"{'; '.join(sentences)}; {'put back' if restored else 'not reverted by the run itself'}"


def changes_lines(document: RunDocument, width: int) -> list[str]:
    """Return terminal lines on limits and host changes; empty without any."""
    parts = (
        ("limits", limit_words(document)),
        ("slowed", slow_words(document)),
        ("changed", host_words(document)),
    )
    return [
        line
        for label, text in parts
        if text
        for line in indented(text, f"  {label:<{LABEL_WIDTH}}", width)
    ]


def changes_paragraph(document: RunDocument) -> str:
    """Return the page's paragraph on limits and host changes; empty without any."""
    sentences = []
    changes = document["changes"]
    if changes is not None and (limits := limit_words(document)):
        device = changes["device"]
        of_disk = f"; those of disks are of {device}" if device else ""
        version = changes["version"]
        sentences.append(f"Limited by control groups of version {version}{of_disk}: {limits}.")
        sentences += [f"Note: {note}." for note in changes["notes"]]
    if limits := slow_words(document):
        sentences.append(f"Slowed by stopping the engine: {limits}.")
    if limits := host_words(document):
        sentences.append(f"Changed on the host: {limits}.")
    return " ".join(sentences)
