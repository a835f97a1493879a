"""Elasticity tables: how an operation's time responds to the capacity of each resource."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.ceiling.trials import read_ceiling
from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
from assay.analysis.figures.host.query_reads import middle_run
from assay.analysis.figures.host.roofline import placed_reads
from assay.analysis.figures.subjects import subjects_of
from assay.analysis.quantities import SECONDS, SHARE, TIMES, Spread
from assay.analysis.why.bottleneck import place_words, verdict_of
from assay.analysis.why.diagnosis import diagnose, operations_of
from assay.analysis.why.scarcity import SHORT, is_unhindered, scarcity_of
from assay.model.errors import UsageError, suggestion

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from assay.analysis.ceiling.trials import Ceiling
    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.host.roofline import Placed
    from assay.analysis.study_runs import StudyRun
    from assay.analysis.why.bottleneck import Bottleneck
    from assay.analysis.why.diagnosis import Diagnosis, TimeResponse

OPTIONS = {
    "operations": "only these operations; without it all that every run played",
    "factor": "the factor whose levels make resources scarce; without it all factors do",
    "capacities": "a table of what there is, by the names of limit, such as read-iops = 15000; it"
    " counts before what a part of kind ceiling tells",
}
ELASTICITIES = (
    Column("operation"),
    Column("resource"),
    Column("by"),
    Column("elasticity", "count", 3),
    Column("low", "count", 3),
    Column("high", "count", 3),
    Column("shape"),
    Column("counts"),
)
LEVELS = (
    Column("operation"),
    Column("level"),
    Column("times as scarce", "count", 3),
    Column("time", SECONDS),
    Column("lowest", SECONDS),
    Column("highest", SECONDS),
    Column("change", SHARE),
    Column("not counted because"),
)
SHAPES = {
    "serial": "in proportion",
    "flat": "no effect",
    "unclear": "not beyond noise",
    "kinked": "below a level only",
}


@dataclass(frozen=True)
class Diagnosed:
    """The diagnosis of one operation, with the engine or setting in its name if several."""

    name: str
    diagnosis: Diagnosis
    verdict: Bottleneck


def figure(asked: Asked) -> Figure:
    """Return a chart of the elasticity of each operation's time to each resource."""
    diagnosed, missing = _diagnosed(asked)
    subjects: dict[str, dict[float, Spread]] = {}
    for operation in diagnosed:
        for answer in operation.diagnosis.answers:
            subjects[_subject(operation, answer, len(diagnosed))] = _times(
                operation.diagnosis, answer
            )
    factors = sorted({factor for values in subjects.values() for factor in values})
    measures = tuple(
        Measure(
            f"{factor:g}",
            f"{factor:g} x",
            TIMES,
            {name: values[factor] for name, values in subjects.items() if factor in values},
            factor,
        )
        for factor in factors
    )
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(sentence for operation in diagnosed for sentence in _says(operation)),
        subjects=tuple(subjects),
        measures=measures,
        tables=(
            Table("elasticities", "elasticities", ELASTICITIES, tuple(_elasticities(diagnosed))),
            Table("levels", "time at each level", LEVELS, tuple(_levels(diagnosed))),
        ),
        charts=(_chart(measures),) if len(factors) > 1 else (),
        notes=_notes(diagnosed),
        missing=tuple(missing),
    )


def _diagnosed(asked: Asked) -> tuple[list[Diagnosed], list[str]]:
    """Return a diagnosis per operation and engine, and a sentence for each missing one."""
    made, missing = [], []
    varied = tuple({name for run in asked.runs for name in run.levels if _varies(asked, name)})
    subjects = subjects_of(asked, without=varied)
    for subject in subjects:
        for operation in _operations(asked, subject.runs):
            # Runs with other changes, such as other settings, do not measure elasticity.
            runs = [run for run in subject.runs if _is_asked(run)]
            ceiling = read_ceiling(asked.ceilings[0].run) if asked.ceilings else None
            placed = None if ceiling is None else placed_of(runs, ceiling, operation)
            diagnosis = diagnose(runs, operation, placed, asked.options.get("capacities"))
            name = operation if len(subjects) == 1 else f"{operation} ({subject.name})"
            if diagnosis is None:
                missing.append(f"{name}: it succeeded in no run in which nothing was scarce")
                continue
            made.append(Diagnosed(name, diagnosis, verdict_of(diagnosis, place_words(placed))))
    return made, missing


def placed_of(runs: Sequence[StudyRun], ceiling: Ceiling, operation: str) -> Placed | None:
    """Return how an unlimited run's reads compare with the disk's maximum; None if not known."""
    free = [run for run in runs if is_unhindered(run.run.facts["request"])]
    return placed_reads(middle_run(free, operation).run, ceiling, operation) if free else None


