"""Decides whether disk trials measured the storage medium or a cache in front of it.

A virtual disk may be a file in the memory of the hypervisor's host, and a flush may end before
the data are on the medium. A guest cannot detect such a cache directly, but some signs suggest
it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.analysis.ceiling.trials import RANDOM, SEQUENTIAL
from assay.model.units import rate_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.analysis.ceiling.trials import Ceiling

PAGE_BYTES = 4096
# Sequential and random rates that differ by less are equal for the disk.
ALIKE_FACTOR = 1.5
# The sense time of a NAND flash page alone is some 40 us, before any transfer.
FLASH_READ_S = 40e-6
# A spinning disk makes one turn in 4 to 11 ms.
TURNING_READ_S = 2e-3
# Programming a page of flash takes hundreds of microseconds; a quicker flush went to a cache.
FLASH_FLUSH_S = 150e-6
VIRTUAL_DRIVERS = ("virtio", "vbd", "xen", "hv_", "storvsc", "vmw_pvscsi")
VIRTUAL_MODELS = ("qemu", "virtual", "vmware", "vbox", "elastic block", "persistentdisk", "msft")


def is_virtual(medium: Mapping[str, Any] | None) -> bool:
    """Return True if the disk reports that it is virtual: a file or service of another host."""
    driver = ((medium or {}).get("driver") or "").lower()
    model = ((medium or {}).get("model") or "").lower()
    return driver.startswith(VIRTUAL_DRIVERS) or any(word in model for word in VIRTUAL_MODELS)


def hiding_signs(
    ceiling: Ceiling, medium: Mapping[str, Any] | None, device: Mapping[str, Any] | None
) -> list[str]:
    """Return one sentence for each sign that disk trials measured a cache, not the medium.

    Args:
        ceiling: Trials of the disk.
        medium: Facts about the block device from `environment.json`: name, driver, model and so
            on.
        device: `host.data_device` from `environment.json`: rotational and so on.
    """
    if ceiling.disk.is_empty():
        return []
    return [
        *_virtual(medium),
        *_patterns(ceiling, device),
        *_latency(ceiling, device),
        *_flush(ceiling),
    ]


def _virtual(medium: Mapping[str, Any] | None) -> Iterator[str]:
    if medium is None:
        yield "the file lies on no single block device whose nature is known"
    elif is_virtual(medium):
        called = medium.get("model") or medium.get("driver")
        yield (
            f"{medium['name']} is a virtual disk ({called}): what lies behind it, and how much of"
            " it its host keeps in memory, cannot be seen from here"
        )


def _patterns(ceiling: Ceiling, device: Mapping[str, Any] | None) -> Iterator[str]:
    rates = [ceiling.iops(PAGE_BYTES, 1, pattern) for pattern in (SEQUENTIAL, RANDOM)]
    sequential, scattered = rates
    if sequential is None or scattered is None:
        return
    factor = sequential.value / scattered.value
    if not 1 / ALIKE_FACTOR <= factor <= ALIKE_FACTOR:
        return
    sentence = (
        f"4 KiB one at a time: {rate_text(sequential.value)} sequential and"
        f" {rate_text(scattered.value)} random; to a medium that turns they would differ a hundred"
        " times, to flash by little"
    )
    claims = (device or {}).get("rotational") is True
    yield f"{sentence}, though the kernel takes this one for turning" if claims else sentence


def _latency(ceiling: Ceiling, device: Mapping[str, Any] | None) -> Iterator[str]:
    reads = ceiling.disk.filter(
        operation="read", pattern=RANDOM, cache="direct", depth=1, size_bytes=PAGE_BYTES
    )
    shortest = reads["latency_p50_ns"].median()
    if not isinstance(shortest, int | float):
        return
    middle_s = shortest * 1e-9
    if (device or {}).get("rotational") is True and middle_s < TURNING_READ_S:
        yield (
            f"half of all random reads of 4 KiB take at most {seconds_text(middle_s)}: nothing that"
            " turns is as quick"
        )
    elif middle_s < FLASH_READ_S:
        yield (
            f"half of all random reads of 4 KiB take at most {seconds_text(middle_s)}: less than"
            " flash takes to be sensed, so memory answers, or a medium that is faster than flash"
        )


def _flush(ceiling: Ceiling) -> Iterator[str]:
    flush = ceiling.flush_seconds("fdatasync")
    if flush is not None and flush.value < FLASH_FLUSH_S:
        yield (
            f"a write of 8 KiB with fdatasync takes {seconds_text(flush.value)}: less than flash"
            " takes to keep it, so a cache answers, with a battery or without"
        )
