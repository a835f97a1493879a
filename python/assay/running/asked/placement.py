"""Resolves `--pin` to CPUs: numbers, a NUMA node, or the CPUs left by engine or driver."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.errors import UsageError
from assay.model.units import whole_number
from assay.running.asked.parsing import PINNED

if TYPE_CHECKING:
    from collections.abc import Mapping

NODES = Path("/sys/devices/system/node")
NODE, REST = "node", "rest"


@dataclass(frozen=True)
class Host:
    """The CPUs that a run can be pinned to.

    Attributes:
        allowed: CPUs that this process may use.
        nodes: CPUs of each NUMA node by its name, such as `node0`; empty if the kernel reports
            none.
    """

    allowed: frozenset[int]
    nodes: Mapping[str, frozenset[int]]

    @classmethod
    def this(cls, nodes: Path = NODES) -> Host:
        """Return the host of the current process, with its CPUs and NUMA nodes."""
        return cls(frozenset(os.sched_getaffinity(0)), dict(_nodes(nodes)))


def _nodes(directory: Path) -> list[tuple[str, frozenset[int]]]:
    nodes = []
    for file in sorted(directory.glob(f"{NODE}[0-9]*/cpulist")):
        try:
            nodes.append((file.parent.name, parse_cpu_list(file.read_text(encoding="ascii"))))
        except (OSError, ValueError):
            continue
    return nodes


def parse_cpu_list(text: str) -> frozenset[int]:
    """Return the CPUs in a list of the kernel's form, such as `0-3,8`.

    Raises `ValueError`.
    """
    cpus: set[int] = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return frozenset(cpus)


def resolve_pin(text: str, host: Host) -> dict[str, list[int]]:
    """Return the CPUs for each pinned process, in ascending order.

    Args:
        text: Value of `--pin`, such as `engine=0,1,client=2`, `engine=node0,client=rest` or
            `engine=0-3`.
        host: CPUs and NUMA nodes of the host.

    Raises:
        UsageError: If the text does not have that form, or names CPUs or nodes that do not exist.
    """
    asked = _parsed_pin(text)
    pin = {
        who: sorted(_cpus(text, places, host)) for who, places in asked.items() if places != [REST]
    }
    for who in asked:
        if who not in pin:
            pin[who] = _rest(text, who, pin, host)
    return {who: pin[who] for who in asked}


def _parsed_pin(text: str) -> dict[str, list[str]]:
    """Return the CPU texts of `--pin` for each process, such as `engine`."""
    asked: dict[str, list[str]] = {}
    who = None
    for part in text.split(","):
        name, separator, rest = part.partition("=")
        who, word = (name.strip(), rest.strip()) if separator else (who, name.strip())
        if who not in PINNED or not _is_word(word):
            raise UsageError(
                f"--pin {text}: write it as --pin engine=0,client=1, engine=node0 or client=rest"
            )
        asked.setdefault(who, []).append(word)
    return asked


def _is_word(word: str) -> bool:
    numbers = word.removeprefix(NODE).split("-") if word.startswith(NODE) else word.split("-")
    most = 1 if word.startswith(NODE) else 2
    return word == REST or (len(numbers) <= most and all(part.isdecimal() for part in numbers))


def _cpus(text: str, places: list[str], host: Host) -> set[int]:
    cpus: set[int] = set()
    for place in places:
        if place == REST:
            raise UsageError(
                f"--pin {text}: rest cannot be combined with CPU numbers: write client=rest"
            )
        if not place.startswith(NODE):
            cpus.update(_numbered(text, place, host))
            continue
        if place not in host.nodes:
            there = ", ".join(host.nodes) or "the kernel reports none"
            raise UsageError(f"--pin {text}: there is no {place}; NUMA nodes of this host: {there}")
        ours = host.nodes[place] & host.allowed
        if not ours:
            raise UsageError(f"--pin {text}: Assay may not use any CPU of {place}")
        cpus |= ours
    return cpus


def _numbered(text: str, place: str, host: Host) -> range:
    """Return the CPUs of a number or of a range, such as `3` or `0-3`."""
    first, _, last = place.partition("-")
    begin, end, largest = whole_number(first), whole_number(last or first), max(host.allowed)
    # A longer range would fill the memory before its CPUs are compared with those of the host.
    if begin is None or end is None or max(begin, end) > largest:
        raise UsageError(
            f"--pin {text}: {place} contains a CPU that does not exist or is not available to"
            f" Assay: the largest available number is {largest}"
        )
    if begin > end:
        raise UsageError(
            f"--pin {text}: the range {place} ends before it begins: write {end}-{begin}"
        )
    return range(begin, end + 1)


def _rest(text: str, who: str, pin: Mapping[str, list[int]], host: Host) -> list[int]:
    """Return the CPUs that the other pinned process does not use."""
    other = next(name for name in PINNED if name != who)
    if other not in pin:
        raise UsageError(f"--pin {text}: rest needs the CPUs of the other side: add {other}=...")
    left = sorted(host.allowed - set(pin[other]))
    if not left:
        first, *others = sorted(host.allowed)
        mend = f"say fewer for {other}, such as {other}={first}" if others else "leave --pin out"
        allowed = ", ".join(map(str, sorted(host.allowed)))
        raise UsageError(
            f"--pin {text}: {other} has all available CPUs ({allowed}), and no CPU remains for "
            f"{who}; {mend}"
        )
    return left
