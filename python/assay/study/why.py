"""Makes the study that finds the resource which limits a workload's operations.

A first run measures the resource use of each operation; the limits follow from it. Invariant: a
resource that cannot be limited on this host is left out with its reason, and does not stop the
study.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.analysis.figures.discovery import kinds
from assay.analysis.figures.host.roofline import placed_reads
from assay.analysis.why.demand import Demand, demand_of
from assay.analysis.why.diagnosis import reads_nothing
from assay.analysis.why.scarcity import DISK, SHORT, capacities_of
from assay.model.errors import UsageError
from assay.model.limit import CPU, READ_IOPS, READ_RATE
from assay.record.layout import COMPUTATION, KIND_CEILING
from assay.record.studies import StudyFigure
from assay.running.asked.asking import considered
from assay.running.asked.obtaining import with_schema
from assay.study.declared.ceilings import ceiling_part
from assay.study.declared.facts import PartFacts
from assay.study.variants import Part, Study, Variant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.record.reader import Run
    from assay.running.asked.request import RunRequest
    from assay.study.ceiling.newest import Look

FACTOR, FREE = "level", "as it is"
CEILING, SCARCE, REMOVED, READ_AHEAD = "ceiling", "scarce", "removed", "read-ahead"
NO_READS = "it reads nothing from the disk"
# Reads of at least this size are limited in bytes, because the kernel splits and merges them.
LARGE_READ_BYTES = 64 << 10
# Read-ahead of one page of most engines; less would split one read into several.
PAGE_BYTES = 8 << 10


@dataclass(frozen=True)
class Depth:
    """The amount of evidence that `assay why` gathers.

    Attributes:
        factors: Factors by which resources are reduced. With the unlimited run they give at least
            three levels.
        repetitions: Number of rounds.
    """

    factors: tuple[float, ...] = (1.5, 2.0, 3.0)
    repetitions: int = 5


QUICK = Depth((1.5, 3.0), 3)


@dataclass(frozen=True)
class _Pilot:
    """The results of the first run, which determine how much to limit each resource.

    Attributes:
        operation: Operation that reads most.
        demand: Its resource use; None if it did not succeed.
        capacities: Available amount of each resource that it uses, by option of `--limit`.
    """

    operation: str | None
    demand: Demand | None
    capacities: dict[str, float]

    @property
    def reads_nothing(self) -> bool:
        return reads_nothing(self.demand)


class _Levels:
    """The variants with limited resources that are possible on this host."""

    def __init__(self, base: RunRequest) -> None:
        self._base = base
        self.unvaried: dict[str, str] = {}

    def variant(self, name: str, what: str, **change: Any) -> Iterator[Variant]:  # noqa: ANN401 - fields of a request
        """Yield a variant with one change; nothing if it is impossible, for a recorded reason."""
        if what in self.unvaried:
            return
        request = self._base.changed(**change)
        try:
            with_schema(considered(request))
        except UsageError as error:
            self.unvaried[what] = str(error)
        else:
            yield Variant(name, request, {FACTOR: name})


def why_study(base: RunRequest, pilot: Run, depth: Depth, look: Look | None = None) -> Study:
    """Return the study that finds the resource which limits a run's operations.

    Args:
        base: The run without limits.
        pilot: A finished run of this kind.
        depth: Number of levels and rounds.
        look: Ceiling of the host, if it was measured before; otherwise the study measures it.

    Raises:
        UsageError: If no resource can be limited on this host.
    """
    levels, pilot_facts = _Levels(base), _pilot(pilot, look)
    free = Variant(FREE, base, {FACTOR: FREE})
    scarce = [*_slowed(levels, pilot_facts, depth), *_limited(levels, pilot_facts, depth)]
    if not scarce:
        reasons = "; ".join(f"{what}: {why}" for what, why in levels.unvaried.items())
        raise UsageError(f"no resource can be limited or slowed on this host ({reasons})")
    wanted = (
        (SCARCE, "Resources are made scarce.", scarce),
        (REMOVED, "What is computed is left away.", list(_without_computation(levels))),
        (
            READ_AHEAD,
            "Nothing is read ahead.",
            list(_without_read_ahead(levels, base, pilot_facts)),
        ),
    )
    parts = [] if pilot_facts.reads_nothing else [_look(look, base.seed)]
    parts += [
        Part(name, (free, *variants), depth.repetitions, about)
        for name, about, variants in wanted
        if variants
    ]
    figures = tuple(_figures([part.name for part in parts]))
    unvaried = dict(levels.unvaried)
    return Study(_question(base), tuple(parts), base.seed, "What bounds it", figures, unvaried)


def _pilot(pilot: Run, look: Look | None) -> _Pilot:
    """Return facts of the operation that reads most, to set the disk's limits."""
    demands = {name: demand_of([pilot], name) for name in pilot.facts["plan"]["operations"]}
    known_demands = {name: demand for name, demand in demands.items() if demand is not None}
    if not known_demands:
        return _Pilot(None, None, {})
    name = max(known_demands, key=lambda operation: known_demands[operation].read_bytes or 0.0)
    placed = None if look is None else placed_reads(pilot, look.ceiling, name)
    return _Pilot(name, known_demands[name], capacities_of(known_demands[name], placed))


