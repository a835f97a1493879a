"""The report: one page of one file that needs no network and runs no script but its own.

Everything a record says is foreign text: the template escapes it, JSON in the page cannot end its
element, and a content security policy names the page's own scripts by their digests, so that
nothing else would run even if something had slipped through.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from assay.model.errors import RecordUnreadableError
from assay.model.units import (
    NS_PER_S,
    bytes_text,
    count_text,
    near_whole_text,
    percent_text,
    rate_text,
    seconds_text,
)
from assay.report import engine_tables, method
from assay.report.profile_page import profile_words
from assay.report.terminal import check, conditions_text, doubts, host_text, operation_time, title

if TYPE_CHECKING:
    from collections.abc import Callable

    import jinja2
    from markupsafe import Markup

    from assay.analysis.load_view import LoadView
    from assay.analysis.timeline import Timeline
    from assay.record.reader import Run
    from assay.report.charts import Charts
    from assay.report.flame_view import FlameView

TEMPLATES = Path(__file__).parent / "templates"
# Vega compiles its expressions with `Function`, which needs 'unsafe-eval'. Nothing is fetched.
POLICY = (
    "default-src 'none'; script-src {digests} 'unsafe-eval'; style-src 'unsafe-inline';"
    " img-src data: blob:; form-action 'none'; base-uri 'none'"
)
NOT_IN_JSON = {char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
NUMBER, WORD = "number", "word"
DISK = ("disk_read", "disk_write", "disk")


class Column(NamedTuple):
    """A column of the table of operations: heading, meaning, kind, what is sorted and shown."""

    words: str
    about: str
    kind: str
    value: Callable[[dict[str, Any]], Any]
    text: Callable[[Any], str]


def _of(key: str) -> Callable[[dict[str, Any]], Any]:
    return lambda operation: operation[key]


def _where(*parts: str) -> Callable[[dict[str, Any]], Any]:
    """The share of these parts together; None where none of them was measured."""

    def share(operation: dict[str, Any]) -> float | None:
        known = [operation["where"][part] for part in parts if operation["where"][part] is not None]
        return sum(known) if known else None

    return share


def _cores_text(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.2f}"


COLUMNS = (
    Column("name", "operation of the workload", WORD, _of("name"), str),
    Column("asks for", "what the operation asks for", WORD, _of("title"), str),
    Column("median", "median service time of its passes", NUMBER, _of("seconds"), seconds_text),
    Column("fastest", "fastest pass", NUMBER, _of("seconds_min"), seconds_text),
    Column("slowest", "slowest pass", NUMBER, _of("seconds_max"), seconds_text),
    Column("share", "of the total of all medians", NUMBER, _of("share"), percent_text),
    Column("CPU user", "on a CPU, in the engine's code", NUMBER, _where("cpu_user"), percent_text),
    Column("CPU kernel", "on a CPU, in the kernel", NUMBER, _where("cpu_system"), percent_text),
    Column("run queue", "ready, waiting for a CPU", NUMBER, _where("run_queue"), percent_text),
    Column("disk", "reading, writing, syncing", NUMBER, _where(*DISK), percent_text),
    Column("locks", "locks and latches", NUMBER, _where("lock", "latch"), percent_text),
    Column("client", "network or client", NUMBER, _where("client"), percent_text),
    Column("workers", "for other workers", NUMBER, _where("workers"), percent_text),
    Column("idle", "a worker without work", NUMBER, _where("idle"), percent_text),
    Column("unknown", "not accounted for", NUMBER, _where("uncovered"), percent_text),
    Column("cores", "CPU seconds a second", NUMBER, _of("parallelism"), _cores_text),
    Column("threads", "engine threads at work, mean", NUMBER, _of("threads_at_work"), _cores_text),
    Column("coverage", "accounted share of thread time", NUMBER, _of("coverage"), percent_text),
    Column("peak memory", "resident", NUMBER, _of("memory_peak_bytes"), bytes_text),
    Column(
        "growth", "above what was resident before", NUMBER, _of("memory_growth_bytes"), bytes_text
    ),
    Column("read", "from storage, a pass", NUMBER, _of("read_bytes"), bytes_text),
    Column("dirtied", "pages changed, a pass", NUMBER, _of("write_bytes"), bytes_text),
    Column("page faults", "minor, a pass", NUMBER, _of("minor_faults"), count_text),
    Column("rows", "rows returned", NUMBER, _of("rows"), count_text),
    Column("passes", "how often it ran", NUMBER, _of("passes"), count_text),
)


def _time(times: str, name: str) -> Callable[[dict[str, Any]], Any]:
    return lambda operation: None if operation[times] is None else operation[times][name]


def _grouped(value: int) -> str:
    return f"{value:,}"


LOAD_COLUMNS = (
    Column("name", "operation of the workload", WORD, _of("name"), str),
    Column("rate", "succeeded, a second", NUMBER, _of("throughput_per_s"), rate_text),
    Column("share", "of the service time of all operations", NUMBER, _of("share"), percent_text),
    *[
        Column(words, f"latency, {about}", NUMBER, _time("latency", name), seconds_text)
        for words, name, about in (
            ("p50", "p50", "from when it was due: half were as fast"),
            ("p90", "p90", "nine of ten were as fast"),
            ("p95", "p95", "19 of 20 were as fast"),
            ("p99", "p99", "99 of 100 were as fast"),
            ("p99.9", "p999", "999 of 1,000 were as fast"),
            ("longest", "max", "the longest"),
        )
    ],
    *[
        Column(words, f"service time, {about}", NUMBER, _time("service", name), seconds_text)
        for words, name, about in (
            ("service p50", "p50", "from when it was started: half were as fast"),
            ("service p99", "p99", "99 of 100 were as fast"),
        )
    ],
    Column("due", "how often it was due", NUMBER, _of("passes"), _grouped),
    Column("failed", "how often it failed", NUMBER, _of("failed"), _grouped),
    Column("skipped", "due and never started", NUMBER, _of("skipped"), _grouped),
    Column("retries", "attempts beyond the first", NUMBER, _of("retries"), _grouped),
)


def page(run: Run, told: dict[str, Any]) -> str:
    """The report of a run as HTML, from its document and its record."""
    from assay.report.charts import Charts

    timeline = read_timeline(run)
    charts = Charts(told, timeline, read_load(run))
    columns = COLUMNS if told["conditions"]["clients"] is None else LOAD_COLUMNS
    drawn = [name for name in charts.names if charts.why_empty(name) is None]
    profile = profile_words(run, told["profile"])
    scripts = [_vega(), template("report.js"), *([template("flame.js")] if profile else [])]
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            told=told,
            policy=POLICY.format(digests=" ".join(script_digest(script) for script in scripts)),
            css=trusted(template("report.css") + template("flame.css")),
            scripts=[trusted(script) for script in scripts],
            specs=drawn,
            charts_json=trusted(json_in_html({name: charts[name].to_dict() for name in drawn})),
            data={name: _csv_links(charts, name) for name in drawn},
            names=charts.names,
            empty={name: charts.why_empty(name) for name in charts.names},
            columns=columns,
            rows=[[_cell(column, op) for column in columns] for op in told["operations"]],
            profile=profile and profile | {"tree": tree_words(profile["tree"])},
            why_no_profile=method.why_no_profile(run, told),
            **_words(run, told, timeline),
            **_engine(run, told),
        )
    )


def template(name: str) -> str:
    """The text of a file that pages are made of."""
    return (TEMPLATES / name).read_text(encoding="utf-8")


def tree_words(view: FlameView) -> dict[str, Any]:
    """A call tree by its template's names."""
    return view._asdict() | {"json": trusted(json_in_html(view.data))}


