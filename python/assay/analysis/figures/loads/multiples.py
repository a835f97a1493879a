"""Chart of transaction times as a multiple of one engine's times, by group of workloads."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.analysis.figures.compare.relative import (
    BASE,
    ONE_ROUND,
    SEVERAL,
    alone,
    base_of,
    ends_of,
    key_of,
    spread_of,
    times,
)
from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
from assay.analysis.figures.mixes import Mix, mix_of
from assay.analysis.figures.subjects import subjects_of
from assay.analysis.quantities import COUNT, SECONDS, TIMES, by_subject, each_text, listed, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.figures.subjects import Subject
    from assay.analysis.stats.rounds import Factor

OPTIONS = {"base": BASE, "titles": "what parts are called, by their names"}
WORKLOAD = "workload"
# Suffix of the measure in which all operations of a group have equal weight.
ALIKE = "_alike"
GROUPS = (
    Column("group"),
    Column("engine"),
    Column("takes", TIMES),
    Column("at least", TIMES),
    Column("at most", TIMES),
    Column("each alike", TIMES),
    Column("rounds", COUNT),
)
OPERATIONS = (
    Column("workload"),
    Column("operation"),
    Column("engine"),
    Column("mean", SECONDS),
    Column("takes", TIMES),
    Column("at least", TIMES),
    Column("at most", TIMES),
)
# A value for each round, workload and operation.
Place = tuple[int, str, str]


@dataclass(frozen=True)
class Group:
    """The runs of one section of a study, which are compared as a group.

    Attributes:
        part: Name of the study's part.
        key: Key of the group's measure.
        title: Title of the group.
        base: Subject whose times are the divisor; None if there is no other subject.
        mixes: Measured mixes by name of subject, then by round and workload.
    """

    part: str
    key: str
    title: str
    base: str | None
    mixes: Mapping[str, Mapping[tuple[int, str], Mix]]

    @property
    def others(self) -> list[str]:
        """The names of all engines but the base engine."""
        return [name for name in self.mixes if name != self.base] if self.base else []

    def whole(self, name: str) -> Factor | None:
        """Return mean latency relative to the base engine, over all workloads."""
        return self._over(name, lambda mix: {"": mix.mean_s})

    def alike(self, name: str) -> Factor | None:
        """Return latency relative to the base engine, with equal weight for each operation."""
        return self._over(name, lambda mix: mix.means_s)

    def operation(self, name: str, workload: str, operation: str) -> Factor | None:
        """Return the mean latency of one operation relative to the base engine."""
        values = self.seconds(name, workload, operation)
        return times(values, self.seconds(self.base or "", workload, operation))

    def seconds(self, name: str, workload: str, operation: str) -> dict[int, float]:
        """Return the mean latency of an operation by round, in seconds."""
        return {
            number: mix.means_s[operation]
            for (number, played), mix in self.mixes.get(name, {}).items()
            if played == workload and operation in mix.means_s
        }

    def operations(self) -> list[tuple[str, str]]:
        """Return pairs of a workload and one of its operations."""
        return list(
            dict.fromkeys(
                (workload, operation)
                for mixes in self.mixes.values()
                for (_, workload), mix in mixes.items()
                for operation in mix.means_s
            )
        )

    def _over(self, name: str, quantity: Callable[[Mix], Mapping[str, float]]) -> Factor | None:
        """Return a geometric mean of ratios to the base engine, over complete rounds."""
        mine, base = (
            _flat(self.mixes.get(subject, {}), quantity) for subject in (name, self.base or "")
        )
        both = mine.keys() & base.keys()
        every = {place[1:] for place in both}
        logs: dict[int, list[float]] = {}
        for place in both:
            logs.setdefault(place[0], []).append(math.log(mine[place] / base[place]))
        means = {
            number: math.exp(math.fsum(some) / len(some))
            for number, some in logs.items()
            if len(some) == len(every)
        }
        return times(means, dict.fromkeys(means, 1.0))


def figure(asked: Asked) -> Figure:
    """Return a chart of transaction times as a multiple of one engine's times."""
    parts = list(dict.fromkeys(run.part for run in asked.runs))
    groups = [_group(asked, part) for part in parts]
    shown = tuple(dict.fromkeys(name for group in groups for name in group.others))
    measures = tuple(_measures(groups))
    factors = [group.whole(name) for group in groups for name in group.others]
    bases = list(dict.fromkeys(group.base for group in groups if group.base))
    title = f"times as long as {listed(bases)}" if bases else "times as long"
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(_says(groups)),
        subjects=shown,
        measures=measures,
        tables=(
            Table("groups", f"mean time of a transaction, {title}", GROUPS, _rows(groups)),
            Table("operations", f"each operation, {title}", OPERATIONS, _operations(groups)),
        ),
        charts=(Chart("multiples", title, "bars", tuple(group.key for group in groups)),)
        if shown
        else (),
        notes=((ONE_ROUND if alone(factors) else SEVERAL),) if shown else (),
        missing=tuple(_missing(asked, groups)),
    )