def _look(look: Look | None, seed: int) -> Part:
    about = "What the host can do."
    part = ceiling_part(CEILING, PartFacts.model_validate({"about": about}), seed, quick=True)
    if look is None:
        return part
    (host,) = part.variants
    return Part(CEILING, (replace(host, request=look.request),), 1, about, kind=KIND_CEILING)


def _slowed(levels: _Levels, pilot: _Pilot, depth: Depth) -> Iterator[Variant]:
    for resource in (CPU, DISK):
        what = f"{SHORT[resource]} slowed"
        if resource == DISK and pilot.reads_nothing:
            levels.unvaried[what] = NO_READS
            continue
        for factor in depth.factors:
            yield from levels.variant(f"{what} {factor:g} x", what, slow={resource: factor})


def _limited(levels: _Levels, pilot: _Pilot, depth: Depth) -> Iterator[Variant]:
    what = "disk limited"
    size = None if pilot.demand is None else pilot.demand.mean_read_bytes
    option = READ_RATE if size is None or size >= LARGE_READ_BYTES else READ_IOPS
    capacity = pilot.capacities.get(option)
    if pilot.reads_nothing:
        levels.unvaried[what] = NO_READS
    elif capacity is None:
        levels.unvaried[what] = "how fast it reads while it reads is not known"
    else:
        for factor in depth.factors:
            limits = {option: float(max(1, round(capacity / factor)))}
            yield from levels.variant(f"{what} to {100 / factor:.0f} %", what, limits=limits)


def _without_computation(levels: _Levels) -> Iterator[Variant]:
    yield from levels.variant("computation removed", COMPUTATION, remove=[COMPUTATION])


def _without_read_ahead(levels: _Levels, base: RunRequest, pilot: _Pilot) -> Iterator[Variant]:
    what = "read-ahead"
    if pilot.reads_nothing:
        levels.unvaried[what] = NO_READS
    elif not base.allow_host_changes:
        levels.unvaried[what] = "the host notices it: say --allow-host-changes"
    else:
        yield from levels.variant("read-ahead of a page", what, read_ahead_bytes=PAGE_BYTES)


def _question(base: RunRequest) -> str:
    names = ", ".join(base.operations) or "each operation"
    return f"What is {names} of {base.workload} bound by on {base.engine}, {base.state}?"


def _figures(parts: Sequence[str]) -> Iterator[StudyFigure]:
    """Yield the results that the study shows."""
    looks = tuple(part for part in (CEILING,) if part in parts)
    yield StudyFigure("elasticity", (*looks, SCARCE), "elasticity", "What bounds it")
    wanted = (
        ("removed", (REMOVED,), "What the computation costs"),
        ("read-ahead", (READ_AHEAD,), "What reading ahead is worth"),
        ("roofline", (CEILING, REMOVED), "Reads beside what the disk gives"),
    )
    of_kind = {"read-ahead": "operations"}
    for name, of, title in wanted:
        kind = of_kind.get(name, name)
        if kind in kinds() and set(of) <= set(parts):
            yield StudyFigure(name, of, kind, title)
