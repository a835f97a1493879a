"""Files of studies, `<runs>/studies/<id>/study.toml`: the requested runs and their outcome."""

from __future__ import annotations

import os
import tomllib
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.model.errors import (
    RecordPathError,
    RecordUnreadableError,
    RunFailedError,
    UsageError,
    suggestion,
)
from assay.model.whole_file import whole_file
from assay.record.access import denial_reported, is_file, refuse_other_encoding
from assay.record.layout import KIND_RUN, STATUS_COMPLETE, STATUS_FAILED
from assay.record.reader import find_run
from assay.record.toml_text import toml_text

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = 2
STUDIES_DIR = "studies"
STUDY_FILE = "study.toml"
PUBLISHED_FILE = "published.toml"
# Status of a study that ended normally with some of its runs left out.
STATUS_PARTIAL = "partial"
# Names of figure kinds in older records, with their current names.
RENAMED_KINDS = {"versus": "compare", "plan_regret": "plans"}


@dataclass(frozen=True)
class StudyVariant:
    """One variant of a study as stored: runs with the same options.

    Attributes:
        levels: Name of the level by name of the factor; empty if the part has no factors.
        request: Options of the runs that differ from their defaults, as in run.json.
    """

    name: str
    levels: Mapping[str, str]
    request: Mapping[str, Any]


@dataclass(frozen=True)
class StudyPart:
    """A section of a study as stored: variants that run in alternating order.

    Attributes:
        expects: Operators that the plans of its runs must have; empty means any plan is accepted.
        kind: Kind of its runs: a workload on an engine, or a ceiling of the host.
    """

    name: str
    about: str | None
    repetitions: int
    variants: tuple[StudyVariant, ...]
    expects: tuple[str, ...] = ()
    kind: str = KIND_RUN


@dataclass(frozen=True)
class StudyFigure:
    """A requested table or chart of a study as stored.

    Attributes:
        kind: Name of the analysis that makes it.
        options: Options of that analysis.
    """

    name: str
    parts: tuple[str, ...]
    kind: str
    title: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StudyRun:
    """A run of a study that was started, as stored.

    A round has several runs of a variant if earlier ones failed.

    Attributes:
        round: Number of the round, from 1. Runs of the same round are compared.
        path: Path of its record; None if the run ended before a record was created.
        status: Status of the run, as in run.json.
        reason: Reason why the run is not complete.
        seconds: Seconds from its request to its end; None if it did not end.
    """

    part: str
    variant: str
    levels: Mapping[str, str]
    round: int
    path: Path | None
    status: str
    reason: str | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class StudyRecord:
    """A study as its file on disk describes it.

    Attributes:
        runs: All runs that were started, in order.
        published: Figures of a published article; None if the study has no article.
        without: Parts of the study's file that were left out, with the reason for each.
    """

    directory: Path
    title: str | None
    question: str
    status: str
    reason: str | None
    about: Mapping[str, Any]
    parts: tuple[StudyPart, ...]
    figures: tuple[StudyFigure, ...]
    runs: tuple[StudyRun, ...]
    published: Path | None
    without: Mapping[str, str] = field(default_factory=dict)

    @property
    def complete(self) -> list[StudyRun]:
        """Return the successful runs, one for each part, variant and round."""
        return [run for run in self.runs if run.status == STATUS_COMPLETE]

    def part(self, name: str) -> StudyPart:
        """Return the study section with a given name."""
        return next(part for part in self.parts if part.name == name)

    def missing(self) -> list[StudyRun]:
        """Return the requested runs that have not succeeded, with the reason if it is known.

        For a run that was tried, the result is its last attempt. A run that was never started has
        status `left out`.
        """
        done = {(run.part, run.variant, run.round) for run in self.complete}
        tried = {(run.part, run.variant, run.round): run for run in self.runs}
        left = "the study ended before" if self.reason is None else self.reason
        return [
            tried.get(key)
            or StudyRun(part.name, variant.name, variant.levels, number, None, "left out", left)
            for part in self.parts
            for number in range(1, part.repetitions + 1)
            for variant in part.variants
            if (key := (part.name, variant.name, number)) not in done
        ]

    def failed(self) -> list[StudyRun]:
        """Return the study's runs whose last attempt failed."""
        return [run for run in self.missing() if run.status == STATUS_FAILED]


def write_study(directory: Path, document: Mapping[str, Any]) -> None:
    """Replace a study's file as a whole, with its question as the first line.

    Raises:
        UsageError: If the file of a new study cannot be written; no empty directory of it is left.
        RunFailedError: If a later version of the file cannot be written.
    """
    file = directory / STUDY_FILE
    text = toml_text(document, comment=str(document.get("question", "")))
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with whole_file(file) as partial, partial.open("w", encoding="utf-8") as writing:
            writing.write(text)
            writing.flush()
            os.fsync(writing.fileno())
    except OSError as error:
        if not is_file(file):
            with suppress(OSError):
                directory.rmdir()
            raise UsageError(
                f"cannot write {file}: {error.strerror}. No run was started; free some space, or "
                "name another directory with --runs DIR."
            ) from error
        raise RunFailedError(
            f"cannot write {file}: {error.strerror}. The completed runs are stored; free some "
            "space, or name another directory with --runs DIR."
        ) from error


