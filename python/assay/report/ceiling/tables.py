"""Tables of a ceiling's document: for the terminal, the page and the exports alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PATTERNS = ("sequential", "random")


def points_of(
    document: Mapping[str, Any], *, operation: str = "read", cache: str = "direct"
) -> list[dict[str, Any]]:
    """Points of the disk of an operation, past the page cache or through it."""
    return [
        point
        for point in document["disk"]
        if point["operation"] == operation and point["cache"] == cache
    ]


def by_size(
    points: Sequence[Mapping[str, Any]],
) -> list[tuple[int, dict[tuple[int, str], Mapping[str, Any]]]]:
    """A row a size, the smallest first: its points by depth and pattern."""
    rows: dict[int, dict[tuple[int, str], Mapping[str, Any]]] = {}
    for point in points:
        key = point["depth"], point["pattern"]
        rows.setdefault(point["size_bytes"], {})[key] = point
    return sorted(rows.items())


def depths_of(points: Sequence[Mapping[str, Any]]) -> list[int]:
    """Depths that were tried, the smallest first."""
    return sorted({point["depth"] for point in points})


def flat_points(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Points of the disk as rows of plain values, for a CSV file or a data frame."""
    return [_flat(point) for point in document["disk"]]


def flat_machine(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Points of memory and of cores as rows of plain values."""
    units = {"memory": "bytes_per_s", "loads": "seconds", "cores": "steps_per_s"}
    return [
        {
            "of": of,
            "kernel": point["kernel"],
            "threads": point["threads"],
            "array_bytes": point["array_bytes"],
            "unit": unit,
            **{name: point[unit][name] for name in ("value", "low", "high", "rounds")},
        }
        for of, unit in units.items()
        for point in document[of]
    ]


def _flat(point: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in point.items():
        if name == "latency_s":
            flat |= {f"latency_{quantile}_s": seconds for quantile, seconds in value.items()}
        elif isinstance(value, dict):
            flat |= {
                name: value["value"],
                f"{name}_low": value["low"],
                f"{name}_high": value["high"],
            }
        else:
            flat[name] = value
    return flat | {"rounds": point["iops"]["rounds"]}
