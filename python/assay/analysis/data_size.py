"""The size of a run's data, in the unit that its workload uses for results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.model.units import count_text, size_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.record.reader import Run

# Role of the setting for the size of an engine's own cache.
CACHE = "cache"
# Unit of a scale without a name of its own.
SCALE = "scale"


@dataclass(frozen=True)
class Size:
    """The size of a run's data.

    Attributes:
        scale: The requested scale.
        amount: Size in the workload's own unit: the rows of one table, or else the scale.
        unit: Name of that table, or of the scale.
        is_counted: Whether the amount is a number of rows.
    """

    scale: float
    amount: float
    unit: str
    is_counted: bool

    @property
    def text(self) -> str:
        """The size as text, such as `SF 0.1` or `1.05 M triples`."""
        return size_text(self.amount, self.unit, counted=self.is_counted)


def size_text(amount: float, unit: str, *, counted: bool) -> str:
    """Return an amount of data as text: `1.05 M triples`, `SF 0.1`, `10 warehouses`."""
    if counted:
        return f"{count_text(amount)} {unit}"
    is_short = unit.isupper() or unit == SCALE
    return f"{unit} {amount:g}" if is_short else f"{amount:g} {unit}"


def size_of(run: Run) -> Size:
    """Return the size of a run's data in the unit that its workload uses, such as triples."""
    workload = run.facts["workload"]
    scale = float(run.facts["request"]["scale"])
    table = (workload.get("sequence") or {}).get("size")
    rows = _data(run).get("tables", {}).get(table, {}).get("rows") if table else None
    if rows:
        return Size(scale, float(rows), str(table), is_counted=True)
    return Size(scale, scale, str(workload.get("scale_name") or SCALE), is_counted=False)


def rows_loaded(run: Run) -> float | None:
    """Return the number of loaded rows of all tables; None if they were not counted."""
    rows = (_data(run).get("load") or {}).get("rows")
    return None if rows is None else float(rows)


def data_bytes(run: Run) -> float | None:
    """Return the bytes of the data after loading; None if not measured."""
    files: Mapping[str, Any] = _data(run).get("files") or {}
    sizes = [file["bytes"] for file in files.values() if file.get("bytes") is not None]
    if sizes:
        return float(sum(sizes))
    of_all = (run.facts.get("state") or {}).get("data_bytes")
    return None if of_all is None else float(of_all)


def host_memory_bytes(run: Run) -> float | None:
    """Return the bytes of memory that the engine may use; None if not known."""
    limits = run.facts.get("request", {}).get("limits") or {}
    candidates = [run.environment.get("host", {}).get("memory_bytes"), _bytes(limits.get("memory"))]
    sizes = [float(size) for size in candidates if size is not None]
    return min(sizes, default=None)


def cache_bytes(run: Run) -> float | None:
    """Return the size of the engine's data cache in bytes; None if not reported."""
    advice = run.facts.get("engine", {}).get("advice") or {}
    name = advice.get("settings", {}).get(CACHE, {}).get("name")
    settings = run.environment.get("engine", {}).get("settings") or {}
    return None if name is None else _bytes(settings.get(name))


def _bytes(amount: object) -> float | None:
    """Return a size in bytes from a number, or from a text such as `8 GB`; None if unreadable."""
    return float(amount) if isinstance(amount, int | float) else size_bytes(str(amount or ""))


def _data(run: Run) -> Mapping[str, Any]:
    return run.environment.get("data") or {}
