"""The resources that `--limit` can limit, and their amounts as text."""

from __future__ import annotations

from assay.model.units import bytes_text, grouped_text

CPU, CPUS, MEMORY = "cpu", "cpus", "memory"
READ_IOPS, WRITE_IOPS = "read-iops", "write-iops"
READ_RATE, WRITE_RATE = "read-rate", "write-rate"
# Units in the same order: cores, CPUs, operations per second, bytes per second, bytes.
NAMES = (CPU, CPUS, READ_IOPS, WRITE_IOPS, READ_RATE, WRITE_RATE, MEMORY)
OF_DISK = (READ_IOPS, WRITE_IOPS, READ_RATE, WRITE_RATE)


def amount_text(name: str, value: float | None) -> str:
    """Return the amount of a resource limit with its unit: `0.5 cores`, `500/s`.

    Args:
        name: Resource, one of `NAMES`.
        value: Amount in the unit of the limit; None if not measured.
    """
    if value is None:
        return "not measured"
    if name == CPU:
        return f"{value:.3g} cores"
    if name == CPUS:
        return f"{value:.0f}"
    if name == MEMORY:
        return bytes_text(value)
    if name in (READ_RATE, WRITE_RATE):
        return f"{bytes_text(value)}/s"
    return f"{grouped_text(value)}/s"
