"""Chart of an engine's CPU time by kind of work, with functions and queries."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
from assay.analysis.figures.subjects import subjects_of
from assay.analysis.plans.recorded import read_plans
from assay.analysis.plans.work import mixed_work, work_by_operation
from assay.analysis.profile.samples import (
    UNCLASSIFIED,
    matrix,
    read_profile,
    symbols_table,
    work_table,
)
from assay.analysis.quantities import (
    COUNT,
    SECONDS,
    SHARE,
    by_subject,
    each_text,
    listed,
    spread,
    text,
)
from assay.analysis.work.rules import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.figures.subjects import Subject
    from assay.analysis.profile.profile import Profile
    from assay.record.reader import Run

OPTIONS = {"functions": "how many functions of each engine are shown (26)"}
SAMPLES, PLANS = "CPU samples", "plans"
FUNCTIONS = 26
# If rules classify a smaller share of samples, the engine's own plan times are used.
CLASSIFIED_MIN = 0.5
# An operation is named with a kind of work that has at least this share of its time.
QUERIES_MIN = 0.08
# Kinds of work below this share in every subject are left out of tables and charts.
SHOWN_MIN = 0.002
NAMED_MAX, FEW = 8, 5
# With fewer samples, the 95 % sampling error of a share is stated.
SAMPLES_MIN, A_SHARE, DEVIATIONS = 1000, 0.1, 1.96


@dataclass(frozen=True)
class WorkProfile:
    """The CPU time of a run, split by kind of work, such as join or sort.

    Attributes:
        source: `CPU samples`, or `plans` for the engine's own times.
        seconds: Seconds by kind of work: CPU seconds of samples, or the operators' own time in
            plans.
        queries: Operations with the largest shares of each kind of work, largest first.
        sampled: The CPU samples; None if the source is plans.
        doubt: Caveat on the source; None means no caveat.
    """

    source: str
    seconds: dict[str, float]
    queries: dict[str, list[str]] = field(default_factory=dict)
    sampled: Profile | None = None
    doubt: str | None = None

    def share(self, work: str) -> float | None:
        """Return the time share of a kind of work; None if unknown.

        In CPU samples, a kind of work without samples has share 0. Plans give shares only for the
        kinds that they name.
        """
        whole = sum(self.seconds.values())
        if work not in self.seconds and (self.source == PLANS or not self.is_explained):
            return None
        return self.seconds.get(work, 0.0) / whole if whole else None

    @property
    def is_explained(self) -> bool:
        """True if rules or plans assign at least half of the time to a kind of work."""
        whole = sum(self.seconds.values())
        return self.seconds.get(UNCLASSIFIED, 0.0) <= (1 - CLASSIFIED_MIN) * whole


def figure(asked: Asked) -> Figure:
    """Return a chart of CPU time by kind of work."""
    every = subjects_of(asked)
    subjects = tuple(subject for subject in every if profile_of(subject.first) is not None)
    profiled = {subject.name for subject in subjects}
    measures = _measures(subjects)
    shown = tuple(measure for measure in measures if _largest_share(measure) >= SHOWN_MIN)
    count = int(asked.options.get("functions", FUNCTIONS))
    functions = (_functions(subject, count) for subject in subjects)
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=(*_in_all(subjects), *(_says(subject) for subject in subjects)),
        subjects=tuple(subject.name for subject in subjects),
        measures=measures,
        tables=(_work(subjects, shown), *(table for table in functions if table is not None))
        if subjects
        else (),
        charts=(
            Chart("work", "share of the time", "stacked", tuple(measure.key for measure in shown)),
        )
        if shown
        else (),
        notes=tuple(_note(subject) for subject in subjects),
        missing=(
            *(
                f"{subject.name} has no profile: no CPU samples (profile = true), and no plans with"
                " times"
                for subject in every
                if subject.name not in profiled
            ),
            *(sentence for subject in subjects for sentence in _unexplained(subject)),
        ),
    )


@lru_cache(maxsize=256)
def profile_of(run: Run) -> WorkProfile | None:
    """Return a run's CPU profile: from classified samples, else from plans, else any samples."""
    sampled = _by_samples(run)
    if sampled is not None and sampled.is_explained:
        return sampled
    return _by_plans(run) or sampled


