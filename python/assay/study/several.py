"""Carries out a study: one run after the other, each an ordinary record, in the study's order.

Invariant: `study.toml` is there before the first run and names every run that was begun, with how
it ended. What ended well is not repeated when the same study is carried out once more.
"""

from __future__ import annotations

import logging
import time
import tomllib
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from assay.model.errors import AssayError, RecordUnreadableError, stopped_by
from assay.record.layout import (
    STATUS_COMPLETE,
    STATUS_FAILED,
    STATUS_INTERRUPTED,
    STATUS_RUNNING,
)
from assay.record.studies import STUDY_FILE, read_study_file, write_study
from assay.record.toml_text import toml_text
from assay.study.execute import execute
from assay.study.telling import Teller

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from assay.study.request import RunRequest
    from assay.study.variants import Planned, Study

    RunOne = Callable[[RunRequest, Path, Teller], Path]


log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Begun:
    """One run of a study that was begun.

    Attributes:
        id: Of the run; its record is in the directory of runs.
        status: As in `run.json`.
    """

    round: int
    variant: str
    id: str
    status: str


class StudyTeller(Teller, Protocol):
    """Whoever shows a person how far a study is."""

    def run(self, number: int, of: int, variant: str, left_s: float | None) -> None:
        """Run `number` of so many begins; how long all that are left will take, if it is known."""
        ...


def carry_out(
    study: Study,
    directory: Path,
    runs: Path,
    teller: StudyTeller,
    *,
    about: Mapping[str, Any] | None = None,
    expected_run_s: float | None = None,
    run_one: RunOne = execute,
) -> list[Begun]:
    """Carries out the runs of a study that are not done yet.

    Args:
        study: What is asked.
        directory: Where its `study.toml` is, or will be.
        runs: Where records of runs go.
        teller: Hears how far it is.
        about: What else stands in `study.toml`.
        expected_run_s: How long a run may take, until one has told.
        run_one: Carries out one run and returns its directory.

    Returns:
        All runs that ended well, in the order in which they were begun.

    Raises:
        AssayError: What ended a run that failed; those before it are kept.
        KeyboardInterrupt: On Ctrl-C, as of a single run.
    """
    done = begun_in(directory) if (directory / STUDY_FILE).exists() else []
    record = _Record(study, directory, about or {}, done)
    pace = _Pace(expected_run_s)
    order = study.order()
    with record:
        for number, planned in enumerate(order, 1):
            if not record.has(planned):
                teller.run(
                    number, len(order), planned.variant, pace.left_s(len(order) - number + 1)
                )
                begun_s = time.monotonic()
                run_one(study.request(planned.variant), runs, record.noting(planned, teller))
                record.ended(STATUS_COMPLETE)
                pace.took(time.monotonic() - begun_s)
    return record.complete()


def begun_in(directory: Path) -> list[Begun]:
    """The runs that a study's file names. Raises `RecordUnreadableError`."""
    told = read_study_file(directory / STUDY_FILE).get("runs", [])
    return [Begun(one["round"], one["variant"], one["id"], one["status"]) for one in told]


def unfinished(studies: Path, study: Study, about: Mapping[str, Any]) -> Path | None:
    """Directory of the same study, made for the same reason, that ended before it was done.

    Of several the newest. One whose file cannot be read is none of them.
    """
    asked = tomllib.loads(toml_text({**study.facts(), "about": dict(about) or None}))
    for directory in sorted(studies.glob("*"), reverse=True):
        try:
            told = read_study_file(directory / STUDY_FILE)
        except RecordUnreadableError:
            continue
        ended = told.pop("status", None)
        if ended != STATUS_COMPLETE and asked == _as_asked(told):
            return directory
    return None


def _as_asked(told: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in told.items() if key not in {"reason", "runs"}}


class _Record:
    """The study's file while runs are carried out."""

    def __init__(
        self, study: Study, directory: Path, about: Mapping[str, Any], begun: Sequence[Begun]
    ) -> None:
        self._facts = study.facts()
        self._about = dict(about)
        self._directory = directory
        self._begun = list(begun)
        self._now: str | None = None
        self._status = STATUS_RUNNING
        self._reason: str | None = None

    def __enter__(self) -> None:
        self._write()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        if kind is None:
            self._status = STATUS_COMPLETE
        elif isinstance(error, KeyboardInterrupt):
            self._status, self._reason = STATUS_INTERRUPTED, f"stopped by {stopped_by(error)}"
        else:
            self._status, self._reason = STATUS_FAILED, str(error) or repr(error)
        try:
            self.ended(self._status)
        except AssayError as failure:
            if kind is None:
                raise
            # What ended the run tells more.
            log.warning("%s", failure)

    def has(self, planned: Planned) -> bool:
        """Whether this run ended well."""
        return any(
            (one.round, one.variant) == (planned.round, planned.variant) for one in self.complete()
        )

    def complete(self) -> list[Begun]:
        """The runs that ended well."""
        return [one for one in self._begun if one.status == STATUS_COMPLETE]

    def noting(self, planned: Planned, teller: Teller) -> Teller:
        """The teller of one run, by which its id is noted when its record is there."""
        return _Noting(self, planned, teller)

    def began(self, planned: Planned, run_id: str) -> None:
        """A run's record is there."""
        self._now = run_id
        self._begun.append(Begun(planned.round, planned.variant, run_id, STATUS_RUNNING))
        self._write()

    def ended(self, status: str) -> None:
        """The run that is under way, if any, has ended."""
        self._begun = [
            replace(one, status=status) if one.id == self._now else one for one in self._begun
        ]
        self._now = None
        self._write()

    def _write(self) -> None:
        told = {
            **self._facts,
            "status": self._status,
            "reason": self._reason,
            "about": self._about or None,
            "runs": [asdict(one) for one in self._begun] or None,
        }
        write_study(self._directory, told)


class _Noting:
    """A teller that notes which run it hears of."""

    def __init__(self, record: _Record, planned: Planned, teller: Teller) -> None:
        self._record = record
        self._planned = planned
        self._teller = teller

    def record(self, directory: Path) -> None:
        self._record.began(self._planned, directory.name)
        self._teller.record(directory)

    def phase(self, name: str, begun_s: float | None = None) -> None:
        self._teller.phase(name, begun_s)

    def amount(self, done: float, expected: float | None, unit: str) -> None:
        self._teller.amount(done, expected, unit)


class _Pace:
    """How long runs take."""

    def __init__(self, expected_s: float | None) -> None:
        self._expected_s = expected_s
        self._took_s: list[float] = []

    def took(self, seconds: float) -> None:
        self._took_s.append(seconds)

    def left_s(self, runs: int) -> float | None:
        """For so many runs."""
        if self._took_s:
            return runs * sum(self._took_s) / len(self._took_s)
        return None if self._expected_s is None else runs * self._expected_s
