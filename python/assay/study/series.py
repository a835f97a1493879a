"""Executes the several runs of a command as one resumable series.

Every command that makes several runs uses a `Series`.

A `Series` continues an earlier series of the same kind. A `Series` checks all runs before the first
one, makes the remaining runs in alternating order within a time limit, checks each result and
writes its report. Invariant: no other code carries out studies, so an interruption, `--budget` and
`--again` have the same meaning in all commands.
"""

from __future__ import annotations

import json
import re
import shlex
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol, Self

from assay.engines.contract import EngineError
from assay.model.errors import RecordUnreadableError
from assay.record.damage import refuse_damaged
from assay.record.reader import Run
from assay.record.studies import STUDIES_DIR, STUDY_FILE, list_studies, read_study_file
from assay.record.writer import check_runs_dir, new_run_id
from assay.report.build import build
from assay.running.asked.request import RunRequest
from assay.study.carrying import carried_out
from assay.study.earlier import asked_digest, growing, same
from assay.study.pace import expected_after
from assay.study.preparing import considered_all, prepared
from assay.study.several import (
    Means,
    Outcome,
    StudyTeller,
    Terms,
    begun_in,
    carry_out,
    lost_records,
    remaining,
)
from assay.study.study_lock import only_process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from assay.running.asked.asked_run import Asked
    from assay.running.telling import Teller
    from assay.study.pace import Expected
    from assay.study.preparing import Prepared
    from assay.study.several import RunOne
    from assay.study.variants import Study, StudyRequest

NO_NAME = re.compile(r"[^\w.-]+")


class Watcher(Protocol):
    """Interface that shows the progress of a series of runs."""

    def remark(self, text: str) -> None:
        """Show a sentence about a series of runs as a whole."""
        ...

    def obtaining(self) -> AbstractContextManager[Teller]:
        """Return the context in which engines are obtained before the first run."""
        ...

    def making(self, directory: Path, *, one_part: bool) -> AbstractContextManager[StudyTeller]:
        """Return the context in which the runs of a series are executed.

        With `one_part`, runs are named after their variants only.
        """
        ...


@dataclass(frozen=True)
class Purpose:
    """The purpose of several runs, by which a repeated command finds its earlier runs.

    Attributes:
        name: Beginning of the directory's name, such as `tune-tpch`.
        engine: End of the directory's name: an engine, or the study's name.
        about: Command that made the series (`made_by`) and its subject. A series is found again by
            these facts.
        workloads: Whether the content of its workloads belongs to these facts.
        grows: Whether results add further parts. A series with the same and further parts is then
            the same series.
        of_file: Whether a user wrote its parts, so that errors name them.
        all_engines: Whether all engines are required; without one of them no run is made.
        expected: Estimates the seconds of a run; None means an estimate from existing runs.
    """

    name: str
    engine: str
    about: Mapping[str, Any]
    workloads: bool = True
    grows: bool = False
    of_file: bool = False
    all_engines: bool = True
    expected: Expected | None = None


