"""Sentences on a host's maximum hardware speed, for terminal and page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import bytes_text, grouped_text, rate_text, seconds_text
from assay.report.ceiling.tables import points_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.report.documents.ceiling import (
        CeilingDocument,
        DiskPointEntry,
        EstimateEntry,
    )

MERGED_BELOW, CUT_ABOVE = 0.9, 1.5
PAGE_BYTES = 4096
# The smallest request size of a sweep.
SIZE_MIN = 512


def size_text(size_bytes: int) -> str:
    """Return a request size as text, such as `512 B` or `8 KiB`; sizes are powers of two."""
    return bytes_text(size_bytes)


def depth_text(depth: int) -> str:
    """Return a number of concurrent requests as text, such as `16 at a time`."""
    return "one at a time" if depth == 1 else f"{depth} at a time"


def rate_of(estimate: EstimateEntry | None) -> str:
    """Return requests a second as text; a dash if there is no value."""
    return "-" if estimate is None else grouped_text(estimate["value"])


def between(estimate: EstimateEntry, unit: str = "") -> str:
    """Return a rate with its interval as text, such as `15,300 [14,900, 15,700]`."""
    value = f"{grouped_text(estimate['value'])}{unit}"
    low, high = estimate["low"], estimate["high"]
    if low is None or high is None:
        return value
    return f"{value} [{grouped_text(low)}, {grouped_text(high)}]"


def title(document: CeilingDocument) -> str:
    """Return the title of a hardware ceiling, such as `What vda of build-7 can do`."""
    medium = document["medium"]
    disk = (medium and medium["name"]) or document["host"]["filesystem"] or "the disk"
    host = document["host"]["name"]
    return f"What {disk}{f' of {host}' if host else ''} can do"


def machine_text(document: CeilingDocument) -> str:
    """Return text on the measured machine, its disk and the file of the trials."""
    host, device, medium = document["host"], document["device"] or {}, document["medium"]
    parts = [
        f"{host['cpus']} CPUs" if host["cpus"] else None,
        host["cpu_model"],
        bytes_text(host["memory_bytes"]) if host["memory_bytes"] else None,
        None if medium is None else medium["model"] or medium["driver"],
        host["filesystem"],
        f"scheduler {device['scheduler']}" if device.get("scheduler") else None,
        f"write cache {medium['write_cache']}" if medium and medium["write_cache"] else None,
    ]
    return ", ".join(part for part in parts if part)


def method_sentence(document: CeilingDocument) -> str:
    """Return a sentence on the method of the trials: rounds, duration of a trial, file."""
    request = document["request"]
    points = [
        *(p["iops"] for p in document["disk"]),
        *(p["bytes_per_s"] for p in document["memory"]),
    ]
    points += [p["steps_per_s"] for p in document["cores"]]
    rounds = {point["rounds"] for point in points}
    made = f"{min(rounds)} to {max(rounds)}" if len(rounds) > 1 else f"{max(rounds, default=0)}"
    sentence = (
        f"{made} {'round' if made == '1' else 'rounds'} of trials of"
        f" {seconds_text(request['time_s'])} each, in a new random order each round"
    )
    if document["file"] is not None:
        size, place = bytes_text(document["file"]["size_bytes"]), request["directory"]
        sentence += f", on a file of {size} of random bytes in {place}"
    return f"{sentence}; intervals are of 95 %, over rounds"


def headline(document: CeilingDocument) -> list[tuple[str, str]]:
    """Return the most important speeds of a host's hardware, with their labels."""
    return [
        figure
        for figure in (
            _first(document, 1, "random reads of 4 KiB, one at a time"),
            _most(document),
            _bandwidth(document),
            _flush(document),
            _memory(document),
        )
        if figure is not None
    ]


def notes(document: CeilingDocument) -> list[str]:
    """Return warnings about the measured speeds, except those about caches."""
    sentences = []
    if document["io_uring_refusal"] is not None:
        sentences.append(
            f"io_uring is not granted here ({document['io_uring_refusal']}): concurrent "
            "requests were issued by as many threads with pread, which costs more CPU"
        )
    sentences += _reached(document)
    align = None if document["file"] is None else document["file"]["direct_align_bytes"]
    if align is not None and align > SIZE_MIN:
        sentences.append(
            f"O_DIRECT takes multiples of {bytes_text(align)} here: smaller requests were left out"
        )
    return sentences


def _reached(document: CeilingDocument) -> list[str]:
    """Return sentences on requests that the kernel split or merged before the device."""
    points = [
        (point, reached)
        for point in points_of(document)
        if (reached := point["device_requests"]) is not None
    ]
    joined = [(point, reached) for point, reached in points if reached < MERGED_BELOW]
    cut = [(point, reached) for point, reached in points if reached > CUT_ABOVE]
    sentences = []
    if joined:
        sentences.append(
            "the block layer merged adjacent requests before the device saw them: "
            f"{_which(joined)}; the device got larger requests"
        )
    if cut:
        sentences.append(
            f"the kernel split some requests on their way to the device: {_which(cut)}; the "
            "device limits their size or their number of memory segments"
        )
    if points and not joined and not cut:
        sentences.append("every request reached the device unchanged: none was merged or split")
    return sentences


def _which(points: Sequence[tuple[DiskPointEntry, float]]) -> str:
    """Return text on the first disk points, with the number of device requests per request."""
    descriptions = [
        f"{size_text(point['size_bytes'])} {point['pattern']}, {depth_text(point['depth'])}"
        f" ({reached:.2g} for one)"
        for point, reached in points
    ]
    more = len(descriptions) - 3
    return "; ".join(descriptions[:3]) + (f"; and {more} more" if more > 0 else "")


def _first(document: CeilingDocument, depth: int, label: str) -> tuple[str, str] | None:
    for point in points_of(document):
        key = point["depth"], point["pattern"], point["size_bytes"]
        if key == (depth, "random", PAGE_BYTES):
            return rate_text(point["iops"]["value"]), label
    return None


def _most(document: CeilingDocument) -> tuple[str, str] | None:
    chosen = [p for p in points_of(document) if p["size_bytes"] == PAGE_BYTES and p["depth"] > 1]
    if not chosen:
        return None
    best = max(chosen, key=lambda p: p["iops"]["value"])
    return rate_text(best["iops"]["value"]), f"reads of 4 KiB, {depth_text(best['depth'])}"


def _bandwidth(document: CeilingDocument) -> tuple[str, str] | None:
    chosen = points_of(document)
    if not chosen:
        return None
    best = max(chosen, key=lambda p: p["bytes_per_s"]["value"])
    label = f"by reads of {size_text(best['size_bytes'])}, {depth_text(best['depth'])}"
    return f"{bytes_text(best['bytes_per_s']['value'])}/s", label


def _flush(document: CeilingDocument) -> tuple[str, str] | None:
    for point in points_of(document, operation="fdatasync", cache="buffered"):
        label = f"a write of {size_text(point['size_bytes'])} with fdatasync (median)"
        return seconds_text(point["latency_s"]["p50"]), label
    return None


def _memory(document: CeilingDocument) -> tuple[str, str] | None:
    reads = [p for p in document["memory"] if p["kernel"] == "read"]
    if not reads:
        return None
    best = max(reads, key=lambda p: p["bytes_per_s"]["value"])
    threads = "1 thread" if best["threads"] == 1 else f"{best['threads']} threads"
    return f"{bytes_text(best['bytes_per_s']['value'])}/s", f"read of memory by {threads}"
