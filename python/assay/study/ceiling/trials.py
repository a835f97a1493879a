"""Makes the trials of a host's hardware, in random order.

Every round has each trial once, in a random order that follows from the seed. A temporary
disturbance therefore affects a few trials of one round, and never all trials of one size.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from assay.model.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

PARTS = ("disk", "memory", "core")
KIB, MIB = 1 << 10, 1 << 20
PATTERNS = ("sequential", "random")
READ_SIZES = tuple(512 << power for power in range(13))
READ_SIZES_QUICK = (512, 4 * KIB, 8 * KIB, 32 * KIB, 128 * KIB, 512 * KIB, 2 * MIB)
DEPTHS, DEPTHS_QUICK = (1, 4, 16, 64), (1, 16)
WRITE_SIZES, WRITE_SIZES_QUICK = (4 * KIB, 8 * KIB, 64 * KIB, MIB), (8 * KIB,)
WRITE_DEPTHS = (1, 16)
# Page size of most engines' logs.
FLUSH_BYTES = 8 * KIB
FLUSHES = ("fsync", "fdatasync")
STREAMS = ("read", "write", "copy", "triad")
CORE_WORK = ("arithmetic", "sort", "hash")
CHASED_BYTES = (16 * KIB, 256 * KIB, 4 * MIB, 32 * MIB, 256 * MIB)
CHASED_BYTES_QUICK = (16 * KIB, 256 * KIB, 256 * MIB)
# Factor by which an array exceeds the last-level cache, so that little of it stays cached.
TIMES_OF_CACHE = 4
ARRAY_BYTES_MIN = 64 * MIB
# Maximum share of memory for all arrays of all threads together.
MEMORY_SHARE_MAX = 0.25
ARRAYS_MAX = 3
QUICK_TIME_S, TIME_S = 0.1, 0.25
QUICK_ROUNDS, ROUNDS = 3, 5
QUICK_BYTES, FILE_BYTES = 1 << 30, 4 << 30
# The smallest file that holds the deepest queue of the largest reads.
FILE_BYTES_MIN = DEPTHS[-1] * READ_SIZES[-1]
TIME_S_MIN, TIME_S_MAX = 0.005, 60.0


@dataclass(frozen=True)
class CeilingRequest:
    """A request to measure the maximum speed of a host's hardware.

    Attributes:
        directory: Directory for the test file.
        size_bytes: Size of the test file.
        time_s: Duration of each trial.
        rounds: Number of repetitions of each trial.
        seed: Seed of the order of trials and of their read positions.
        quick: Whether fewer sizes, depths and arrays are measured.
        parts: Measured parts of the host, out of `PARTS`.
    """

    directory: Path
    size_bytes: int = FILE_BYTES
    time_s: float = TIME_S
    rounds: int = ROUNDS
    seed: int = 1
    quick: bool = False
    parts: tuple[str, ...] = PARTS

    def facts(self) -> dict[str, Any]:
        """Return the request as a record stores it."""
        return {
            "directory": str(self.directory),
            "size_bytes": self.size_bytes,
            "time_s": self.time_s,
            "rounds": self.rounds,
            "seed": self.seed,
            "quick": self.quick,
            "parts": list(self.parts),
        }

    def said(self) -> dict[str, Any]:
        """Return the options of a hardware measurement that differ from their defaults."""
        without = CeilingRequest(self.directory).facts()
        always = ("directory", "parts")
        return {
            name: fact
            for name, fact in self.facts().items()
            if name in always or fact != without[name]
        }


def quick_defaults() -> dict[str, Any]:
    """Return the defaults of a quick sweep."""
    return {"size_bytes": QUICK_BYTES, "time_s": QUICK_TIME_S, "rounds": QUICK_ROUNDS}


@dataclass(frozen=True)
class Machine:
    """The properties of a host that its trials depend on.

    Attributes:
        cpus: CPUs that this process may use.
        memory_bytes: Size of memory; None if the host does not report it.
        last_cache_bytes: Size of a CPU's largest cache; None if the host does not report it.
        direct_align_bytes: Alignment that O_DIRECT requires in the file's directory.
        has_ring: Whether the kernel allows io_uring.
    """

    cpus: int
    memory_bytes: int | None
    last_cache_bytes: int | None
    direct_align_bytes: int
    has_ring: bool


@dataclass(frozen=True)
class Trial:
    """One trial of a host's hardware, such as random reads of 8 KiB."""

    of: Literal["disk", "memory", "core"]
    facts: Mapping[str, Any]

    def asked(self, round_number: int, time_s: float) -> dict[str, Any]:
        """Return this hardware trial as arguments for the Rust core."""
        return {**self.facts, "round": round_number, "time_ns": round(time_s * NS_PER_S)}


