"""Parses resource limits from texts such as `cpu=0.5` or `memory=512MB`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.errors import UsageError, suggestion
from assay.model.limit import CPU, MEMORY, NAMES, READ_IOPS, READ_RATE, WRITE_IOPS, WRITE_RATE
from assay.model.units import bytes_text, parse_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

WRITTEN = "cpu=0.5, cpus=1, read-iops=500, read-rate=50MB or memory=512MB"
# Scheduler period in µs, and minimum CPU time per period in µs.
CPU_PERIOD_US, CPU_QUOTA_US_MIN = 20_000, 1_000
CPU_LONG_PERIOD_US = 100_000
CPU_CORES_MIN = CPU_QUOTA_US_MIN / CPU_LONG_PERIOD_US
# A Python process does not start with less memory.
MEMORY_BYTES_MIN = 16 << 20
# No host has so many cores. The kernel changes more requests, and twice as many bytes, to no limit.
CPU_CORES_MAX, IOPS_MAX, BYTES_MAX = 1 << 16, 2**32 - 2, 1 << 62
MAXIMA = {
    CPU: (CPU_CORES_MAX, f"{CPU_CORES_MAX:,}"),
    **dict.fromkeys((READ_IOPS, WRITE_IOPS), (IOPS_MAX, f"{IOPS_MAX:,}")),
    **dict.fromkeys((READ_RATE, WRITE_RATE, MEMORY), (BYTES_MAX, f"{BYTES_MAX >> 40}TB")),
}

Limits = dict[str, float]


def parse_limits(asked: Mapping[str, str]) -> Limits:
    """Return resource limits by name from texts such as `cpu=0.5`.

    Raises:
        UsageError: If a limit is unknown, or its value is not an amount.
    """
    return {name: _parsed(name, text.strip()) for name, text in asked.items()}


def period_us(cores: float) -> int:
    """Return the period of a CPU limit in microseconds, as short as possible."""
    enough = cores * CPU_PERIOD_US >= CPU_QUOTA_US_MIN
    return CPU_PERIOD_US if enough else CPU_LONG_PERIOD_US


def quota_us(cores: float) -> int:
    """Return the CPU time in microseconds that a limit allows in one period."""
    return round(cores * period_us(cores))


def _parsed(name: str, text: str) -> float:
    if name not in NAMES:
        raise UsageError(f"--limit {name}={text}: unknown; {suggestion(name, list(NAMES))}")
    try:
        value = _amount(name, text)
    except ValueError:
        raise UsageError(f"--limit {name}={text}: write it like {WRITTEN}") from None
    least = {CPU: CPU_CORES_MIN, MEMORY: MEMORY_BYTES_MIN}.get(name, 1)
    if not least <= value < float("inf"):
        minimum = bytes_text(least) if name == MEMORY else f"{least:g}"
        raise UsageError(
            f"--limit {name}={text}: the minimum is {minimum}; remove the limit for none"
        )
    most, maximum = MAXIMA.get(name, (value, ""))
    if value > most:
        raise UsageError(
            f"--limit {name}={text}: the maximum is {maximum}; remove the limit for none"
        )
    return value


def _amount(name: str, text: str) -> float:
    if name == CPU:
        return float(text)
    if name in (READ_RATE, WRITE_RATE, MEMORY):
        return parse_bytes(text.removesuffix("/s"))
    return int(text)