def read_timeline(run: Run) -> Timeline | None:
    """The timeline of a run; None where the record has no events to lay it along."""
    from assay.analysis.timeline import timeline

    try:
        return timeline(run)
    except RecordUnreadableError:
        return None


def read_load(run: Run) -> LoadView | None:
    """What is drawn of a load; None in the power order, or without events."""
    from assay.analysis.load_view import load_view

    try:
        return load_view(run)
    except RecordUnreadableError:
        return None


def json_in_html(value: object) -> str:
    """JSON that cannot end the script element that it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for char, escaped in NOT_IN_JSON.items():
        text = text.replace(char, escaped)
    return text


def script_digest(script: str) -> str:
    """A script's source expression for a content security policy."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _vega() -> str:
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed=vegaEmbed;")
    return bundle


def trusted(text: str) -> Markup:
    """Text of our own, or made harmless by us, that the template must not escape."""
    import markupsafe

    return markupsafe.Markup(text)  # noqa: S704


def environment() -> jinja2.Environment:
    """What makes pages of templates: everything is escaped that is not trusted."""
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined
    )
    made.filters.update(
        seconds=seconds_text,
        bytes=bytes_text,
        percent=percent_text,
        near_whole=near_whole_text,
        count=count_text,
        rate=rate_text,
        nanoseconds=lambda ns: seconds_text(None if ns is None else ns / NS_PER_S),
    )
    return made


