"""Makes the document section `changes`: limits of the engine and changes to the host."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, cast

from assay.analysis.host.limits import limits_used, use_words
from assay.analysis.host.slowing import slowing
from assay.analysis.operations import window_of

if TYPE_CHECKING:
    from assay.record.reader import Run
    from assay.report.documents.host.changes import (
        ChangesSection,
        HostChangeRow,
        LimitRow,
        SlowedSection,
    )


def changes_section(run: Run) -> ChangesSection | None:
    """Return the document section `changes`; None if nothing was limited or changed."""
    limited = limits_used(run)
    changes = run.facts.get("changes") or []
    slowed = _slowed(run)
    if limited is None and slowed is None and not changes:
        return None
    return {
        "version": limited.version if limited else None,
        "device": limited.device if limited else None,
        "limits": [
            cast(
                "LimitRow",
                asdict(use) | {"in_effect": use.in_effect, "words": use_words(use)},
            )
            for use in (limited.uses if limited else ())
        ],
        "notes": list(limited.notes) if limited else [],
        "oom_kills": limited.oom_kills if limited else None,
        "slowed": slowed,
        "host": [cast("HostChangeRow", dict(change)) for change in changes],
    }


def _slowed(run: Run) -> SlowedSection | None:
    """Return the resources that were made slower, and by how much; None without any."""
    asked: dict[str, float] = run.facts["request"].get("slow") or {}
    if not asked:
        return None
    done = slowing(run, window_of(run)) if run.has("events") else None
    return {
        "asked": asked,
        "reached": None if done is None else done.achieved,
        "stopped_s": None if done is None else done.stopped_s,
    }