def _group(asked: Asked, part: str) -> Group:
    runs = tuple(run for run in asked.runs if run.part == part)
    subjects = subjects_of(replace(asked, runs=runs), without=(WORKLOAD,))
    base = base_of(subjects, asked.options.get("base"))
    titles = asked.options.get("titles", {})
    return Group(
        part,
        part if base is None else key_of(part, base, asked.options.get("base")),
        str(titles.get(part, part)),
        None if base is None else base.name,
        {subject.name: _mixes(subject) for subject in subjects},
    )


def _mixes(subject: Subject) -> dict[tuple[int, str], Mix]:
    mixes = {}
    for run in subject.runs:
        mix = mix_of(run.run)
        if mix is not None:
            mixes[run.round, str(run.run.facts["workload"]["name"])] = mix
    return mixes


def _flat(
    mixes: Mapping[tuple[int, str], Mix], quantity: Callable[[Mix], Mapping[str, float]]
) -> dict[Place, float]:
    return {
        (number, workload, name): seconds
        for (number, workload), mix in mixes.items()
        for name, seconds in quantity(mix).items()
    }


def _measures(groups: Sequence[Group]) -> Iterator[Measure]:
    for group in groups:
        whole = by_subject((name, spread_of(group.whole(name))) for name in group.others)
        yield Measure(group.key, group.title, TIMES, whole)
        if len(group.operations()) > 1:
            alike = by_subject((name, spread_of(group.alike(name))) for name in group.others)
            title = f"{group.title}, each operation alike"
            yield Measure(f"{group.key}{ALIKE}", title, TIMES, alike)


def _rows(groups: Sequence[Group]) -> tuple[tuple[Cell, ...], ...]:
    rows: list[tuple[Cell, ...]] = []
    for group in groups:
        for name in group.others:
            whole, alike = group.whole(name), group.alike(name)
            if whole is not None:
                same = None if alike is None else alike.times
                rows.append((group.title, name, *ends_of(whole), same, whole.rounds))
    return tuple(rows)


def _operations(groups: Sequence[Group]) -> tuple[tuple[Cell, ...], ...]:
    rows: list[tuple[Cell, ...]] = []
    for group in groups:
        for workload, operation in group.operations():
            for name in group.mixes:
                mean = _mean(group.seconds(name, workload, operation))
                factor = (
                    group.operation(name, workload, operation) if name in group.others else None
                )
                rows.append((workload, operation, name, mean, *ends_of(factor)))
    return tuple(rows)


def _mean(values: Mapping[int, float]) -> float | None:
    return math.fsum(values.values()) / len(values) if values else None


def _says(groups: Sequence[Group]) -> Iterator[str]:
    by_base: dict[str, list[str]] = {}
    for group in groups:
        factors = ((name, group.whole(name)) for name in group.others)
        multiples = [
            (name, text(factor.times, TIMES)) for name, factor in factors if factor is not None
        ]
        if multiples:
            by_base.setdefault(str(group.base), []).append(f"{group.title} {each_text(multiples)}")
    for base, parts in by_base.items():
        yield f"In times of what {base} takes: {'; '.join(parts)}."
    for group in groups:
        yield from _slowest(group)


def _slowest(group: Group) -> Iterator[str]:
    """Yield sentences on the operations with the largest and smallest time multiples of a group."""
    if len(group.operations()) < 2:  # noqa: PLR2004 - nothing to compare
        return
    for name in group.others:
        multiples = {
            operation: factor.times
            for workload, operation in group.operations()
            if (factor := group.operation(name, workload, operation)) is not None
        }
        if len(multiples) > 1:
            most, least = (
                max(multiples, key=multiples.__getitem__),
                min(multiples, key=multiples.__getitem__),
            )
            yield (
                f"{name}, {group.title}: from {text(multiples[least], TIMES)} in {least} to"
                f" {text(multiples[most], TIMES)} in {most}."
            )


def _missing(asked: Asked, groups: Sequence[Group]) -> Iterator[str]:
    wanted = asked.options.get("base")
    for group in groups:
        if group.base is None:
            alone_there = listed(list(group.mixes))
            yield f"{group.title}: only {alone_there} was run, so there is nothing to compare with"
            continue
        for name, mixes in group.mixes.items():
            if not mixes:
                yield f"{group.title}: {name} played no mix, or nothing of it succeeded"
    engines = {run.run.facts["engine"]["name"] for run in asked.runs}
    if wanted is not None and wanted not in engines and any(group.base for group in groups):
        bases = listed(list(dict.fromkeys(group.base for group in groups if group.base)))
        yield f"no run is of {wanted}, so times are those of {bases}"
