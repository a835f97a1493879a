"""Reads the data that a page shows besides its document: time series and plans.

A document holds figures; a page also draws longer series. This module reads the series once, so
that the code that renders the page does not read the record.
"""

from __future__ import annotations

import base64
import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from assay.model.errors import RecordUnreadableError
from assay.record.layout import PLANS_DIR
from assay.report.page.flame_view import FlameView, flame_view, small_enough
from assay.report.sections.profile import profile_of
from assay.report.words import not_measured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.host.timeline import Timeline
    from assay.analysis.load.view import LoadView
    from assay.record.reader import Run
    from assay.report.documents.profile.call_tree import CallTree
    from assay.report.documents.run import RunDocument

# The best level takes five times as long and saves a fourteenth.
PACKED_LEVEL = 6


@dataclass(frozen=True)
class PageRecord:
    """The time series, plans and call tree of a record that its page shows.

    Attributes:
        timeline: Series of the host over time; None without events.
        load: Series of a load; None in the power order, or without events.
        calls: The call tree of the CPU samples; None means no samples.
        environment: Content of `environment.json`; empty if the run ended before it was written.
        asked_settings: Requested settings.
        statements: Statements of the run, each with its text and title.
        status_texts: The engine's own status texts.
        native_plans: Plans in the engine's own form, compressed for the page, by file.
        absent: Data that the record does not hold, each with the reason.
        why_no_profile, why_no_counters, why_no_sessions: Reason why the data are missing; None if
            they exist.
    """

    timeline: Timeline | None
    load: LoadView | None
    calls: FlameView | None
    environment: Mapping[str, Any]
    asked_settings: Mapping[str, str]
    statements: list[dict[str, object]]
    status_texts: list[tuple[str, str]]
    native_plans: Mapping[str, str | None]
    absent: list[str]
    why_no_profile: str | None
    why_no_counters: str | None
    why_no_sessions: str | None


def read_page_record(run: Run, document: RunDocument) -> PageRecord:
    """Return the data that the page of a run shows in addition to its document."""
    return PageRecord(
        timeline=read_timeline(run),
        load=read_load(run),
        calls=_calls(run) if document["profile"] is not None else None,
        environment=run.environment,
        asked_settings=run.facts["request"]["settings"],
        statements=_statements(run),
        status_texts=run.status_texts(),
        native_plans=native_plans(run, document),
        absent=not_measured.not_measured(run, document),
        why_no_profile=not_measured.why_no_profile(run, document),
        why_no_counters=not_measured.why_no_counters(run, document),
        why_no_sessions=not_measured.why_no_sessions(run, document),
    )


def read_timeline(run: Run) -> Timeline | None:
    """Return the timeline of a run; None if the record has no events."""
    from assay.analysis.host.timeline import timeline

    try:
        return timeline(run)
    except RecordUnreadableError:
        return None


def read_load(run: Run) -> LoadView | None:
    """Return the series of a load; None in the power order, or without events."""
    from assay.analysis.load.view import load_view

    try:
        return load_view(run)
    except RecordUnreadableError:
        return None


def native_plans(run: Run, document: RunDocument) -> dict[str, str | None]:
    """Return each plan in the engine's own form, compressed; None if its file is missing."""
    files = [plan["native"] for plans in document["plans"].values() for plan in plans]
    return {file: _packed(run.dir / "raw" / PLANS_DIR / Path(file).name) for file in files}


def _packed(file: Path) -> str | None:
    try:
        text = file.read_bytes()
    except OSError:
        return None
    return base64.b64encode(gzip.compress(text, PACKED_LEVEL, mtime=0)).decode()


def _calls(run: Run) -> FlameView | None:
    from assay.analysis.profile.call_tree import call_tree

    profile = profile_of(run)
    if profile is None:
        return None
    return flame_view(
        *small_enough(lambda least: cast("CallTree", call_tree(profile, share_min=least)))
    )


def _statements(run: Run) -> list[dict[str, object]]:
    titles = run.facts["workload"]["operation_titles"]
    return [
        statement | {"title": titles.get(name, "")}
        for name, statement in run.facts.get("statements", {}).items()
    ]
