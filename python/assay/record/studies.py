"""Files of studies, `<runs>/studies/<id>/study.toml`: what was asked and what became of it."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.model.errors import RecordUnreadableError, RunFailedError, suggestion
from assay.record.layout import KIND_RUN, STATUS_COMPLETE, STATUS_FAILED
from assay.record.reader import find_run
from assay.record.toml_text import toml_text

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = 2
STUDIES_DIR = "studies"
STUDY_FILE = "study.toml"
PUBLISHED_FILE = "published.toml"
# Of a study alone: it ended in good order, and some of its runs were left out.
STATUS_PARTIAL = "partial"
# Kinds of figures by the names that older records have of them.
RENAMED_KINDS = {"versus": "compare", "plan_regret": "plans"}


@dataclass(frozen=True)
class StudyVariant:
    """One variant of a study's part: runs with the same options.

    Attributes:
        levels: Name of the level by name of the factor; empty where the part has no factors.
        request: As in run.json; what has its default is not in it.
    """

    name: str
    levels: Mapping[str, str]
    request: Mapping[str, Any]


@dataclass(frozen=True)
class StudyPart:
    """A block of a study: variants that are run in turns, each `repetitions` times.

    Attributes:
        expects: Operators of the plan that its runs have to have; empty: any plan will do.
        kind: What its runs are: of a workload on an engine, or of what the host can do.
    """

    name: str
    about: str | None
    repetitions: int
    variants: tuple[StudyVariant, ...]
    expects: tuple[str, ...] = ()
    kind: str = KIND_RUN


@dataclass(frozen=True)
class StudyFigure:
    """A figure or table that was asked for, of the runs of some parts.

    Attributes:
        kind: Which analysis makes it.
        options: As the kind understands them.
    """

    name: str
    parts: tuple[str, ...]
    kind: str
    title: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StudyRun:
    """A run of a study that was begun; several may be of one round, where earlier ones failed.

    Attributes:
        round: From 1; runs of the same round stood side by side.
        path: Of its record; None: it ended before there was one.
        status: As in run.json.
        reason: Why it is not complete.
        seconds: From its request to its end; None: it did not end.
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
    """A study as it stands on disk.

    Attributes:
        runs: All that were begun, in their order.
        published: Figures that others published; None: there are none.
        without: Parts of the study's file that are no part of it, with the reason of each.
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
        """The runs that ended well, one a part, variant and round."""
        return [run for run in self.runs if run.status == STATUS_COMPLETE]

    def part(self, name: str) -> StudyPart:
        """The part of this name."""
        return next(part for part in self.parts if part.name == name)

    def missing(self) -> list[StudyRun]:
        """Return the requested runs without one that ended well, with the reason if known.

        Of what was tried it is the last attempt. What was not begun has status `left out`.
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
        """Return the missing runs that were tried and failed."""
        return [run for run in self.missing() if run.status == STATUS_FAILED]


def write_study(directory: Path, document: Mapping[str, Any]) -> None:
    """Replaces a study's file as a whole; its question is also its first line.

    Raises:
        RunFailedError: If the disk does not take it.
    """
    file = directory / STUDY_FILE
    partial = file.with_name(f"{STUDY_FILE}.partial")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with partial.open("w", encoding="utf-8") as writing:
            writing.write(toml_text(document, comment=str(document.get("question", ""))))
            writing.flush()
            os.fsync(writing.fileno())
        partial.rename(file)
    except OSError as error:
        raise RunFailedError(
            f"cannot write {file}: {error.strerror}. The runs so far are kept; free some space, or"
            " name another place with --runs DIR."
        ) from error


def read_study_file(file: Path) -> dict[str, Any]:
    """A study's file as it stands. Raises `RecordUnreadableError` with the mend."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise RecordUnreadableError(f"{file} is missing: this is no study.") from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RecordUnreadableError(f"{file} cannot be read: {error}") from error


def read_study(directory: Path) -> StudyRecord:
    """A study, whose runs are beside the directory that its own is in.

    Raises:
        RecordUnreadableError: If there is none, it cannot be read, or another Assay wrote it.
    """
    document = read_study_file(directory / STUDY_FILE)
    if document.get("schema") != SCHEMA:
        raise RecordUnreadableError(
            f"{directory / STUDY_FILE} has schema {document.get('schema')}, and this Assay reads"
            f" {SCHEMA}: its runs are ordinary ones and can be read (assay show)."
        )
    try:
        return _record(directory, document)
    except (KeyError, TypeError) as error:
        raise RecordUnreadableError(
            f"{directory / STUDY_FILE} is no whole study: {error}"
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
    """Directories of the studies beside these runs, oldest first."""
    return sorted(file.parent for file in (runs / STUDIES_DIR).glob(f"*/{STUDY_FILE}"))


def find_study(which: str, runs: Path) -> Path:
    """The directory of a study named by `latest`, a path, or an id's beginning or six last digits.

    Raises:
        RecordUnreadableError: If there is none, or several.
    """
    named = Path(which)
    if (named / STUDY_FILE).is_file():
        return named.absolute()
    if named.name == STUDY_FILE and named.is_file():
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
        raise RecordUnreadableError(f"{which!r} begins {len(meant)} studies: give more of the id.")
    hint = suggestion(which, ids) if ids else "there are none yet."
    raise RecordUnreadableError(f"no study {which!r} in {runs / STUDIES_DIR}; {hint}")


def find_run_or_study(which: str, runs: Path) -> tuple[Path, bool]:
    """Return the directory of a run, or else of a study, and whether it is a study.

    Raises:
        RecordUnreadableError: If there is neither.
    """
    try:
        return find_run(which, runs), False
    except RecordUnreadableError as error:
        try:
            return find_study(which, runs), True
        except RecordUnreadableError:
            raise error from None