def read_study_file(file: Path) -> dict[str, Any]:
    """Return the content of a study's file.

    `RecordUnreadableError` says how to repair the file.
    """
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise RecordUnreadableError(f"{file} is missing: the directory is not a study.") from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RecordUnreadableError(f"{file} cannot be read: {error}") from error


def read_study(directory: Path) -> StudyRecord:
    """Return the stored study in a directory.

    The study's runs are in the parent of the directory of studies.

    Raises:
        RecordUnreadableError: If the file is missing, cannot be read, or was written by an
            incompatible version of Assay.
    """
    document = read_study_file(directory / STUDY_FILE)
    if document.get("schema") != SCHEMA:
        raise RecordUnreadableError(
            f"{directory / STUDY_FILE} has schema version {document.get('schema')}, and this "
            f"Assay reads {SCHEMA}. Its runs can still be read with `assay show`."
        )
    try:
        return _record(directory, document)
    except (KeyError, TypeError) as error:
        raise RecordUnreadableError(
            f"{directory / STUDY_FILE} is an incomplete study: {error}"
        ) from error


def _record(directory: Path, document: Mapping[str, Any]) -> StudyRecord:
    parts = tuple(_part(part) for part in document["parts"])
    levels = {
        (part.name, variant.name): variant.levels for part in parts for variant in part.variants
    }
    runs_dir = directory.absolute().parent.parent
    published = directory / PUBLISHED_FILE
    return StudyRecord(
        directory,
        document.get("title"),
        document["question"],
        document["status"],
        document.get("reason"),
        document.get("about", {}),
        parts,
        tuple(
            StudyFigure(
                **{
                    **figure,
                    "parts": tuple(figure["parts"]),
                    "kind": RENAMED_KINDS.get(figure["kind"], figure["kind"]),
                }
            )
            for figure in document.get("figures", ())
        ),
        tuple(
            StudyRun(
                run["part"],
                run["variant"],
                levels[run["part"], run["variant"]],
                run["round"],
                runs_dir / run["id"] if "id" in run else None,
                run["status"],
                run.get("reason"),
                run.get("seconds"),
            )
            for run in document.get("runs", ())
        ),
        published if published.is_file() else None,
        document.get("without", {}),
    )


def _part(part: Mapping[str, Any]) -> StudyPart:
    variants = tuple(
        StudyVariant(variant["name"], variant["levels"], variant["request"])
        for variant in part["variants"]
    )
    expects = tuple((part.get("expects") or {}).get("plan", ()))
    return StudyPart(
        part["name"],
        part.get("about"),
        part["repetitions"],
        variants,
        expects,
        part.get("kind", KIND_RUN),
    )


def list_studies(runs: Path) -> list[Path]:
    """Return the directories of the studies in a directory of runs, oldest first.

    Raises:
        RecordDeniedError: If this user may not read the directory of studies.
    """
    studies = runs / STUDIES_DIR
    with denial_reported(studies):
        return sorted(file.parent for file in studies.glob(f"*/{STUDY_FILE}"))


def find_study(which: str, runs: Path) -> Path:
    """Return a study's directory by `latest`, a path, an id's beginning or its last six digits.

    Raises:
        RecordUnreadableError: If no study has this name, several match it, this user may not read
            its directory, or its path is not UTF-8.
    """
    directory = _named_study(which, runs)
    refuse_other_encoding(directory)
    return directory


def _named_study(which: str, runs: Path) -> Path:
    named = Path(which)
    if is_file(named / STUDY_FILE):
        return named.absolute()
    if named.name == STUDY_FILE and is_file(named):
        return named.parent.absolute()
    studies = list_studies(runs)
    if which == "latest" and studies:
        return studies[-1].absolute()
    ids = [path.name for path in studies]
    meant = [path for path in studies if which in {path.name, path.name.rsplit("-", 1)[-1]}]
    meant = meant or [path for path in studies if path.name.startswith(which)]
    if len(meant) == 1:
        return meant[0].absolute()
    if meant:
        raise RecordUnreadableError(f"{len(meant)} studies begin with {which!r}: give a longer id.")
    hint = suggestion(which, ids) if ids else "there are none yet."
    raise RecordUnreadableError(f"no study {which!r} in {runs / STUDIES_DIR}; {hint}")


def find_run_or_study(which: str, runs: Path) -> tuple[Path, bool]:
    """Return the directory of a run or of a study, and whether it is a study.

    Raises:
        RecordUnreadableError: If neither a run nor a study has this name.
    """
    try:
        return find_run(which, runs), False
    except RecordUnreadableError as error:
        try:
            return find_study(which, runs), True
        except RecordPathError:
            raise
        except RecordUnreadableError:
            raise error from None