def _by_samples(run: Run) -> WorkProfile | None:
    profile = read_profile(run)
    if profile is None or profile.samples.is_empty():
        return None
    table = work_table(profile)
    seconds = dict(table.select("work", "seconds").iter_rows())
    return WorkProfile(SAMPLES, seconds, _queries(matrix(profile)), profile)


def _by_plans(run: Run) -> WorkProfile | None:
    """Return operators' own time by kind of work; None if no plan has times."""
    plans = read_plans(run)
    pairs = work_by_operation(plans)
    if pairs.is_empty():
        return None
    sums = pairs.group_by("work", maintain_order=True).agg(pl.col("seconds").sum())
    seconds = dict(sums.select("work", "seconds").iter_rows())
    mixed = mixed_work(plan for several in plans.values() for plan in several)
    whole = sum(seconds.values())
    share = sum(operator.seconds for operator in mixed) / whole
    also = dict.fromkeys(word for operator in mixed for word in operator.also)
    doubt = (
        f"{text(share, SHARE)} of that is of operators that did other work as well, which their"
        f" plans do not separate: {listed(list(also), 8)}"
        if mixed
        else None
    )
    return WorkProfile(PLANS, seconds, _queries(pairs), None, doubt)


def _queries(pairs: pl.DataFrame) -> dict[str, list[str]]:
    """Return the queries with the most time in each kind of work, largest first."""
    whole = pl.col("seconds").sum().over("work")
    kept = pairs.filter(pl.col("seconds") >= QUERIES_MIN * whole).sort("seconds", descending=True)
    by_work: dict[str, list[str]] = {}
    for work, operation in kept.select("work", "operation").iter_rows():
        by_work.setdefault(work, []).append(operation)
    return by_work


def _measures(subjects: tuple[Subject, ...]) -> tuple[Measure, ...]:
    """Return time shares by kind of work, largest first; unclassified time is last."""
    profiles = {subject.name: [profile_of(run.run) for run in subject.runs] for subject in subjects}
    seen = (
        w
        for several in profiles.values()
        for profile in several
        if profile is not None
        for w in profile.seconds
    )
    # A kind of work without samples took no time: its share is 0, not unknown.
    kinds = dict.fromkeys((*seen, *WORDS)) if subjects else {}
    measures = [
        Measure(
            work,
            work,
            SHARE,
            by_subject(
                (
                    name,
                    spread(None if profile is None else profile.share(work) for profile in several),
                )
                for name, several in profiles.items()
            ),
        )
        for work in kinds
    ]
    return tuple(
        sorted(
            measures, key=lambda measure: (measure.key == UNCLASSIFIED, -_largest_share(measure))
        )
    )


def _largest_share(measure: Measure) -> float:
    return max((share.middle for share in measure.values.values()), default=0.0)


def _work(subjects: tuple[Subject, ...], measures: tuple[Measure, ...]) -> Table:
    columns = [Column("work")]
    for subject in subjects:
        columns += [Column(subject.name, SHARE), Column("most of it in")]
    rows = []
    for measure in measures:
        cells: list[Cell] = [measure.title]
        for subject in subjects:
            share = measure.values.get(subject.name)
            profile = profile_of(subject.first)
            cells.append(None if share is None else share.middle)
            cells.append("" if profile is None else _names(profile.queries.get(measure.key, [])))
        rows.append(tuple(cells))
    return Table("work", "shares of the time by kind of work", tuple(columns), tuple(rows))


def _functions(subject: Subject, count: int) -> Table | None:
    """Return a table of the functions with most CPU samples, each with its kind of work."""
    profile = profile_of(subject.first)
    if profile is None or profile.sampled is None:
        return None
    rows: list[tuple[Cell, ...]] = [
        (
            row["samples"],
            row["share"],
            row["symbol"],
            row["work"],
            (row["says"] or "").rstrip("."),
            "all" if row["operations_all"] else _names(row["operations"], FEW),
        )
        for row in symbols_table(profile.sampled).head(count).iter_rows(named=True)
    ]
    columns = (
        Column("samples", COUNT, 9),
        Column("share", SHARE),
        Column("function"),
        Column("work"),
        Column("what it does"),
        Column("most of it in"),
    )
    title = f"{subject.name}: functions with most samples"
    return Table(f"functions {subject.name}", title, columns, tuple(rows))