def _varies(asked: Asked, factor: str) -> bool:
    """Return True if a study's factor has levels that limit or slow a resource."""
    chosen = asked.options.get("factor")
    if chosen is not None:
        return bool(factor == chosen)
    by_level: dict[str, set[bool]] = {}
    for run in asked.runs:
        if factor in run.levels:
            free = is_unhindered(run.run.facts["request"])
            by_level.setdefault(run.levels[factor], set()).add(free)
    # Levels of other factors have runs with and without scarce resources.
    return any(kinds == {False} for kinds in by_level.values())


def _is_asked(run: StudyRun) -> bool:
    request = run.run.facts["request"]
    return is_unhindered(request) or scarcity_of(request) is not None


def _operations(asked: Asked, runs: tuple[StudyRun, ...]) -> list[str]:
    played = operations_of(runs)
    chosen = asked.options.get("operations")
    if chosen is None:
        return played
    for name in chosen:
        if name not in played:
            raise UsageError(
                f"no operation {name!r} was measured in all runs; {suggestion(name, played)}"
            )
    return list(chosen)


def _subject(operation: Diagnosed, answer: TimeResponse, many: int) -> str:
    name = f"{SHORT[answer.resource]} {answer.method}"
    return name if many == 1 else f"{operation.name}: {name}"


def _times(diagnosis: Diagnosis, answer: TimeResponse) -> dict[float, Spread]:
    """Return run time relative to the run with all resources, by the factor of scarcity."""
    base = diagnosis.time.middle
    times = {1.0: diagnosis.time}
    times |= {
        round(level.factor, 2): level.time
        for level in answer.levels
        if level.factor is not None and level.left_out is None
    }
    return {
        factor: Spread(time.middle / base, time.low / base, time.high / base, time.count)
        for factor, time in times.items()
    }


def _chart(measures: tuple[Measure, ...]) -> Chart:
    keys = tuple(measure.key for measure in measures)
    return Chart("answers", "times as long", "lines", keys, axis="times as scarce")


def _says(operation: Diagnosed) -> Iterator[str]:
    yield operation.verdict.sentence.replace(operation.diagnosis.operation, operation.name, 1)
    if operation.verdict.sum_words is not None:
        yield f"{operation.verdict.sum_words}."


def _elasticities(diagnosed: list[Diagnosed]) -> Iterator[tuple[Cell, ...]]:
    for operation in diagnosed:
        for answer in operation.diagnosis.answers:
            elasticity = answer.elasticity
            interval = (
                (None, None)
                if elasticity is None or not elasticity.interval
                else elasticity.interval
            )
            yield (
                operation.name,
                SHORT[answer.resource],
                answer.method,
                None if elasticity is None else elasticity.value,
                *interval,
                None if elasticity is None else SHAPES[elasticity.shape],
                "yes" if operation.diagnosis.chosen.get(answer.resource) is answer else "no",
            )


def _levels(diagnosed: list[Diagnosed]) -> Iterator[tuple[Cell, ...]]:
    for operation in diagnosed:
        time = operation.diagnosis.time
        yield operation.name, "as it is", 1.0, time.middle, time.low, time.high, None, None
        for answer in operation.diagnosis.answers:
            for level in answer.levels:
                yield (
                    operation.name,
                    level.name,
                    level.factor,
                    level.time.middle,
                    level.time.low,
                    level.time.high,
                    None if level.change is None else -level.change.share,
                    level.left_out,
                )


def _notes(diagnosed: list[Diagnosed]) -> tuple[str, ...]:
    """Return notes on how elasticities were measured, and on single operations."""
    several = len(diagnosed) > 1
    remarks: dict[str, None] = {}
    for operation in diagnosed:
        for remark in operation.verdict.remarks:
            remarks[
                f"{operation.name}: {remark}" if several else f"{remark[:1].upper()}{remark[1:]}"
            ] = None
    methods = {answer.method for operation in diagnosed for answer in operation.diagnosis.answers}
    return (*(f"{remark}." for remark in remarks), *_method_notes(methods))


def _method_notes(methods: Collection[str]) -> Iterator[str]:
    yield (
        "An elasticity is d ln T / d ln capacity, of T = a + b x scarcity fitted over all rounds at"
        " once; intervals are of 95 %, by Student's t."
    )
    if "slowed" in methods:
        yield (
            "Slowed: the engine was stopped in proportion to what it had just taken of the"
            " resource, so the mixture may be as fine as it is."
        )
    if "limited" in methods:
        yield (
            "Limited: the kernel let pass so much a second; times as scarce are of what there is"
            " while it is used, not of the mean use."
        )
