"""What was limited and changed on the host, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import seconds_text
from assay.report.words.wrapping import indented

if TYPE_CHECKING:
    from assay.report.documents.run import RunDocument

LABEL_WIDTH = 10


def slow_words(document: RunDocument) -> str:
    """What was made slower, how much of that was reached; empty where nothing was."""
    changes = document["changes"]
    if changes is None or (slowed := changes["slowed"]) is None:
        return ""
    asked = ", ".join(f"{name} {factor:g} x" for name, factor in slowed["asked"].items())
    if slowed["reached"] is None:
        return f"{asked} asked for; what was reached is not known"
    reached = ", ".join(f"{name} {factor:.2f} x" for name, factor in slowed["reached"].items())
    stopped = seconds_text(slowed["stopped_s"])
    return f"{asked} asked for, {reached} reached: the engine was stopped for {stopped}"


def limit_words(document: RunDocument) -> str:
    """All limits with what was used of them; empty where there are none."""
    changes = document["changes"]
    if changes is None:
        return ""
    told = [one["words"] for one in changes["limits"]]
    if changes["oom_kills"]:
        told.append(f"killed for want of memory: {changes['oom_kills']}")
    return "; ".join(told)


def host_words(document: RunDocument) -> str:
    """What was changed on the host, and whether it was put back; empty where nothing was."""
    changes = document["changes"]
    if changes is None or not changes["host"]:
        return ""
    told = []
    for one in changes["host"]:
        was = "" if one["before"] is None else f" (was {one['before']})"
        told.append(f"{one['what']}: {one['effective'] or one['asked']}{was}")
    restored = all(one["restored"] for one in changes["host"])
    return f"{'; '.join(told)}; {'put back' if restored else 'not put back by the run itself'}"


def changes_lines(document: RunDocument, width: int) -> list[str]:
    """Limits in a line, what was changed in another; nothing where there are none."""
    told = (
        ("limits", limit_words(document)),
        ("slowed", slow_words(document)),
        ("changed", host_words(document)),
    )
    return [
        line
        for label, words in told
        if words
        for line in indented(words, f"  {label:<{LABEL_WIDTH}}", width)
    ]


def changes_paragraph(document: RunDocument) -> str:
    """For the page's method: what was limited and changed, with notes; empty where nothing was."""
    told = []
    changes = document["changes"]
    if changes is not None and (words := limit_words(document)):
        device = changes["device"]
        of_disk = f"; those of disks are of {device}" if device else ""
        version = changes["version"]
        told.append(f"Limited by control groups of version {version}{of_disk}: {words}.")
        told += [f"Note: {note}." for note in changes["notes"]]
    if words := slow_words(document):
        told.append(f"Slowed by stopping the engine: {words}.")
    if words := host_words(document):
        told.append(f"Changed on the host: {words}.")
    return " ".join(told)