def _names(operations: list[str], most: int = NAMED_MAX) -> str:
    more = " ..." if len(operations) > most else ""
    return f"{', '.join(operations[:most])}{more}"


def _in_all(subjects: tuple[Subject, ...]) -> Iterator[str]:
    """Yield one sentence on the largest kind of work of all engines; nothing for a single one."""
    if len(subjects) > 1:
        largest = [(subject.name, _largest(subject)) for subject in subjects]
        yield f"The largest kind of work is {each_text(largest)}."


def _largest(subject: Subject) -> str:
    profile = profile_of(subject.first)
    assert profile is not None  # noqa: S101 - subjects have one
    explained = {work: seconds for work, seconds in profile.seconds.items() if work != UNCLASSIFIED}
    if not explained or not profile.is_explained:
        return "not explained"
    largest = max(explained, key=explained.__getitem__)
    return f"{largest}, {text(profile.share(largest), SHARE)}"


def _says(subject: Subject) -> str:
    profile = profile_of(subject.first)
    assert profile is not None  # noqa: S101 - subjects have one
    if not profile.is_explained:
        share = text(profile.share(UNCLASSIFIED), SHARE)
        return f"{subject.name}: {share} of the time is in functions without names or rules."
    explained = [(s, w) for w, s in profile.seconds.items() if w != UNCLASSIFIED]
    whole = sum(profile.seconds.values())
    largest = sorted(explained, reverse=True)[:3]
    parts = [f"{work} {text(seconds / whole, SHARE)}" for seconds, work in largest]
    sentence = f"{subject.name} spends most of its time in {listed(parts)}"
    if largest:
        names = profile.queries.get(largest[0][1], [])[:3]
        sentence += f"; {largest[0][1]} is mostly of {listed(names)}" if names else ""
    return f"{sentence}."


def _note(subject: Subject) -> str:
    profile = profile_of(subject.first)
    assert profile is not None  # noqa: S101 - subjects have one
    if profile.sampled is None:
        doubt = f" {profile.doubt[:1].upper()}{profile.doubt[1:]}." if profile.doubt else ""
        return (
            f"{subject.name}: by its own plans, {text(sum(profile.seconds.values()), SECONDS)} of"
            " operators' own time with the waiting that is in it, because"
            f" {_reason(subject)}.{doubt}"
        )
    sampling = profile.sampled.sampling
    return (
        f"{subject.name}: by {text(profile.sampled.samples.height, COUNT)} CPU samples"
        f" ({sampling.event}, {sampling.frequency_hz:g} a second of CPU time)"
        f"{_chance(profile.sampled.samples.height)}."
    )


def _chance(samples: int) -> str:
    """Return text on the sampling error of a CPU share; empty if there are enough samples."""
    if not 0 < samples < SAMPLES_MIN:
        return ""
    off = DEVIATIONS * math.sqrt(A_SHARE * (1 - A_SHARE) / samples)
    low, high = text(max(0.0, A_SHARE - off), SHARE), text(A_SHARE + off, SHARE)
    return f": so few that a share of {text(A_SHARE, SHARE)} may be one of {low} to {high}"


def _reason(subject: Subject) -> str:
    """Return the reason why the CPU profile does not use samples."""
    sampled = _by_samples(subject.first)
    if sampled is None:
        return "it has no CPU samples"
    share = text(sampled.share(UNCLASSIFIED), SHARE)
    return f"{share} of its CPU samples are in functions that have no names or no rules"


def _unexplained(subject: Subject) -> Iterator[str]:
    profile = profile_of(subject.first)
    if profile is not None and not profile.is_explained:
        yield (
            f"{subject.name}: {text(profile.share(UNCLASSIFIED), SHARE)} of its time is in"
            " functions that no rule knows, most of them without names, so their kind of work is"
            " unknown"
        )
