"""Table of crashes: acknowledged writes that were lost or found, and the recovery time."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from assay.analysis.answers.recovery import looks
from assay.analysis.figures.contract import Chart, Column, Figure, Table
from assay.analysis.figures.subjects import measure, subjects_of
from assay.analysis.operations import NS
from assay.analysis.quantities import COUNT, SECONDS, spread, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.analysis.answers.recovery import RecoveredCopy
    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.figures.subjects import Subject
    from assay.record.reader import Run

# The factor of runs that differ only in the time of their crash.
MOMENT = "moment"
OPTIONS: dict[str, str] = {}
# The kind of crash in words: its name, and the words for one crash and for several.
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
    """The recovered databases of one engine after one kind of crash."""

    subject: str
    kind: str
    operation: str
    looks: tuple[tuple[Run, RecoveredCopy], ...]

    def sum_of(self, name: str) -> int:
        """Return the number of writes with a certain fate, summed over the recovered databases."""
        return sum(int(getattr(look.comparison, name)) for _, look in self.looks)

    @property
    def recovery_s(self) -> list[float]:
        return [look.recovery_s for _, look in self.looks if look.recovery_s is not None]

    @property
    def failed(self) -> int:
        return sum(look.error is not None for _, look in self.looks)


def figure(asked: Asked) -> Figure:
    """Return a table of lost and found writes after crashes."""
    every = subjects_of(asked, without=(MOMENT,))
    crashed = [crash for subject in every for crash in _crashed(subject)]
    recovered = {crash.subject for crash in crashed}
    subjects = [subject for subject in every if subject.name in recovered]
    seconds = measure("recovery_s", "seconds until it answered", SECONDS, subjects, _recovery_s)
    lost = measure("lost", "acknowledged and lost", COUNT, subjects, _lost)
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(_says(crash) for crash in crashed),
        subjects=tuple(subject.name for subject in subjects),
        measures=(seconds, lost) if subjects else (),
        tables=(
            Table("sums", "acknowledged, found and lost", SUMS, tuple(map(_sum_row, crashed))),
            Table(
                "each",
                "each recovered database",
                EACH,
                tuple(row for c in crashed for row in _database_rows(c)),
            ),
        )
        if crashed
        else (),
        charts=(Chart("recovery", "seconds until it answered", "dots", ("recovery_s",)),)
        if seconds.values
        else (),
        notes=_notes(crashed),
        missing=tuple(
            f"{subject.name}: nothing was killed or copied, so nothing was recovered"
            for subject in every
            if subject.name not in recovered
        ),
    )


def _notes(crashed: list[_Crashed]) -> tuple[str, ...]:
    if not crashed:
        return ()
    if all(crash.kind == "kill" for crash in crashed):
        return (NAMES, KEEPS_CACHE)
    return (NAMES, COUNTED_BY_COPY)


def _crashed(subject: Subject) -> Iterator[_Crashed]:
    pairs = [(run.run, look) for run in subject.runs for look in looks(run.run)]
    for kind in dict.fromkeys(look.kind for _, look in pairs):
        own = tuple(pair for pair in pairs if pair[1].kind == kind)
        operation = own[0][0].facts["workload"]["receipt"]["operation"]
        yield _Crashed(subject.name, kind, operation, own)


def _recovery_s(run: Run) -> float | None:
    times = [look.recovery_s for look in looks(run) if look.recovery_s is not None]
    return median(times) if times else None


def _lost(run: Run) -> float | None:
    copies = looks(run)
    return float(sum(look.comparison.lost for look in copies)) if copies else None


def _sum_row(crash: _Crashed) -> tuple[Cell, ...]:
    seconds = spread(crash.recovery_s)
    ends = (None, None, None) if seconds is None else (seconds.middle, seconds.low, seconds.high)
    counts = ("acknowledged", "kept", "lost")
    return (
        crash.subject,
        AFTER[crash.kind][0],
        len(crash.looks),
        *(crash.sum_of(name) for name in counts),
        *ends,
    )


def _database_rows(crash: _Crashed) -> Iterator[tuple[Cell, ...]]:
    for run, look in crash.looks:
        comparison = look.comparison
        yield (
            crash.subject,
            AFTER[crash.kind][0],
            _after_s(run, look),
            comparison.acknowledged,
            comparison.lost,
            comparison.unacknowledged,
            look.recovery_s,
            _remark(run, look),
        )


def _remark(run: Run, look: RecoveredCopy) -> str | None:
    """Return the error of a recovery, or the age and key of the first lost row; else None."""
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
    """Return the seconds from the first acknowledged write to the crash; None if not known."""
    begun = run.table("receipts")["finished_ns"].min()
    if look.at_ns is None or not isinstance(begun, int):
        return None
    return max(0.0, (look.at_ns - begun) * NS)


def _says(crash: _Crashed) -> str:
    times = len(crash.looks)
    crashes = f"{times:,} {AFTER[crash.kind][1 if times == 1 else 2]}"
    acknowledged, lost = crash.sum_of("acknowledged"), crash.sum_of("lost")
    if crash.failed:
        return f"{crash.subject} was not recovered from {crash.failed} of {crashes}."
    if lost:
        of = sum(look.comparison.lost > 0 for _, look in crash.looks)
        return (
            f"{crash.subject} lost {lost:,} of {acknowledged:,} acknowledged {crash.operation}, in"
            f" {of} of {crashes}."
        )
    if not acknowledged:
        return (
            f"{crash.subject}: no {crash.operation} had been acknowledged, so {crashes} prove"
            " nothing."
        )
    seconds = spread(crash.recovery_s)
    took = "" if seconds is None else f"; it answered again after {text(seconds.middle, SECONDS)}"
    return (
        f"{crash.subject}: after {crashes} all {acknowledged:,} acknowledged {crash.operation} were"
        f" found{took}."
    )
