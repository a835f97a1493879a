"""Makes the report of a run: an HTML page in one file that needs no network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from assay.model.units import (
    bytes_text,
    percent_text,
)
from assay.report.page import vega
from assay.report.page.findings import FIRST_FOLD, anchors, finding_rows, ruled_out_rows
from assay.report.page.operation_columns import cell, operation_columns
from assay.report.page.plans import capture_words, missing_rows, plan_rows
from assay.report.page.profile import profile_words
from assay.report.page.record import read_page_record
from assay.report.page.rendering import json_in_html, rendered, template, trusted
from assay.report.page.specified import words_of_test
from assay.report.page.storage import storage_words
from assay.report.page.time import time_rows
from assay.report.page.what_if import what_if_words
from assay.report.sections.finding_methods import used_methods
from assay.report.words import cluster as cluster_text
from assay.report.words import counted as counted_text
from assay.report.words import engine_tables, method, not_measured
from assay.report.words.changes import host_words, limit_words, slow_words
from assay.report.words.doubts import doubts
from assay.report.words.loads import sequences as sequence_text
from assay.report.words.loads import statements as statement_text
from assay.report.words.loads import transactions as transactions_text
from assay.report.words.loads.load import load_words
from assay.report.words.loads.steady import steady_about
from assay.report.words.memory import memory_words, state_words
from assay.report.words.observed import not_seen_words, observed_figures, observed_words
from assay.report.words.plan_work import plan_work_about, plan_work_rows
from assay.report.words.run import (
    answers_words,
    bridge_words,
    check,
    conditions_text,
    host_text,
    title,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.record.reader import Run
    from assay.report.charts.run import Charts
    from assay.report.documents.run import RunDocument
    from assay.report.page.flame_view import FlameView
    from assay.report.page.record import PageRecord


def page(run: Run, document: RunDocument) -> str:
    """Return the report of a run as HTML, from its document and its record."""
    from assay.report.charts.run import Charts

    record = read_page_record(run, document)
    charts = Charts(document, record.timeline, record.load)
    columns = operation_columns(document)
    drawn = [name for name in charts.names if charts.why_empty(name) is None]
    profile = profile_words(document["profile"], record.calls)
    flame = [template("flame.js")] if profile else []
    scripts = [vega.program(), template("report.js"), *flame, template("explain.js")]
    return rendered(
        "report.html.j2",
        scripts,
        ["report.css", "flame.css"],
        document=document,
        specs=drawn,
        charts_json=trusted(json_in_html(_specifications(charts, drawn))),
        data={name: _csv_links(charts, name) for name in drawn},
        names=charts.names,
        empty={name: charts.why_empty(name) for name in charts.NAMES},
        columns=columns,
        rows=[[cell(column, op) for column in columns] for op in document["operations"]],
        profile=profile and profile | {"tree": record.calls and tree_words(record.calls)},
        why_no_profile=record.why_no_profile,
        test=words_of_test(document),
        storage=storage_words(document),
        steady_about=steady_about(document),
        cluster=_cluster(document),
        **_texts(record, document),
        **_engine(record, document),
        **_statement_times(document),
        **_explanation(record, document),
    )


def _specifications(charts: Charts, names: list[str]) -> dict[str, object]:
    """Return the specifications of the charts as JSON values, without validation."""
    from altair.utils.schemapi import debug_mode

    with debug_mode(arg=False):
        return {name: charts[name].to_dict(validate=False) for name in names}


def tree_words(view: FlameView) -> dict[str, object]:
    """Return a call tree's flame graph under the names that the page template uses."""
    return view._asdict() | {"json": trusted(json_in_html(view.data))}


def _csv_links(charts: Charts, name: str) -> dict[str, str]:
    return {
        label: f"data:text/csv;charset=utf-8,{quote(text)}"
        for label, text in charts.data(name).items()
    }


def _texts(record: PageRecord, document: RunDocument) -> dict[str, object]:
    """Return all texts of a run's page, by the names that its template uses."""
    return {
        "title": title(document),
        "conditions": conditions_text(document),
        "doubts": doubts(document),
        "machine": _machine(document),
        "state": state_words(document),
        "limits": limit_words(document),
        "slowed": slow_words(document),
        "changed": host_words(document),
        "memory": memory_words(document),
        "trust": _trust(document),
        "charts_about": method.charts_about(document, record.timeline),
        "table_about": method.table_about(document),
        "no_findings": method.no_findings(document),
        "environment": _environment_rows(record.environment),
        "asked_settings": record.asked_settings,
        "settings": record.environment.get("engine", {}).get("settings") or {},
        "tables": (record.environment.get("data") or {}).get("tables") or {},
        "load": load_words((record.environment.get("data") or {}).get("load")),
        "statements": record.statements,
        "method": method.paragraphs(document),
        "absent": [*record.absent, *map(_sentence, not_seen_words(document))],
        "looked": [_sentence(clause) for clause in observed_words(document)],
        "observed_figures": observed_figures(document),
    }


def _sentence(clause: str) -> str:
    return f"{clause[:1].upper()}{clause[1:]}."