def trials(request: CeilingRequest, machine: Machine) -> list[Trial]:
    """Return every hardware trial of one round, in no particular order."""
    every = [
        *_reads(request, machine),
        *_writes(request, machine),
        *_flushes(),
        *_memory(request, machine),
        *_cores(machine),
    ]
    return [trial for trial in every if trial.of in request.parts]


def in_order(request: CeilingRequest, machine: Machine) -> Iterator[tuple[int, Trial]]:
    """Yield the hardware trials of all rounds with their round's number, in execution order."""
    drawn = random.Random(request.seed)  # noqa: S311 - an order that can be drawn again
    for number in range(1, request.rounds + 1):
        one_round = trials(request, machine)
        drawn.shuffle(one_round)
        yield from ((number, trial) for trial in one_round)


def thread_counts(cpus: int) -> list[int]:
    """Return 1, 2, 4 and so on up to all CPUs, including that number."""
    powers = [1 << power for power in range(cpus.bit_length()) if 1 << power < cpus]
    return [*powers, cpus]


def array_bytes(machine: Machine) -> int:
    """Return the bytes of an array that exceeds the caches, limited by the available memory."""
    wanted = max(ARRAY_BYTES_MIN, TIMES_OF_CACHE * (machine.last_cache_bytes or 0))
    if machine.memory_bytes is None:
        return ARRAY_BYTES_MIN
    most = int(machine.memory_bytes * MEMORY_SHARE_MAX) // (ARRAYS_MAX * machine.cpus)
    return max(MIB, min(wanted, most) // MIB * MIB)


def _reads(request: CeilingRequest, machine: Machine) -> Iterator[Trial]:
    depths = DEPTHS_QUICK if request.quick else DEPTHS
    for size in READ_SIZES_QUICK if request.quick else READ_SIZES:
        for pattern in PATTERNS:
            yield _disk("read", pattern, 1, size, cache="buffered")
            for depth in depths:
                if _fits(size, depth, request, machine):
                    yield _disk("read", pattern, depth, size, ring=machine.has_ring)


def _writes(request: CeilingRequest, machine: Machine) -> Iterator[Trial]:
    for size in WRITE_SIZES_QUICK if request.quick else WRITE_SIZES:
        for pattern in PATTERNS:
            for depth in WRITE_DEPTHS:
                if _fits(size, depth, request, machine):
                    yield _disk("write", pattern, depth, size, ring=machine.has_ring)


def _flushes() -> Iterator[Trial]:
    for operation in FLUSHES:
        yield _disk(operation, "sequential", 1, FLUSH_BYTES, cache="buffered")


def _fits(size: int, depth: int, request: CeilingRequest, machine: Machine) -> bool:
    """Return True if O_DIRECT accepts a request size, and the file has room for the requests."""
    return size % machine.direct_align_bytes == 0 and size * depth <= request.size_bytes


def _disk(
    operation: str,
    pattern: str,
    depth: int,
    size_bytes: int,
    *,
    cache: str = "direct",
    ring: bool = False,
) -> Trial:
    facts = {
        "operation": operation,
        "pattern": pattern,
        "cache": cache,
        # A single request needs no ring, and most engines use none for it.
        "method": "io_uring" if ring and depth > 1 else "pread",
        "depth": depth,
        "size_bytes": size_bytes,
    }
    return Trial("disk", facts)


def _memory(request: CeilingRequest, machine: Machine) -> Iterator[Trial]:
    streamed = array_bytes(machine)
    for kernel in STREAMS:
        for threads in thread_counts(machine.cpus):
            facts = {"kernel": kernel, "threads": threads, "array_bytes": streamed}
            yield Trial("memory", facts)
    for size in CHASED_BYTES_QUICK if request.quick else CHASED_BYTES:
        yield Trial("memory", {"kernel": "chase", "threads": 1, "array_bytes": size})


def _cores(machine: Machine) -> Iterator[Trial]:
    for kernel in CORE_WORK:
        for threads in sorted({1, machine.cpus}):
            yield Trial("core", {"kernel": kernel, "threads": threads})
