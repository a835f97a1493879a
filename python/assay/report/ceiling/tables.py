"""Tables of a host's maximum hardware speed, for terminal, page and exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.figures.contract import Cell
    from assay.report.documents.ceiling import (
        CeilingDocument,
        DiskPointEntry,
        EstimateEntry,
        MachinePointEntry,
    )

PATTERNS = ("sequential", "random")


def points_of(
    document: CeilingDocument, *, operation: str = "read", cache: str = "direct"
) -> list[DiskPointEntry]:
    """Return the disk points of one kind of request, with or without the page cache."""
    return [
        point
        for point in document["disk"]
        if point["operation"] == operation and point["cache"] == cache
    ]


def by_size(
    points: Sequence[DiskPointEntry],
) -> list[tuple[int, dict[tuple[int, str], DiskPointEntry]]]:
    """Return the measured disk points by request size, then by queue depth and pattern."""
    rows: dict[int, dict[tuple[int, str], DiskPointEntry]] = {}
    for point in points:
        key = point["depth"], point["pattern"]
        rows.setdefault(point["size_bytes"], {})[key] = point
    return sorted(rows.items())


def depths_of(points: Sequence[DiskPointEntry]) -> list[int]:
    """Return the measured queue depths, smallest first."""
    return sorted({point["depth"] for point in points})


def flat_points(document: CeilingDocument) -> list[dict[str, Cell]]:
    """Return the measured disk points as rows of plain values, for a CSV file or data frame."""
    return [_flat(point) for point in document["disk"]]


def flat_machine(document: CeilingDocument) -> list[dict[str, Cell]]:
    """Return the measured memory and core points as rows of plain values."""
    return [
        *(_flat_machine("memory", p, "bytes_per_s", p["bytes_per_s"]) for p in document["memory"]),
        *(_flat_machine("loads", p, "seconds", p["seconds"]) for p in document["loads"]),
        *(_flat_machine("cores", p, "steps_per_s", p["steps_per_s"]) for p in document["cores"]),
    ]


def _flat_machine(
    of: str, point: MachinePointEntry, unit: str, estimate: EstimateEntry
) -> dict[str, Cell]:
    return {
        "of": of,
        "kernel": point["kernel"],
        "threads": point["threads"],
        "array_bytes": point["array_bytes"],
        "unit": unit,
        "value": estimate["value"],
        "low": estimate["low"],
        "high": estimate["high"],
        "rounds": estimate["rounds"],
    }


def _flat(point: DiskPointEntry) -> dict[str, Cell]:
    latency = point["latency_s"]
    return {
        "operation": point["operation"],
        "pattern": point["pattern"],
        "cache": point["cache"],
        "method": point["method"],
        "depth": point["depth"],
        "size_bytes": point["size_bytes"],
        **_flat_estimate("iops", point["iops"]),
        **_flat_estimate("bytes_per_s", point["bytes_per_s"]),
        **_flat_estimate("cpu_s", point["cpu_s"]),
        "device_requests": point["device_requests"],
        "latency_p50_s": latency["p50"],
        "latency_p90_s": latency["p90"],
        "latency_p99_s": latency["p99"],
        "latency_p999_s": latency["p999"],
        "latency_max_s": latency["max"],
        "rounds": point["iops"]["rounds"],
    }


def _flat_estimate(name: str, estimate: EstimateEntry | None) -> dict[str, Cell]:
    if estimate is None:
        return {name: None}
    return {
        name: estimate["value"],
        f"{name}_low": estimate["low"],
        f"{name}_high": estimate["high"],
    }
