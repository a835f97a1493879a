"""Executes the runs of a study one after another, each with its own record.

Invariant: `study.toml` exists before the first run and lists every run that was begun, with its
    outcome. Successful runs are not repeated when the same study is carried out again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from assay.model.errors import AssayError, RecordUnreadableError, stopped_by
from assay.model.units import duration_text
from assay.record.damage import refuse_damaged
from assay.record.layout import (
    STATUS_COMPLETE,
    STATUS_FAILED,
    STATUS_INTERRUPTED,
    STATUS_RUNNING,
)
from assay.record.reader import Run
from assay.record.studies import STATUS_PARTIAL, STUDY_FILE, read_study_file, write_study
from assay.running.telling import Teller
from assay.study.carrying import carried_out
from assay.study.pace import Pace
from assay.study.variants import Planned

RunOne = Callable[["StudyRequest", "Path", Teller], "Path"]

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from assay.study.pace import Expected
    from assay.study.variants import PlannedRun, Study, StudyRequest


log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Begun:
    """One run of a study that was started; the record-format page explains each field."""

    part: str
    variant: str
    round: int
    status: str
    id: str | None = None
    reason: str | None = None
    seconds: float | None = None

    @property
    def planned(self) -> Planned:
        """Return the planned run that was started."""
        return Planned(self.part, self.variant, self.round)


@dataclass(frozen=True)
class Terms:
    """Limits of one execution of a study, such as its time budget.

    Attributes:
        budget_s: Time limit of the study in seconds, including earlier executions; None means no
            limit. No run starts that would end after the time limit.
        parts: Parts to carry out; None means all.
        goes_on: Whether the study continues after a failed run.
        once: Whether failed runs are not tried again.
        compared: Variants of the part: the one that the others are compared with, then the others,
            the most important first. None of them runs if its comparison does not fit the budget.
    """

    budget_s: float | None = None
    parts: frozenset[str] | None = None
    goes_on: bool = False
    once: bool = False
    compared: tuple[str, ...] = ()

    def wants(self, run: PlannedRun) -> bool:
        """Return True if a run belongs to a study section that is executed now."""
        return self.parts is None or any(planned.part in self.parts for planned in run.stands_for)


@dataclass(frozen=True)
class Means:
    """Functions that execute a run, estimate its duration and read the clock.

    Attributes:
        run_one: Carries out one run and returns its directory.
        expected: Estimates the seconds of a run until an equal run was measured.
        clock: Returns the time in seconds.
    """

    run_one: RunOne = carried_out
    expected: Expected = lambda _: None
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True)
class Outcome:
    """The result of executing the runs of a study.

    Attributes:
        status: Status, as in `study.toml`.
        complete: Successful runs, in the order of their start.
        left_out: Runs that were not started, because they were not requested or did not fit the
            budget.
        needs_s: Time limit that would probably suffice for all runs; None if not known.
    """

    status: str
    complete: tuple[Begun, ...]
    left_out: tuple[PlannedRun, ...] = ()
    needs_s: float | None = None


class StudyTeller(Teller, Protocol):
    """Interface that shows the progress of a study."""

    def run(
        self, number: int, of: int, planned: Planned, left_s: float | None, budget_s: float | None
    ) -> None:
        """Report the start of a run, and the expected and remaining time of the study."""
        ...

    def failed(self, reason: str) -> None:
        """Report that the current run failed and the study continues."""
        ...

    def remark(self, text: str) -> None:
        """Show a comment on the study's run that has just ended."""
        ...


def carry_out(
    study: Study,
    directory: Path,
    runs: Path,
    teller: StudyTeller,
    *,
    terms: Terms | None = None,
    about: Mapping[str, Any] | None = None,
    means: Means | None = None,
) -> Outcome:
    """Execute the runs of a study that are not complete yet.

    Args:
        study: Study to carry out.
        directory: Directory of its `study.toml`.
        runs: Directory for records of runs.
        teller: Receives the progress.
        terms: Limits of this execution.
        about: Further content of `study.toml`.
        means: Functions that execute and estimate runs.

    Raises:
        AssayError: If a run failed and the study does not continue. Earlier runs are kept.
        KeyboardInterrupt: On Ctrl-C.
    """
    terms, means = terms or Terms(), means or Means()
    record = _Record(study, directory, about or {}, terms, means.clock)
    with record:
        return _Carrying(study, record, teller, terms, means).all(runs)


def begun_in(directory: Path) -> list[Begun]:
    """Return the started runs of a study; those without a readable record count as failed.

    Raises:
        RecordUnreadableError: If the file does not exist or cannot be read.
    """
    runs = directory.absolute().parent.parent
    return [_kept(begun, runs) for begun in _named_in(directory)]


def lost_records(directory: Path) -> list[str]:
    """Return a sentence for each successful run that must be repeated, with the reason."""
    runs = directory.absolute().parent.parent
    sentences = (_why_lost(begun, runs) for begun in _named_in(directory))
    return [sentence for sentence in sentences if sentence is not None]


