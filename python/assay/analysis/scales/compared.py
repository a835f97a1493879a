"""Compares an engine's runs at several scales: growth laws, time shares, extrapolation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.compare.evidence import evidence_of
from assay.analysis.data_size import SCALE, cache_bytes, host_memory_bytes, size_of, size_text
from assay.analysis.scales.costs import (
    COUNTED,
    CPU_TIME,
    DATA_BYTES,
    GROUPS,
    RATE,
    WHOLE_TIME,
    costs_of,
    whole_name,
)
from assay.analysis.scales.law import SIZES_MIN, Point, power_law
from assay.analysis.scales.shares import all_shifts
from assay.analysis.time.statement_times import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.data_size import Size
    from assay.analysis.scales.costs import Cost
    from assay.analysis.scales.law import PowerLaw, Predicted
    from assay.analysis.scales.shares import Shares
    from assay.record.reader import Run

# Largest number of changes of a plan that are listed.
WORDS_MAX = 2


@dataclass(frozen=True)
class Scaled:
    """One cost, such as CPU time, at several scales, with its growth law.

    Attributes:
        key, title, group, unit: As in `Cost`.
        law: Growth law of the cost; None if there is none.
        why_not: Reason why there is no law; empty if there is one.
        points: Measured values of all runs that recorded this cost.
    """

    key: str
    title: str
    group: str
    unit: str
    law: PowerLaw | None
    why_not: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Efficiency:
    """The work that is done per second of CPU time, at several scales.

    Attributes:
        work: The counted work.
        cpu: CPU time of the same runs.
        law: Growth law of the work per second of CPU time.
    """

    work: Scaled
    cpu: Scaled
    law: PowerLaw


@dataclass(frozen=True)
class Extrapolated:
    """The predicted costs at a scale that was not measured.

    Attributes:
        scale: Scale of the hypothetical run.
        size: Size of the data as text.
        beyond: Factor to the largest measured scale.
        costs: Predicted costs by key, without shares and without costs that have no law.
        otherwise: For growing costs, another prediction: a fixed part and a part proportional to
            the data.
        data_bytes: Predicted size of the data on disk; None if not known.
        cache_bytes, host_bytes: Size of the engine's cache and of the host's memory; None if not
            known.
    """

    scale: float
    size: str
    beyond: float
    costs: Mapping[str, Predicted]
    otherwise: Mapping[str, float]
    data_bytes: float | None
    cache_bytes: float | None
    host_bytes: float | None

    def outgrows(self) -> str | None:
        """Return the memory that the data exceed at this scale; None if they exceed none."""
        memories = (("the engine's cache", self.cache_bytes), ("memory", self.host_bytes))
        for name, there in memories:
            if there is not None and self.data_bytes is not None and self.data_bytes > there:
                return name
        return None


@dataclass(frozen=True)
class Compared:
    """The costs of one engine, such as time and reads, at several scales.

    Attributes:
        sizes: Sizes of the data by scale, ascending.
        whole: Name of the unit of all costs: an operation or a pass.
        rounds: Runs by scale, for each round that has all scales.
        costs: Costs by key, in the order of display.
        efficiencies: Efficiencies of the counted work, most work at the largest scale first.
        shares: Shares of each kind that is known.
        replanned: Changes of plans between the smallest and largest scale as text, by statement.
            Statements with unchanged plans are left out.
        largest: A run at the largest scale.
    """

    sizes: tuple[Size, ...]
    whole: str
    rounds: tuple[Mapping[float, Run], ...]
    costs: Mapping[str, Scaled]
    efficiencies: tuple[Efficiency, ...]
    shares: tuple[Shares, ...]
    replanned: Mapping[str, str]
    largest: Run

    @property
    def factor(self) -> float:
        """The size of the data at the largest scale divided by that at the smallest."""
        return self.sizes[-1].amount / self.sizes[0].amount

    def law(self, key: str) -> PowerLaw | None:
        """Return the growth law of a cost by its key; None without one."""
        return self.costs[key].law if key in self.costs else None


def compared(runs: Sequence[tuple[int, Run]]) -> Compared | None:
    """Return the costs of runs at several scales; None for a single scale.

    Args:
        runs: (round, run) of each run. If a round has several runs at a scale, the last one
            counts.
    """
    sizes = {size_of(run).scale: size_of(run) for _, run in runs if costs_of(run)}
    if len(sizes) < SIZES_MIN:
        return None
    by_round: dict[int, dict[float, Run]] = {}
    for number, run in runs:
        if costs_of(run):
            by_round.setdefault(number, {})[size_of(run).scale] = run
    whole = tuple(own for _, own in sorted(by_round.items()) if len(own) == len(sizes))
    # The number of rows in a table may differ a little between runs that change it.
    amounts = {scale: size.amount for scale, size in sizes.items()}
    costs = _costs(by_round, amounts)
    largest = next(own[max(sizes)] for own in by_round.values() if max(sizes) in own)
    return Compared(
        tuple(sizes[scale] for scale in sorted(sizes)),
        whole_name(largest),
        whole,
        costs,
        tuple(_efficiencies(costs)),
        all_shifts(whole),
        _replanned(whole),
        largest,
    )


def _replanned(rounds: Sequence[Mapping[float, Run]]) -> dict[str, str]:
    """Return how each statement's plan changes over the scales, in the first round."""
    if not rounds:
        return {}
    first, last = rounds[0][min(rounds[0])], rounds[0][max(rounds[0])]
    differences = {
        name_of(*key): evidence.plan_words for key, evidence in evidence_of(first, last).items()
    }
    most = sorted(differences.items(), key=lambda pair: -len(pair[1]))
    return {name: "; ".join(texts[:WORDS_MAX]) for name, texts in most if texts}