@dataclass
class Series:
    """A series of runs of one command in progress.

    Within its `with` block, no other process executes the same study.

    Attributes:
        purpose: Purpose of the runs.
        place: Directory of runs.
        watcher: Receives the progress of the runs.
        terms: Limits of the runs, such as the time limit.
        again: Whether to repeat all runs, even if earlier ones exist.
        directory: Directory of its study, from `begin` on.
    """

    purpose: Purpose
    place: Path
    watcher: Watcher
    terms: Terms = field(default_factory=Terms)
    again: bool = False
    directory: Path = field(init=False)
    _about: dict[str, Any] = field(init=False, default_factory=dict)
    _ready: Prepared = field(init=False)
    _locks: ExitStack = field(init=False, default_factory=ExitStack)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._locks.close()

    def begin(self, study: Study, ends: Study | None = None) -> Path:
        """Find the unfinished series of the same kind or begin one; return its directory.

        Args:
            study: Study to run first.
            ends: Representative later runs, which are checked now as well.

        Raises:
            UsageError: If the runs cannot be made, or another process is making them. In this
                case nothing was run.
            EngineError: If an engine cannot be obtained and all are required, or none of the
                engines can be obtained. In this case nothing was run.
        """
        asked = considered_all(study, self.terms.wants, of_file=self.purpose.of_file)
        self._about = self._about_with_hashes(asked)
        # Until the study has its file, an equal one of another process is known by this digest.
        self._lock(asked_digest(study, self._about))
        directory = None if self.again else self._before(study)
        is_new = directory is None
        to_do = remaining(study, begun_in(directory) if directory else [])
        if directory is not None:
            self._tell_resumed(directory, study, len(to_do))
            for reason in lost_records(directory):
                self.watcher.remark(f"a run of it is made anew: {reason}")
        else:
            check_runs_dir(self.place)
            name = new_run_id(self.purpose.name, NO_NAME.sub("-", self.purpose.engine))
            directory = self.place / STUDIES_DIR / name
        self._lock(directory.name)
        if ends is not None:
            asked = considered_all(ends, of_file=False)
        planned = ends.order() if ends is not None else to_do
        wanted = [run for run in planned if self.terms.wants(run)]
        with self.watcher.obtaining() as teller:
            self._ready = prepared(
                wanted, asked, teller, of_file=self.purpose.of_file and ends is None
            )
        # A study that has runs already is shown, even if no other one can be made.
        begins_in_vain = is_new and self._ready.refuses_all(wanted)
        if begins_in_vain or (self.purpose.all_engines and self._ready.reasons):
            raise EngineError(" ".join(self._ready.reasons.values()))
        self.directory = directory.absolute()
        return self.directory

    def make(self, study: Study, terms: Terms | None = None) -> Outcome:
        """Execute the remaining runs of a study.

        Args:
            study: The study.
            terms: Limits of the runs, if they differ from those of the series.

        Raises:
            AssayError: If a run failed and the terms do not continue after failures. Earlier runs
                are kept.
            KeyboardInterrupt: On Ctrl-C. Earlier runs are kept.
        """
        terms = self.terms if terms is None else terms
        expected = self.purpose.expected or expected_after(self.place)
        one_part = len(study.parts) == 1 and not self.purpose.grows
        with self.watcher.making(self.directory, one_part=one_part) as teller:
            return carry_out(
                study,
                self.directory,
                self.place,
                teller,
                terms=terms,
                about=self._about,
                means=Means(self._ready.wrapping(judging(teller.remark)), expected),
            )

    def _lock(self, name: str) -> None:
        self._locks.enter_context(only_process(self.place / STUDIES_DIR, name))

    def _about_with_hashes(self, asked: list[Asked]) -> dict[str, Any]:
        if not self.purpose.workloads:
            return dict(self.purpose.about)
        hashes = {run.workload.facts.name: run.workload.content_hash for run in asked}
        return {**self.purpose.about, "workloads": hashes}

    def _before(self, study: Study) -> Path | None:
        studies = self.place / STUDIES_DIR
        if self.purpose.grows:
            return growing(studies, study, self._about)
        return next(same(studies, study, self._about), None)

    def _tell_resumed(self, directory: Path, study: Study, left: int) -> None:
        of = len(study.order())
        if self.purpose.grows:
            self.watcher.remark(f"going on with {directory.name} (--again begins anew)")
        elif left:
            self.watcher.remark(
                f"going on with {directory.name}: {of - left} of {of} runs are there"
            )
        else:
            self.watcher.remark(
                "all its runs are there, none is repeated (--again makes them anew)"
            )


def judging(remark: Callable[[str], None]) -> RunOne:
    """Return a function that executes a run, checks it, and remarks on it if it is invalid.

    A run that only captures plans has nothing to check.

    Args:
        remark: Receives a sentence about a run that is invalid.
    """

    def run(request: StudyRequest, runs: Path, teller: Teller) -> Path:
        directory = carried_out(request, runs, teller)
        if isinstance(request, RunRequest) and request.plans_only:
            return directory
        teller.phase("checks and report")
        if build(directory, with_page=False)["verdict"] == "invalid":
            remark(f"invalid: assay show {shlex.quote(str(directory))}")
        return directory

    return run


def documents_made_before(place: Path, about: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the study files that were written for the same purpose, newest first.

    Args:
        place: Directory of runs.
        about: Facts that the studies must have, such as `made_by`.
    """
    for directory in reversed(list_studies(place)):
        try:
            document = read_study_file(directory / STUDY_FILE)
        except RecordUnreadableError:
            continue
        said = document.get("about") or {}
        if all(said.get(key) == value for key, value in about.items()):
            yield document


def made_pilot(base: RunRequest, place: Path, watcher: Watcher, about: Mapping[str, Any]) -> Run:
    """Execute the run without changes on which a series depends, and return it.

    Args:
        base: Request of the run.
        place: Directory of runs.
        watcher: Receives the progress.
        about: Facts of the series, such as `made_by`.

    Raises:
        UsageError: If another process makes this run, or it cannot be made.
    """
    name = sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]
    with only_process(place / STUDIES_DIR, name), watcher.obtaining() as teller:
        return Run(judging(watcher.remark)(base, place, teller))


def pilot_before(place: Path, about: Mapping[str, Any]) -> Run | None:
    """Return the first run of the newest series with the same purpose; None without one.

    Args:
        place: Directory of runs.
        about: Argument of `documents_made_before`; `pilot` names the run.
    """
    for document in documents_made_before(place, about):
        try:
            pilot = Run(place / document["about"]["pilot"])
            refuse_damaged(pilot.dir)
        except (RecordUnreadableError, KeyError):
            continue
        return pilot
    return None