def _statement_times(document: RunDocument) -> dict[str, object]:
    """Return transaction types, statement times and stalls for the page template."""
    stalls = document["stalls"]
    return {
        "specified": sequence_text.specified_figure(document),
        "sequence_words": sequence_text.metric_words(document),
        "sequence_heads": sequence_text.heads(document),
        "sequence_rows": sequence_text.rows(document),
        "rate_words": transactions_text.rate_words(document),
        "transaction_heads": transactions_text.HEADS,
        "transaction_rows": transactions_text.rows(document),
        "statement_heads": statement_text.HEADS,
        "statement_rows": statement_text.rows(document),
        "statement_tails": statement_text.tails(document),
        "stalls_words": stalls and statement_text.stalls_words(stalls),
        "stall_rows": [
            (stall, statement_text.moved_words(stall["moved"]))
            for stall in (stalls or {"stalls": []})["stalls"]
        ],
    }


def _explanation(record: PageRecord, document: RunDocument) -> dict[str, object]:
    """Return findings, plans and predictions for the page template."""
    settings = record.environment.get("engine", {}).get("settings") or {}
    what_if = what_if_words(document)
    return {
        "time_rows": time_rows(document["time"]),
        "ruled_out": ruled_out_rows(document),
        "findings": finding_rows(document, anchors(document, settings)),
        "first_fold": FIRST_FOLD,
        "methods": used_methods(document),
        "plans": plan_rows(record.native_plans, document),
        "plans_about": capture_words(document),
        "plan_work": plan_work_rows(document),
        "plan_work_about": plan_work_about(document),
        "plans_missing": missing_rows(document),
        "why_no_plans": not_measured.why_no_plans(document),
        "what_if": what_if and what_if | {"json": trusted(json_in_html(what_if["json"]))},
        "why_no_what_if": not_measured.why_no_what_if(document),
    }


def _engine(record: PageRecord, document: RunDocument) -> dict[str, object]:
    """Return the engine's counters and CPU time for the page template."""
    counted, used = document["engine_counters"], document["sessions"]
    grown = engine_tables.figures_by_operation(counted) if counted else []
    activity = counted["activity"] if counted else None
    parts = counted_text.activity_rows(activity) if activity else []
    return {
        "activity": activity,
        "activity_rows": parts,
        "activity_width": max((len(name) for name, _ in parts), default=0),
        "counter_rows": engine_tables.counter_rows(counted) if counted else [],
        "counter_columns": [(engine_tables.brief_name(f["name"]), f["title"]) for f in grown],
        "counters_by_operation": (
            engine_tables.operation_rows(counted, document["operations"]) if counted else []
        ),
        "counted_objects": engine_tables.object_rows(counted) if counted else [],
        "status_texts": record.status_texts,
        "cpu_rows": engine_tables.cpu_rows(used) if used else [],
        "why_no_counters": record.why_no_counters,
        "why_no_sessions": record.why_no_sessions,
        "counters_chart_about": method.COUNTERS_CHART_ABOUT,
    }


def _cluster(document: RunDocument) -> dict[str, object] | None:
    """Return the page's values for the section on cluster nodes; None without a cluster."""
    cluster = document["cluster"]
    return cluster and {
        "cores": cluster_text.cores_words(cluster),
        "skew": cluster_text.skew_words(cluster["run"]) if cluster["run"] else [],
        "uneven": [
            f"{operation['name']}, {sentence}"
            for operation in cluster["operations"]
            for sentence in cluster_text.skew_words(operation)
        ],
        "barriers": cluster_text.barrier_words(cluster["barriers"]),
        "meanings": cluster_text.word_rows(cluster),
        "chart_about": method.CLUSTER_CHART_ABOUT,
    }


def _machine(document: RunDocument) -> str:
    host = document["host"]
    parts = [host_text(document), host["cpu_model"], host["filesystem"]]
    text = ", ".join(part for part in parts if part)
    return text or "The machine was not recorded, because the run ended before."


def _trust(document: RunDocument) -> str:
    """Return text on disturbances of the measurement, such as stolen CPU time."""
    parts = []
    for label, name in (("steal", "steal"), ("background", "background_load")):
        result = check(document, name)
        parts.append(f"{label} {percent_text(result['value'] if result else None)}")
    share = document["probes"]["core_share"]
    of_core = " of a core" if share is not None else ""
    parts += [f"probes {percent_text(share)}{of_core}", *bridge_words(document)]
    if (answers := answers_words(document)) is not None:
        parts.append(f"answers {' '.join(word for word in answers if word)}")
    return ", ".join(parts)


def _environment_rows(environment_facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return facts about the host and the software as rows, including missing ones."""
    if not environment_facts:
        return []
    host, ours = environment_facts.get("host") or {}, environment_facts.get("assay") or {}
    return [row for key, value in host.items() for row in _flat(key, value)] + [
        row for key, value in ours.items() for row in _flat(f"Assay {key}", value)
    ]


def _flat(prefix: str, value: object) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [row for key, inner in value.items() for row in _flat(f"{prefix} {key}", inner)]
    return [(prefix.removesuffix("_bytes").replace("_", " "), _fact_text(prefix, value))]


def _fact_text(name: str, value: object) -> str:
    match value:
        case None:
            return "not reported by the host"
        case bool():
            return "yes" if value else "no"
        case list():
            return " ".join(str(item) for item in value)
        case int() if name.endswith("_bytes"):
            return bytes_text(value)
        case _:
            return str(value)
