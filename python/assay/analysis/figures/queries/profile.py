"""What engines' time goes into by kind of work, with the functions and queries that do it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
from assay.analysis.figures.quantities import (
    COUNT,
    SECONDS,
    SHARE,
    by_subject,
    each_text,
    listed,
    spread,
    text,
)
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
# Samples of which rules explain less are no profile: the engine's own account says more.
CLASSIFIED_MIN = 0.5
# An operation is named with a kind of work where it has this share of it.
QUERIES_MIN = 0.08
# Kinds below this share of every subject are in no table and no chart.
SHOWN_MIN = 0.002
NAMED_MAX, FEW = 8, 5
# Of fewer samples it is told how far a share may be off by chance: 95 % of the time not further.
SAMPLES_MIN, A_SHARE, DEVIATIONS = 1000, 0.1, 1.96


@dataclass(frozen=True)
class WorkProfile:
    """What the time of a run went into.

    Attributes:
        source: `CPU samples`, or `plans`: what the engine said of itself when asked for them.
        seconds: By word of work; of samples CPU seconds, of plans the operators' own time.
        queries: By word of work the operations that did most of it, most first.
        sampled: The samples; None where it is of plans.
        doubt: What is to be known of the source; None: nothing.
    """

    source: str
    seconds: dict[str, float]
    queries: dict[str, list[str]] = field(default_factory=dict)
    sampled: Profile | None = None
    doubt: str | None = None

    def share(self, work: str) -> float | None:
        """The part of the time that went into it; None where nothing tells.

        Of samples a word that none has is 0; plans tell of what they have words for, and no more.
        """
        whole = sum(self.seconds.values())
        if work not in self.seconds and (self.source == PLANS or not self.is_explained):
            return None
        return self.seconds.get(work, 0.0) / whole if whole else None

    @property
    def is_explained(self) -> bool:
        """Whether rules or plans say of at least half of the time what it was."""
        whole = sum(self.seconds.values())
        return self.seconds.get(UNCLASSIFIED, 0.0) <= (1 - CLASSIFIED_MIN) * whole


def figure(asked: Asked) -> Figure:
    """The figure."""
    every = subjects_of(asked)
    subjects = tuple(one for one in every if profile_of(one.first) is not None)
    known = {one.name for one in subjects}
    measures = _measures(subjects)
    shown = tuple(one for one in measures if _most(one) >= SHOWN_MIN)
    count = int(asked.options.get("functions", FUNCTIONS))
    functions = (_functions(one, count) for one in subjects)
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=(*_in_all(subjects), *(_says(one) for one in subjects)),
        subjects=tuple(one.name for one in subjects),
        measures=measures,
        tables=(_work(subjects, shown), *(one for one in functions if one is not None))
        if subjects
        else (),
        charts=(Chart("work", "share of the time", "stacked", tuple(one.key for one in shown)),)
        if shown
        else (),
        notes=tuple(_note(one) for one in subjects),
        missing=(
            *(
                f"{one.name} has no profile: no CPU samples (profile = true), and no plans with"
                " times"
                for one in every
                if one.name not in known
            ),
            *(words for one in subjects for words in _lacking(one)),
        ),
    )


@lru_cache(maxsize=256)
def profile_of(run: Run) -> WorkProfile | None:
    """The profile of a run: by samples that are explained, else by plans, else by any samples."""
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
    """What operators' own time went into; None where no plan has times."""
    plans = read_plans(run)
    pairs = work_by_operation(plans)
    if pairs.is_empty():
        return None
    sums = pairs.group_by("work", maintain_order=True).agg(pl.col("seconds").sum())
    seconds = dict(sums.select("work", "seconds").iter_rows())
    mixed = mixed_work(plan for several in plans.values() for plan in several)
    whole = sum(seconds.values())
    share = sum(one.seconds for one in mixed) / whole
    also = dict.fromkeys(word for one in mixed for word in one.also)
    doubt = (
        f"{text(share, SHARE)} of that is of operators that did other work as well, which their"
        f" plans do not tell apart: {listed(list(also), 8)}"
        if mixed
        else None
    )
    return WorkProfile(PLANS, seconds, _queries(pairs), None, doubt)


def _queries(pairs: pl.DataFrame) -> dict[str, list[str]]:
    """By word of work the operations that have at least `QUERIES_MIN` of it, most first."""
    whole = pl.col("seconds").sum().over("work")
    kept = pairs.filter(pl.col("seconds") >= QUERIES_MIN * whole).sort("seconds", descending=True)
    found: dict[str, list[str]] = {}
    for work, operation in kept.select("work", "operation").iter_rows():
        found.setdefault(work, []).append(operation)
    return found