def _named_in(directory: Path) -> list[Begun]:
    return [Begun(**row) for row in read_study_file(directory / STUDY_FILE).get("runs", [])]


def _kept(begun: Begun, runs: Path) -> Begun:
    reason = _why_lost(begun, runs)
    return begun if reason is None else replace(begun, status=STATUS_FAILED, reason=reason)


def _why_lost(begun: Begun, runs: Path) -> str | None:
    """Return why the record of a successful run cannot be used; None if it can."""
    if begun.status != STATUS_COMPLETE or begun.id is None:
        return None
    try:
        Run(runs / begun.id)
        refuse_damaged(runs / begun.id)
    except RecordUnreadableError as error:
        return str(error)
    return None


def remaining(study: Study, begun: Sequence[Begun]) -> list[PlannedRun]:
    """Return the runs of a study that have not been started, in order."""
    done = {run.planned for run in begun if run.status == STATUS_COMPLETE}
    return [run for run in study.order() if not done.issuperset(run.stands_for)]


class _Carrying:
    """Executes the runs of a study one after another."""

    def __init__(
        self,
        study: Study,
        record: _Record,
        teller: StudyTeller,
        terms: Terms,
        means: Means,
    ) -> None:
        self._order = study.order()
        self._record = record
        self._teller = teller
        self._terms = terms
        self._pace = Pace(means.expected)
        self._run_one = means.run_one
        requests = {planned: run.request for run in self._order for planned in run.stands_for}
        for begun in record.complete:
            if begun.planned in requests and begun.seconds is not None:
                self._pace.took(requests[begun.planned], begun.seconds)

    def all(self, runs: Path) -> Outcome:
        """Execute the remaining runs within the limits."""
        unfit = self._incomparable()
        for number, run in enumerate(self._order, 1):
            if not self._terms.wants(run) or self._record.has(run) or run in unfit:
                continue
            if self._terms.once and self._record.failed(run):
                continue
            if not self._fits(run):
                unfit.append(run)
                continue
            self._tell(number, run)
            self._carry_out(run, runs)
        return self._outcome(unfit)

    def _outcome(self, unfit: list[PlannedRun]) -> Outcome:
        missing = [run for run in self._order if not self._record.has(run)]
        unwanted = [run for run in missing if not self._terms.wants(run)]
        needs_s = self._pace.left_s(run.request for run in unfit)
        needs_s = None if needs_s is None or not unfit else self._record.spent_s + needs_s
        failed = len(missing) - len(unwanted) - len(unfit)
        left_out = (*unfit, *unwanted)
        status = self._record.closes(
            self._reasons(len(unfit), len(unwanted), failed), left_out=bool(left_out)
        )
        return Outcome(status, tuple(self._record.complete), left_out, needs_s)

    def _reasons(self, unfit: int, unwanted: int, failed: int) -> list[str]:
        """Yield the reasons why runs are missing."""
        of = len(self._order)
        budget = duration_text(self._terms.budget_s or 0.0)
        parts = ", ".join(sorted(self._terms.parts or ()))
        counts = {
            f"{failed} of {of} runs failed": failed,
            f"a budget of {budget} leaves out {unfit} of {of} runs": unfit,
            f"only {parts} was asked for, which leaves out {unwanted} of {of} runs": unwanted,
        }
        return [reason for reason, count in counts.items() if count]

    def _incomparable(self) -> list[PlannedRun]:
        """Return the runs whose comparison does not fit the budget."""
        budget_s, names = self._terms.budget_s, self._terms.compared
        if budget_s is None or not names:
            return []
        to_do = [run for run in self._order if self._terms.wants(run) and not self._record.has(run)]
        return self._pace.unfit(to_do, names, budget_s - self._record.spent_s)

    def _fits(self, run: PlannedRun) -> bool:
        """Return True if the run is expected to end within the budget."""
        if self._terms.budget_s is None:
            return True
        ends_s = self._record.spent_s + (self._pace.run_s(run.request) or 0.0)
        return ends_s <= self._terms.budget_s

    def _tell(self, number: int, run: PlannedRun) -> None:
        to_do = [
            later.request
            for later in self._order[number - 1 :]
            if self._terms.wants(later) and not self._record.has(later)
        ]
        budget_s = self._terms.budget_s
        left_s = None if budget_s is None else max(0.0, budget_s - self._record.spent_s)
        shown = next(
            (
                planned
                for planned in run.stands_for
                if planned.part in (self._terms.parts or {planned.part})
            ),
            run.stands_for[0],
        )
        self._teller.run(number, len(self._order), shown, self._pace.left_s(to_do), left_s)

    def _carry_out(self, run: PlannedRun, runs: Path) -> None:
        """Execute a run; a failure that does not end the study is recorded."""
        self._record.begins(run)
        try:
            self._run_one(run.request, runs, _Noting(self._record, self._teller))
        except Exception as error:
            reason = str(error) or repr(error)
            if not isinstance(error, AssayError):
                log.exception("a run ended by a defect of Assay")
                reason = f"this is a defect of Assay ({type(error).__name__}: {error})"
            self._record.ended(STATUS_FAILED, reason)
            if not self._terms.goes_on:
                raise
            self._teller.failed(reason)
        else:
            self._pace.took(run.request, self._record.ended(STATUS_COMPLETE))


