"""Parts of a record that a page shows beside its document: series and texts of the engine.

A document holds figures; a page also draws what is too long for it. It is read here, once, so that
whatever renders the page gets the document and this, and never the record.
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


@dataclass(frozen=True)
class PageRecord:
    """Parts of a record that its page shows.

    Attributes:
        timeline: Series of the host over time; None without events.
        load: Series of a load; None in the power order, or without events.
        calls: The call tree of the CPU samples; None where there are none.
        environment: As the record has it; empty where a run ended before.
        asked_settings: Settings that were asked for.
        statements: Each with its text and title.
        status_texts: What the engine says of its own state.
        native_plans: Plans in the engine's own words, packed as a page unpacks them, by their file.
        absent: What the record does not hold, each with its reason.
        why_no_profile, why_no_counters, why_no_sessions: None where there are some.
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
    """Return what the page of a run shows beside its document."""
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
    """The timeline of a run; None where the record has no events to lay it along."""
    from assay.analysis.host.timeline import timeline

    try:
        return timeline(run)
    except RecordUnreadableError:
        return None


def read_load(run: Run) -> LoadView | None:
    """The series of a load; None in the power order, or without events."""
    from assay.analysis.load.view import load_view

    try:
        return load_view(run)
    except RecordUnreadableError:
        return None


def native_plans(run: Run, document: RunDocument) -> dict[str, str | None]:
    """Return each plan in the engine's own words, packed; None where its file is gone."""
    files = [plan["native"] for plans in document["plans"].values() for plan in plans]
    return {file: _packed(run.dir / "raw" / PLANS_DIR / Path(file).name) for file in files}


def _packed(file: Path) -> str | None:
    try:
        text = file.read_bytes()
    except OSError:
        return None
    return base64.b64encode(gzip.compress(text, mtime=0)).decode()


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