def _costs(
    by_round: Mapping[int, Mapping[float, Run]], amounts: Mapping[float, float]
) -> dict[str, Scaled]:
    first: dict[str, Cost] = {}
    points: dict[str, list[Point]] = {}
    for number, own in by_round.items():
        for scale, run in own.items():
            for key, cost in costs_of(run).items():
                first.setdefault(key, cost)
                points.setdefault(key, []).append(Point(number, amounts[scale], cost.value))
    ordered = sorted(first.items(), key=lambda pair: GROUPS.index(pair[1].group))
    return {key: _scaled(cost, points[key], len(amounts)) for key, cost in ordered}


def _scaled(cost: Cost, points: Sequence[Point], scales: int) -> Scaled:
    law, why_not = None, ""
    if not any(point.value for point in points):
        why_not = "0 at every scale"
    elif len({point.size for point in points}) < SIZES_MIN:
        why_not = "told at one scale only"
    elif any(point.value <= 0 for point in points):
        why_not = "0 in some run: a power law has no zeros"
    else:
        law = power_law(points)
        if law is not None and len(law.sizes) < scales:
            why_not = f"of {len(law.sizes)} of {scales} scales"
    return Scaled(cost.key, cost.title, cost.group, cost.unit, law, why_not, tuple(points))


def _efficiencies(costs: Mapping[str, Scaled]) -> list[Efficiency]:
    """Return the counts of the engine's work per second of its CPU time."""
    cpu = costs.get(CPU_TIME)
    if cpu is None or cpu.law is None:
        return []
    seconds = {(point.round, point.size): point.value for point in cpu.points}
    efficiencies = []
    for work in costs.values():
        # Bytes and seconds that an engine counts are not counts of work.
        if work.group != COUNTED or work.unit in ("bytes", "s") or work.law is None:
            continue
        law = power_law(
            point._replace(value=point.value / seconds[point.round, point.size])
            for point in work.points
            if seconds.get((point.round, point.size))
        )
        if law is not None:
            efficiencies.append(Efficiency(work, cpu, law))
    return sorted(
        efficiencies,
        key=lambda efficiency: -(efficiency.work.law.values[-1] if efficiency.work.law else 0.0),
    )


def extrapolated(comparison: Compared, scale: float) -> Extrapolated:
    """Return the predicted costs at a larger scale, by the growth laws.

    Args:
        comparison: Runs at several scales.
        scale: Scale as a user requests it, above the largest measured one.
    """
    size = _amount(comparison, scale)
    laws = {key: scaled.law for key, scaled in comparison.costs.items() if scaled.law is not None}
    costs = {key: law.predicted(size) for key, law in laws.items()}
    data = costs.get(DATA_BYTES)
    return Extrapolated(
        scale,
        _size_words(comparison, scale, size),
        size / comparison.sizes[-1].amount,
        costs,
        {k: law.with_fixed_part(size) for k, law in laws.items() if law.exponent.value >= 0},
        None if data is None else data.value,
        cache_bytes(comparison.largest),
        host_memory_bytes(comparison.largest),
    )


def _size_words(comparison: Compared, scale: float, size: float) -> str:
    """Return the data size at a scale as text, with the scale itself if that differs."""
    largest = comparison.sizes[-1]
    text = size_text(size, largest.unit, counted=largest.is_counted)
    if not largest.is_counted:
        return text
    name = str(comparison.largest.facts["workload"].get("scale_name") or SCALE)
    return f"{text} ({size_text(scale, name, counted=False)})"


def _amount(comparison: Compared, scale: float) -> float:
    """Return the data size at a scale, by the power law of the two largest sizes."""
    law = power_law(Point(1, size.scale, size.amount) for size in comparison.sizes[-2:])
    return scale if law is None else law.at(scale)


def headline(comparison: Compared, most: int) -> list[Scaled]:
    """Return the main costs: time, CPU time, the engine's largest counts, reads, memory.

    Args:
        comparison: Runs at several scales.
        most: Maximum number of the engine's own counters.
    """
    counted = [efficiency.work for efficiency in comparison.efficiencies] or [
        scaled
        for scaled in comparison.costs.values()
        if scaled.group == COUNTED and scaled.unit not in ("bytes", "s")
    ]
    keys = (WHOLE_TIME, CPU_TIME)
    named = [comparison.costs[key] for key in keys if key in comparison.costs]
    rest = [comparison.costs[key] for key in ("read bytes", "memory") if key in comparison.costs]
    chosen = [*named, *counted[:most], *rest]
    return [scaled for scaled in chosen if scaled.law is not None and scaled.group != RATE]