class _Record:
    """Writes the study's file while its runs are executed."""

    def __init__(
        self,
        study: Study,
        directory: Path,
        about: Mapping[str, Any],
        terms: Terms,
        clock: Callable[[], float],
    ) -> None:
        before: Mapping[str, Any] = {}
        self._begun: list[Begun] = []
        if (directory / STUDY_FILE).exists():
            before, self._begun = read_study_file(directory / STUDY_FILE), begun_in(directory)
        self._facts = study.facts()
        self._about = dict(about)
        self._directory = directory
        self._terms = terms
        self._clock = clock
        self._now: PlannedRun | None = None
        self._now_id: str | None = None
        self._now_begun_s = 0.0
        self._began_s = clock() - float(before.get("spent_s", 0.0))
        self._status = STATUS_RUNNING
        self._reason: str | None = None

    def __enter__(self) -> None:
        self._write()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        if kind is not None:
            stopped = isinstance(error, KeyboardInterrupt)
            self._status = STATUS_INTERRUPTED if stopped else STATUS_FAILED
            self._reason = str(error) or repr(error)
            if isinstance(error, KeyboardInterrupt):
                self._reason = f"stopped by {stopped_by(error)}"
        try:
            if self._now is not None:
                self.ended(self._status, self._reason)
            self._write()
        except AssayError as failure:
            if kind is None:
                raise
            # The error that ended the run is more important.
            log.warning("%s", failure)

    @property
    def spent_s(self) -> float:
        """Return the seconds that the study took so far, including those before an interruption."""
        return self._clock() - self._began_s

    @property
    def complete(self) -> list[Begun]:
        """Return the successful runs of the study."""
        return [begun for begun in self._begun if begun.status == STATUS_COMPLETE]

    def has(self, run: PlannedRun) -> bool:
        """Return True if a planned run of the study succeeded."""
        return {begun.planned for begun in self.complete}.issuperset(run.stands_for)

    def failed(self, run: PlannedRun) -> bool:
        """Return True if a planned run of the study was tried and failed."""
        tried = {begun.planned for begun in self._begun if begun.status == STATUS_FAILED}
        return not self.has(run) and tried.issuperset(run.stands_for)

    def begins(self, run: PlannedRun) -> None:
        """Record that a run of the study was requested."""
        self._now, self._now_id, self._now_begun_s = run, None, self._clock()

    def began(self, run_id: str) -> None:
        """Record that the current run's record exists."""
        self._now_id = run_id
        self._note(STATUS_RUNNING)

    def ended(self, status: str, reason: str | None = None) -> float:
        """Record the end of the current run; return its seconds."""
        seconds = self._clock() - self._now_begun_s
        self._note(status, reason, round(seconds, 3))
        self._now = None
        return seconds

    def closes(self, reasons: Sequence[str], *, left_out: bool) -> str:
        """Record that the study starts no further run, and return its status."""
        self._reason = "; ".join(reasons) or None
        whole = STATUS_FAILED if reasons else STATUS_COMPLETE
        self._status = STATUS_PARTIAL if left_out else whole
        return self._status

    def _note(self, status: str, reason: str | None = None, seconds: float | None = None) -> None:
        """Write the facts of the current run to the study's file."""
        assert self._now is not None  # noqa: S101 - only called while one is under way
        earlier = [
            begun for begun in self._begun if begun.status != STATUS_RUNNING or not self._is(begun)
        ]
        self._begun = earlier + [
            Begun(*planned, status, self._now_id, reason, seconds)
            for planned in self._now.stands_for
        ]
        self._write()

    def _is(self, begun: Begun) -> bool:
        """Return True if an entry of the study's file is the current run's."""
        return self._now_id is not None and begun.id == self._now_id

    def _write(self) -> None:
        document = {
            **self._facts,
            "status": self._status,
            "reason": self._reason,
            "budget_s": self._terms.budget_s,
            "spent_s": round(self.spent_s, 3),
            "about": self._about or None,
            "runs": [asdict(begun) for begun in self._begun] or None,
        }
        write_study(self._directory, document)


class _Noting:
    """A progress display that also records the id of the current run."""

    def __init__(self, record: _Record, teller: Teller) -> None:
        self._record = record
        self._teller = teller

    def record(self, directory: Path) -> None:
        self._record.began(directory.name)
        self._teller.record(directory)

    def phase(self, name: str, begun_s: float | None = None) -> None:
        self._teller.phase(name, begun_s)

    def amount(self, done: float, expected: float | None, unit: str) -> None:
        self._teller.amount(done, expected, unit)
