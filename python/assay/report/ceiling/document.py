"""A ceiling as one document of plain values: what `--json` prints and every rendering reads.

`document.schema.json` beside this file describes it. What was not measured is null, and a record
that ended early has a document with fewer points.
"""

from __future__ import annotations

import logging
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from assay.analysis.ceiling.medium import hiding_signs, is_virtual
from assay.analysis.ceiling.points import chase_points, core_points, disk_points, memory_points
from assay.analysis.ceiling.trials import Ceiling, read_ceiling
from assay.checks.judge import judge
from assay.model.errors import RecordUnreadableError
from assay.model.verdict import worst
from assay.record.layout import KIND_CEILING
from assay.report.kept import CEILING_SCHEMA
from assay.version import VERSION

if TYPE_CHECKING:
    from pathlib import Path

    from assay.analysis.ceiling.points import DiskPoint, MachinePoint
    from assay.record.reader import Run

log = logging.getLogger(__name__)


def ceiling_document(run: Run, path: Path, page: Path) -> dict[str, Any]:
    """The document of a ceiling whose directory is `path` and whose page is at `page`."""
    checks = judge(run)
    environment = run.environment
    ceiling = _read(run)
    return {
        "schema": CEILING_SCHEMA,
        "kind": KIND_CEILING,
        "assay_version": VERSION,
        "run": run.id,
        "path": str(path),
        "status": run.facts["status"],
        "status_reason": run.facts.get("reason"),
        "started_utc": run.facts.get("started_utc"),
        "request": run.facts["request"],
        "host": _host(environment),
        "device": (environment.get("host") or {}).get("data_device"),
        "medium": environment.get("medium"),
        "file": environment.get("file"),
        "io_uring_refusal": environment.get("io_uring_refusal"),
        "verdict": worst(checks).word,
        "checks": [asdict(result) | {"verdict": result.verdict.word} for result in checks],
        "hiding": _hiding(ceiling, environment),
        **_points(ceiling),
        "report": str(page) if page.is_file() else None,
    }


def _read(run: Run) -> Ceiling | None:
    try:
        return read_ceiling(run)
    except RecordUnreadableError as error:
        log.warning("ceiling %s has no figures: %s", run.id, error)
        return None


def _host(environment: dict[str, Any]) -> dict[str, Any]:
    host = environment.get("host") or {}
    cpu = host.get("cpu") or {}
    return {
        "name": host.get("host"),
        "kernel": host.get("kernel"),
        "cpus": cpu.get("online"),
        "cpu_model": cpu.get("model"),
        "memory_bytes": host.get("memory_bytes"),
        "last_cache_bytes": environment.get("last_cache_bytes"),
        "filesystem": (host.get("data_filesystem") or {}).get("type"),
    }


def _hiding(ceiling: Ceiling | None, environment: dict[str, Any]) -> dict[str, Any]:
    medium = environment.get("medium")
    device = (environment.get("host") or {}).get("data_device")
    signs = [] if ceiling is None else hiding_signs(ceiling, medium, device)
    return {"virtual": is_virtual(medium), "signs": signs}


def _points(ceiling: Ceiling | None) -> dict[str, Any]:
    if ceiling is None:
        return {name: [] for name in ("disk", "memory", "loads", "cores")}
    return {
        "disk": [_disk(point) for point in disk_points(ceiling)],
        "memory": [_machine(point, "bytes_per_s") for point in memory_points(ceiling)],
        "loads": [_machine(point, "seconds") for point in chase_points(ceiling)],
        "cores": [_machine(point, "steps_per_s") for point in core_points(ceiling)],
    }


def _disk(point: DiskPoint) -> dict[str, Any]:
    told = asdict(point)
    latency = told.pop("latency_s")
    return told | {"latency_s": latency}


def _machine(point: MachinePoint, unit: str) -> dict[str, Any]:
    told = asdict(point)
    return told | {unit: told.pop("per_s")}