def _csv_links(charts: Charts, name: str) -> dict[str, str]:
    return {
        words: f"data:text/csv;charset=utf-8,{quote(text)}"
        for words, text in charts.data(name).items()
    }


def _cell(column: Column, operation: dict[str, Any]) -> dict[str, Any]:
    value = column.value(operation)
    text = column.text(value)
    if column.words == "median":
        text = operation_time(operation)
    missing = value is None
    sorted_by = "" if missing else value
    return {"value": sorted_by, "text": text, "kind": column.kind, "missing": missing}


def _words(run: Run, told: dict[str, Any], timeline: Timeline | None) -> dict[str, Any]:
    """Everything the page says in words, by the template's names."""
    return {
        "title": title(told),
        "conditions": conditions_text(told),
        "doubts": doubts(told),
        "machine": _machine(told),
        "trust": _trust(told),
        "charts_about": method.charts_about(told, timeline),
        "table_about": method.table_about(told),
        "no_findings": method.no_findings(told),
        "environment": _environment_rows(run),
        "asked_settings": run.facts["request"]["settings"],
        "settings": run.environment.get("engine", {}).get("settings") or {},
        "tables": (run.environment.get("data") or {}).get("tables") or {},
        "statements": _statements(run),
        "method": method.paragraphs(told),
        "absent": method.not_measured(run, told),
    }


def _engine(run: Run, told: dict[str, Any]) -> dict[str, Any]:
    """Tables of the engine's own counters and of its CPU time, by the template's names."""
    counted, used = told["engine_counters"], told["sessions"]
    grown = engine_tables.figures_by_operation(counted) if counted else []
    return {
        "counter_rows": engine_tables.counter_rows(counted) if counted else [],
        "counter_columns": [(engine_tables.brief_name(f["name"]), f["title"]) for f in grown],
        "counters_by_operation": (
            engine_tables.operation_rows(counted, told["operations"]) if counted else []
        ),
        "cpu_rows": engine_tables.cpu_rows(used) if used else [],
        "why_no_counters": method.why_no_counters(run, told),
        "why_no_sessions": method.why_no_sessions(run, told),
        "counters_chart_about": method.COUNTERS_CHART_ABOUT,
    }


def _machine(told: dict[str, Any]) -> str:
    host = told["host"]
    parts = [host_text(told), host["cpu_model"], host["filesystem"]]
    words = ", ".join(part for part in parts if part)
    return words or "The machine was not recorded: the run ended before."


def _trust(told: dict[str, Any]) -> str:
    """What could have disturbed the figures, with its size."""
    parts = []
    for words, name in (("steal", "steal"), ("background", "background_load")):
        result = check(told, name)
        parts.append(f"{words} {percent_text(result['value'] if result else None)}")
    share = told["probes"]["core_share"]
    of_core = " of a core" if share is not None else ""
    return ", ".join([*parts, f"probes {percent_text(share)}{of_core}"])


def _environment_rows(run: Run) -> list[tuple[str, str]]:
    """Facts of the environment as rows; what the host did not tell is said to be so."""
    known = run.environment
    if not known:
        return []
    host, ours = known.get("host") or {}, known.get("assay") or {}
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
            return "not told by the host"
        case bool():
            return "yes" if value else "no"
        case list():
            return " ".join(str(item) for item in value)
        case int() if name.endswith("_bytes"):
            return bytes_text(value)
        case _:
            return str(value)


def _statements(run: Run) -> list[dict[str, Any]]:
    titles = run.facts["workload"]["operation_titles"]
    return [
        statement | {"title": titles.get(name, "")}
        for name, statement in run.facts.get("statements", {}).items()
    ]
