"""What was acknowledged and is there after a crash: lost or found, and how long recovery took."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from assay.analysis.answers.recovery import looks
from assay.analysis.figures.contract import Chart, Column, Figure, Table
from assay.analysis.figures.quantities import COUNT, SECONDS, spread, text
from assay.analysis.figures.subjects import measure, subjects_of
from assay.analysis.operations import NS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.analysis.answers.recovery import RecoveredCopy
    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.figures.subjects import Subject
    from assay.record.reader import Run

# Factors of runs that differ in nothing but the moments at which they were crashed.
MOMENT = "moment"
OPTIONS: dict[str, str] = {}
# What a recovered database was recovered from: how it is told of one and of several.
AFTER = {
    "kill": ("SIGKILL", "kill", "kills"),
    "copy": ("copy", "copy of the device", "copies of the device"),
}
KEEPS_CACHE = (
    "SIGKILL ends an engine and leaves the kernel's page cache: what an engine had handed to the"
    " kernel is there, whether or not it reached the device. What a power failure takes is told by"
    " copies of the device (--copies)."
)
COUNTED_BY_COPY = (
    "A copy is compared with all that had been acknowledged before it, so sums over copies of one"
    " load count an operation once for each copy after it."
)
SUMS = (
    Column("engine"),
    Column("from"),
    Column("times", COUNT),
    Column("acked", COUNT),
    Column("found", COUNT),
    Column("lost", COUNT),
    Column("recovery", SECONDS),
    Column("min", SECONDS),
    Column("max", SECONDS),
)
EACH = (
    Column("engine"),
    Column("from"),
    Column("after", SECONDS),
    Column("acked", COUNT),
    Column("lost", COUNT),
    Column("unanswered", COUNT),
    Column("recovery", SECONDS),
    Column("remark"),
)
NAMES = (
    "acked: operations whose success was answered before the crash; unanswered: found though no"
    " answer had come, which is right; after: seconds from the first answer to the crash; recovery:"
    " from the engine's start until it answered; remark: how long before the crash the first that"
    " was lost had been answered, and its key."
)


@dataclass(frozen=True)
class _Crashed:
    """The databases of a subject that were recovered from one kind of crash."""

    subject: str
    kind: str
    operation: str
    looks: tuple[tuple[Run, RecoveredCopy], ...]

    def sum_of(self, name: str) -> int:
        """Sum of a count of their comparisons."""
        return sum(int(getattr(look.comparison, name)) for _, look in self.looks)

    @property
    def recovery_s(self) -> list[float]:
        return [look.recovery_s for _, look in self.looks if look.recovery_s is not None]

    @property
    def failed(self) -> int:
        return sum(look.error is not None for _, look in self.looks)


def figure(asked: Asked) -> Figure:
    """The figure."""
    every = subjects_of(asked, without=(MOMENT,))
    crashed = [one for subject in every for one in _crashed(subject)]
    known = {one.subject for one in crashed}
    subjects = [one for one in every if one.name in known]
    seconds = measure("recovery_s", "seconds until it answered", SECONDS, subjects, _recovery_s)
    lost = measure("lost", "acknowledged and lost", COUNT, subjects, _lost)
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(_says(one) for one in crashed),
        subjects=tuple(one.name for one in subjects),
        measures=(seconds, lost) if subjects else (),
        tables=(
            Table("sums", "acknowledged, found and lost", SUMS, tuple(map(_sums, crashed))),
            Table(
                "each",
                "each recovered database",
                EACH,
                tuple(row for c in crashed for row in _each(c)),
            ),
        )
        if crashed
        else (),
        charts=(Chart("recovery", "seconds until it answered", "dots", ("recovery_s",)),)
        if seconds.values
        else (),
        notes=_notes(crashed),
        missing=tuple(
            f"{one.name}: nothing was killed or copied, so nothing was recovered"
            for one in every
            if one.name not in known
        ),
    )


def _notes(crashed: list[_Crashed]) -> tuple[str, ...]:
    if not crashed:
        return ()
    if all(one.kind == "kill" for one in crashed):
        return (NAMES, KEEPS_CACHE)
    return (NAMES, COUNTED_BY_COPY)


def _crashed(subject: Subject) -> Iterator[_Crashed]:
    found = [(one.run, look) for one in subject.runs for look in looks(one.run)]
    for kind in dict.fromkeys(look.kind for _, look in found):
        own = tuple(one for one in found if one[1].kind == kind)
        operation = own[0][0].facts["workload"]["receipt"]["operation"]
        yield _Crashed(subject.name, kind, operation, own)


def _recovery_s(run: Run) -> float | None:
    known = [look.recovery_s for look in looks(run) if look.recovery_s is not None]
    return median(known) if known else None


def _lost(run: Run) -> float | None:
    found = looks(run)
    return float(sum(look.comparison.lost for look in found)) if found else None


def _sums(one: _Crashed) -> tuple[Cell, ...]:
    seconds = spread(one.recovery_s)
    ends = (None, None, None) if seconds is None else (seconds.middle, seconds.low, seconds.high)
    counts = ("acknowledged", "found", "lost")
    return (
        one.subject,
        AFTER[one.kind][0],
        len(one.looks),
        *(one.sum_of(name) for name in counts),
        *ends,
    )


def _each(one: _Crashed) -> Iterator[tuple[Cell, ...]]:
    for run, look in one.looks:
        told = look.comparison
        yield (
            one.subject,
            AFTER[one.kind][0],
            _after_s(run, look),
            told.acknowledged,
            told.lost,
            told.unacknowledged,
            look.recovery_s,
            _remark(run, look),
        )


def _remark(run: Run, look: RecoveredCopy) -> str | None:
    """Why it was not recovered, or how far back it lost something, and the first of it."""
    if look.error is not None or not look.comparison.first_lost:
        return look.error
    names = run.facts["workload"]["receipt"]["names"]
    key = zip(names, look.comparison.first_lost[0], strict=True)
    first = ", ".join(f"{name} {value}" for name, value in key)
    lost_ns = look.comparison.lost_from_ns
    if look.at_ns is None or lost_ns is None:
        return f"lost: {first}"
    ago = text(max(0.0, (look.at_ns - lost_ns) * NS), SECONDS)
    return f"lost {ago} before: {first}"


def _after_s(run: Run, look: RecoveredCopy) -> float | None:
    """Seconds from the first acknowledgement to the moment of the crash."""
    begun = run.table("receipts")["finished_ns"].min()
    if look.at_ns is None or not isinstance(begun, int):
        return None
    return max(0.0, (look.at_ns - begun) * NS)


def _says(one: _Crashed) -> str:
    times = len(one.looks)
    each = f"{times:,} {AFTER[one.kind][1 if times == 1 else 2]}"
    acknowledged, lost = one.sum_of("acknowledged"), one.sum_of("lost")
    if one.failed:
        return f"{one.subject} was not recovered from {one.failed} of {each}."
    if lost:
        of = sum(look.comparison.lost > 0 for _, look in one.looks)
        return (
            f"{one.subject} lost {lost:,} of {acknowledged:,} acknowledged {one.operation}, in"
            f" {of} of {each}."
        )
    if not acknowledged:
        return f"{one.subject}: no {one.operation} had been acknowledged, so {each} prove nothing."
    seconds = spread(one.recovery_s)
    took = "" if seconds is None else f"; it answered again after {text(seconds.middle, SECONDS)}"
    return (
        f"{one.subject}: after {each} all {acknowledged:,} acknowledged {one.operation} were"
        f" found{took}."
    )
