"""The conditions of a study's runs: machine, engines, data and requested options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.answers.durability import level_of
from assay.analysis.summarise import cpus_allowed
from assay.model.limit import amount_text
from assay.model.units import bytes_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.analysis.study_runs import StudyRun
    from assay.record.reader import Run
    from assay.report.documents.study import ConditionEntry


def conditions_of(runs: Sequence[StudyRun]) -> list[ConditionEntry]:
    """Return the conditions of runs with all their values, which may differ between runs."""
    values_by_fact: dict[str, dict[str, None]] = {}
    for run in runs:
        for what, value in _facts(run.run):
            values_by_fact.setdefault(what, {})[value] = None
    return [{"what": what, "values": list(values)} for what, values in values_by_fact.items()]


def _facts(run: Run) -> Iterator[tuple[str, str]]:
    facts = run.facts
    workload, request, engine = facts["workload"], facts["request"], facts["engine"]
    name = workload.get("scale_name", "scale")
    yield "workload", f"{workload['title']}, {name} {float(request['scale']):g}"
    yield "engine", f"{engine.get('title', engine['name'])} {engine['version']}"
    if (level := level_of(facts)) is not None:
        yield "durability", f"{engine.get('title', engine['name'])}: {level}"
    for setting, value in (request.get("settings") or {}).items():
        yield "settings", f"{engine.get('title', engine['name'])}: {setting} = {value}"
    for limit, asked in (request.get("limits") or {}).items():
        yield "limits", f"{limit} {amount_text(limit, asked)}"
    for change in facts.get("changes") or []:
        yield "changed on the host", f"{change['what']}: {change['effective']}"
    yield from _machine(run)


def _machine(run: Run) -> Iterator[tuple[str, str]]:
    host = run.environment.get("host") or {}
    if not host:
        return
    cpu = host.get("cpu") or {}
    count = cpus_allowed(run)
    kind = " (virtual)" if cpu.get("virtual") else ""
    yield (
        "processors",
        f"{count or 'unknown number of'} x {cpu.get('model') or 'unknown model'}{kind}",
    )
    yield "memory", bytes_text(host.get("memory_bytes"))
    storage = host.get("data_filesystem") or {}
    yield "storage of the data", str(storage.get("type") or "not reported by the host")
    yield (
        "system",
        ", ".join(
            str(part) for part in (host.get("distribution"), f"Linux {host.get('kernel')}") if part
        ),
    )
    ours = run.environment.get("assay") or {}
    yield "measured by", f"Assay {ours.get('version')}"
