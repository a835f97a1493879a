"""Finds what can be measured on this host, by trying each kind of measurement."""

from __future__ import annotations

import os
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.contract import Wanted, tell_nobody
from assay.engines.obtaining import is_installed
from assay.model.errors import AssayError
from assay.model.units import bytes_text
from assay.running.changes.abilities import host_abilities
from assay.running.host.ability import Ability, known
from assay.running.host.places import engines_dir

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engines.discovery import EngineFolder
    from assay.engines.facts import EngineFacts

# Space for a data set at SF 1 and its copy, with a margin.
SPACE_WANTED_BYTES = 4 << 30


def examine(runs: Path, cache: Path, proc: Path = Path("/proc")) -> list[Ability]:
    """Return which measurements are possible on this host, in the order of need."""
    return [
        _platform(),
        *known("engines", _engines),
        *_space("space for runs", runs, "name another place with --runs DIR"),
        *_space("space for data", cache, "set XDG_CACHE_HOME to a place with more"),
        _readable("CPU times", proc / "stat", "the system probe needs it"),
        _readable("disk counters", proc / "diskstats", "the disks probe needs it"),
        _readable("pressure stalls", proc / "pressure" / "io", "boot with psi=1 to have them"),
        _readable("thread clocks", proc / "self" / "schedstat", "needs CONFIG_SCHED_INFO"),
        _delay_accounting(proc),
        _peak_memory(proc),
        *known("CPU samples", lambda: [_cpu_samples()]),
        _cpus(),
        *host_abilities(),
    ]


def _platform() -> Ability:
    machine = f"{sys.platform} {os.uname().machine}"
    if sys.platform == "linux":
        return Ability("platform", "yes", machine)
    return Ability("platform", "partly", machine, "runs need Linux; reading records works anywhere")


def _engines() -> Iterator[Ability]:
    from assay.engines.discovery import find_engines

    for name, folder in find_engines().items():
        yield from known(f"engine {name}", partial(_engine, folder))


def _engine(folder: EngineFolder) -> list[Ability]:
    """Return the version of an engine, or the versions that are installed."""
    if folder.facts.products:
        return [_products(folder.facts)]
    name = f"engine {folder.facts.name}"
    try:
        product = folder.engine().obtain(Wanted(engines_dir()), tell_nobody)
    except (AssayError, ImportError) as error:
        return [Ability(name, "no", str(error))]
    return [Ability(name, "yes", f"version {product.version}")]


def _products(facts: EngineFacts) -> Ability:
    """Return the installed versions of an engine."""
    there = [p.version for p in facts.products if is_installed(facts, p, engines_dir())]
    if there:
        return Ability(f"engine {facts.name}", "yes", f"installed: {', '.join(there)}")
    versions = ", ".join(f"@{product.version}" for product in facts.products)
    mend = f"`assay engines install {facts.name}` obtains it now"
    return Ability(f"engine {facts.name}", "partly", f"can be obtained: {versions}", mend)


def _space(name: str, place: Path, mend: str) -> list[Ability]:
    return known(name, lambda: [_free_space(name, place, mend)])


def _free_space(name: str, place: Path, mend: str) -> Ability:
    existing = next(path for path in [place.absolute(), *place.absolute().parents] if path.exists())
    if not existing.is_dir():
        return Ability(name, "no", f"{existing} is not a directory", mend)
    if not os.access(existing, os.W_OK):
        return Ability(name, "no", f"{existing} is not writable", mend)
    free = shutil.disk_usage(existing).free
    enough = free >= SPACE_WANTED_BYTES
    seen = f"{bytes_text(free)} free in {existing}"
    return Ability(name, "yes" if enough else "partly", seen, "" if enough else mend)


def _readable(name: str, path: Path, mend: str) -> Ability:
    try:
        path.read_bytes()
    except OSError as error:
        return Ability(name, "no", f"{path}: {error.strerror}", mend)
    return Ability(name, "yes", f"{path} is readable")


def _delay_accounting(proc: Path) -> Ability:
    path = proc / "sys" / "kernel" / "task_delayacct"
    try:
        on = path.read_text(encoding="ascii").strip() == "1"
    except OSError:
        on = False
    if on:
        return Ability("waiting for disk", "yes", "exact, by delay accounting")
    mend = "`sudo sysctl kernel.task_delayacct=1` makes it exact, at a small cost"
    return Ability("waiting for disk", "partly", "approximate, from thread states", mend)


def _peak_memory(proc: Path) -> Ability:
    try:
        with (proc / "self" / "clear_refs").open("w") as file:
            file.write("5")
    except OSError as error:
        return Ability("peak memory", "no", f"clear_refs: {error.strerror}")
    return Ability("peak memory", "yes", "of every operation")


def _cpu_samples() -> Ability:
    from assay.probes.profile import granted_here

    try:
        granted = granted_here()
    except OSError as error:
        return Ability("CPU samples", "no", str(error))
    whose = "all processes" if granted["whole_machine"] else "our own processes"
    where = "user and kernel" if granted["kernel"] else "user space only"
    seen = f"{granted['event']}, {whose}, {where}"
    if granted["kernel"] and granted["whole_machine"]:
        return Ability("CPU samples", "yes", seen)
    mend = "`sudo sysctl kernel.perf_event_paranoid=0` allows all processes and time in the kernel"
    return Ability("CPU samples", "partly", seen, mend)


def _cpus() -> Ability:
    allowed, online = len(os.sched_getaffinity(0)), os.cpu_count() or 0
    seen = f"{allowed} of {online} CPUs may be used"
    return Ability("CPUs", "yes" if allowed == online else "partly", seen)