def _measures(subjects: tuple[Subject, ...]) -> tuple[Measure, ...]:
    """Shares by kind of work, what is largest anywhere first; what nobody explained is last."""
    told = {one.name: [profile_of(run.run) for run in one.runs] for one in subjects}
    seen = (w for each in told.values() for one in each if one is not None for w in one.seconds)
    # What an engine does not do it does for no time: that is known as well.
    words = dict.fromkeys((*seen, *WORDS)) if subjects else {}
    found = [
        Measure(
            work,
            work,
            SHARE,
            by_subject(
                (name, spread(None if one is None else one.share(work) for one in each))
                for name, each in told.items()
            ),
        )
        for work in words
    ]
    return tuple(sorted(found, key=lambda one: (one.key == UNCLASSIFIED, -_most(one))))


def _most(one: Measure) -> float:
    return max((each.middle for each in one.values.values()), default=0.0)


def _work(subjects: tuple[Subject, ...], measures: tuple[Measure, ...]) -> Table:
    columns = [Column("work")]
    for one in subjects:
        columns += [Column(one.name, SHARE), Column("most of it in")]
    rows = []
    for measure in measures:
        cells: list[Cell] = [measure.title]
        for one in subjects:
            known = measure.values.get(one.name)
            told = profile_of(one.first)
            cells.append(None if known is None else known.middle)
            cells.append("" if told is None else _names(told.queries.get(measure.key, [])))
        rows.append(tuple(cells))
    return Table("work", "shares of the time by kind of work", tuple(columns), tuple(rows))


def _functions(subject: Subject, count: int) -> Table | None:
    """The functions with most samples, as a profiler lists them, with what each does."""
    told = profile_of(subject.first)
    if told is None or told.sampled is None:
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
        for row in symbols_table(told.sampled).head(count).iter_rows(named=True)
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
    """One sentence of all subjects, where there are several."""
    if len(subjects) > 1:
        told = [(one.name, _largest(one)) for one in subjects]
        yield f"The largest kind of work is {each_text(told)}."


def _largest(subject: Subject) -> str:
    told = profile_of(subject.first)
    assert told is not None  # noqa: S101 - subjects have one
    known = {work: seconds for work, seconds in told.seconds.items() if work != UNCLASSIFIED}
    if not known or not told.is_explained:
        return "not explained"
    largest = max(known, key=known.__getitem__)
    return f"{largest}, {text(told.share(largest), SHARE)}"


def _says(subject: Subject) -> str:
    told = profile_of(subject.first)
    assert told is not None  # noqa: S101 - subjects have one
    if not told.is_explained:
        share = text(told.share(UNCLASSIFIED), SHARE)
        return f"{subject.name}: {share} of the time is in functions without names or rules."
    explained = [(s, w) for w, s in told.seconds.items() if w != UNCLASSIFIED]
    whole = sum(told.seconds.values())
    largest = sorted(explained, reverse=True)[:3]
    parts = [f"{work} {text(seconds / whole, SHARE)}" for seconds, work in largest]
    words = f"{subject.name} spends most of its time in {listed(parts)}"
    if largest:
        names = told.queries.get(largest[0][1], [])[:3]
        words += f"; {largest[0][1]} is mostly of {listed(names)}" if names else ""
    return f"{words}."


def _note(subject: Subject) -> str:
    told = profile_of(subject.first)
    assert told is not None  # noqa: S101 - subjects have one
    if told.sampled is None:
        doubt = f" {told.doubt[:1].upper()}{told.doubt[1:]}." if told.doubt else ""
        return (
            f"{subject.name}: by its own plans, {text(sum(told.seconds.values()), SECONDS)} of"
            f" operators' own time with the waiting that is in it, because {_why(subject)}.{doubt}"
        )
    sampling = told.sampled.sampling
    return (
        f"{subject.name}: by {text(told.sampled.samples.height, COUNT)} CPU samples"
        f" ({sampling.event}, {sampling.frequency_hz:g} a second of CPU time)"
        f"{_chance(told.sampled.samples.height)}."
    )


def _chance(samples: int) -> str:
    """How well few samples tell a share; empty of enough."""
    if not 0 < samples < SAMPLES_MIN:
        return ""
    off = DEVIATIONS * math.sqrt(A_SHARE * (1 - A_SHARE) / samples)
    low, high = text(max(0.0, A_SHARE - off), SHARE), text(A_SHARE + off, SHARE)
    return f": so few that a share of {text(A_SHARE, SHARE)} may be one of {low} to {high}"


def _why(subject: Subject) -> str:
    """Why it is no profile of samples."""
    sampled = _by_samples(subject.first)
    if sampled is None:
        return "it has no CPU samples"
    share = text(sampled.share(UNCLASSIFIED), SHARE)
    return f"{share} of its CPU samples are in functions that have no names or no rules"


def _lacking(subject: Subject) -> Iterator[str]:
    told = profile_of(subject.first)
    if told is not None and not told.is_explained:
        yield (
            f"{subject.name}: {text(told.share(UNCLASSIFIED), SHARE)} of its time is in functions"
            " that no rule knows, most of them without names, so the work they do cannot be told"
        )
