"""The document of a host's maximum hardware speed, which `--json` prints.

`document.schema.json` beside this file describes it. A value that was not measured is null. A
record that ended early has a document with fewer points.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, cast

from assay.analysis.ceiling.medium import hiding_signs, is_virtual
from assay.analysis.ceiling.points import chase_points, core_points, disk_points, memory_points
from assay.analysis.ceiling.trials import Ceiling, read_ceiling
from assay.checks.judge import judge
from assay.model.errors import RecordUnreadableError
from assay.model.verdict import worst
from assay.record.layout import KIND_CEILING
from assay.report.kept import CEILING_SCHEMA
from assay.report.sections.checks import check_row
from assay.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from assay.analysis.ceiling.points import DiskPoint, MachinePoint
    from assay.analysis.ceiling.trials import Estimate
    from assay.record.reader import Run
    from assay.report.documents.ceiling import (
        AccessPattern,
        BandwidthEntry,
        CacheUse,
        CeilingDocument,
        CeilingHost,
        CoreSpeedEntry,
        DiskOperation,
        DiskPointEntry,
        EstimateEntry,
        HidingSigns,
        LatencyQuantiles,
        LoadTimeEntry,
        MachinePointEntry,
        ReadMethod,
    )

log = logging.getLogger(__name__)


def ceiling_document(run: Run, path: Path, page: Path) -> CeilingDocument:
    """Return the document of a hardware ceiling from its record."""
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
        "checks": [check_row(result) for result in checks],
        "hiding": _hiding(ceiling, environment),
        "disk": [] if ceiling is None else [_disk(point) for point in disk_points(ceiling)],
        "memory": [] if ceiling is None else [_bandwidth(p) for p in memory_points(ceiling)],
        "loads": [] if ceiling is None else [_load_time(p) for p in chase_points(ceiling)],
        "cores": [] if ceiling is None else [_core_speed(p) for p in core_points(ceiling)],
        "report": str(page) if page.is_file() else None,
    }


def _read(run: Run) -> Ceiling | None:
    try:
        return read_ceiling(run)
    except RecordUnreadableError as error:
        log.warning("the figures of ceiling %s cannot be computed: %s", run.id, error)
        return None


def _host(environment: Mapping[str, Any]) -> CeilingHost:
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


def _hiding(ceiling: Ceiling | None, environment: Mapping[str, Any]) -> HidingSigns:
    medium = environment.get("medium")
    device = (environment.get("host") or {}).get("data_device")
    signs = [] if ceiling is None else hiding_signs(ceiling, medium, device)
    return {"virtual": is_virtual(medium), "signs": signs}


def _disk(point: DiskPoint) -> DiskPointEntry:
    return {
        "operation": cast("DiskOperation", point.operation),
        "pattern": cast("AccessPattern", point.pattern),
        "cache": cast("CacheUse", point.cache),
        "method": cast("ReadMethod", point.method),
        "depth": point.depth,
        "size_bytes": point.size_bytes,
        "iops": _estimate(point.iops),
        "bytes_per_s": _estimate(point.bytes_per_s),
        "cpu_s": None if point.cpu_s is None else _estimate(point.cpu_s),
        "device_requests": point.device_requests,
        "latency_s": cast("LatencyQuantiles", point.latency_s),
    }


def _bandwidth(point: MachinePoint) -> BandwidthEntry:
    return {**_machine(point), "bytes_per_s": _estimate(point.per_s)}


def _load_time(point: MachinePoint) -> LoadTimeEntry:
    return {**_machine(point), "seconds": _estimate(point.per_s)}


def _core_speed(point: MachinePoint) -> CoreSpeedEntry:
    return {**_machine(point), "steps_per_s": _estimate(point.per_s)}


def _machine(point: MachinePoint) -> MachinePointEntry:
    return {
        "kernel": point.kernel,
        "threads": point.threads,
        "array_bytes": point.array_bytes,
    }


def _estimate(estimate: Estimate) -> EstimateEntry:
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "rounds": estimate.rounds,
    }
