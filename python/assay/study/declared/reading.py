"""Finds and parses study files: Assay's by name, others by path."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from assay.model.errors import UsageError, suggestion
from assay.model.foreign_text import parse_toml, read_regular
from assay.record.layout import KIND_CEILING
from assay.record.studies import PUBLISHED_FILE, STUDY_FILE
from assay.study.declared.facts import TAGS, PartFacts, StudyFacts, budget_s, known_keys
from assay.study.declared.lines import line_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    # A position in a study, and a description of the problem.
    Problem = tuple[tuple[str | int, ...], str]

OURS = Path(__file__).parents[2] / "studies"
# Prefix of a comment that names the file's schema for editors and is not part of the question.
DIRECTIVE = "#:"
# Types of plain values of a level; a mismatch with each would be a separate error.
PLAIN = ("str", "bool", "int", "float")
OPTION = re.compile(r"--([a-z][a-z-]*[a-z])\b")


@dataclass(frozen=True)
class DeclaredStudy:
    """A study from a file or from the command line.

    Attributes:
        name: Name of its folder if the file is called `study.toml`, otherwise of the file.
        file: The study's file; None means the study comes from the command line.
        question: The comment at the head of the file.
    """

    name: str
    file: Path | None
    question: str
    facts: StudyFacts

    @property
    def folder(self) -> Path:
        """Return the folder to which the study's paths are relative."""
        return Path() if self.file is None else self.file.parent

    @property
    def published(self) -> Path | None:
        """Return the file of a published article's values beside a study; None without one."""
        if self.file is None:
            return None
        file = self.folder / PUBLISHED_FILE
        return file if file.is_file() else None

    def problem(self, text: str) -> str:
        """Return a problem's message, with the study file's path.

        For a study file the message begins with the file's path.
        """
        return text if self.file is None else f"{self.file}: {as_keys(text)}"


def study_files() -> dict[str, Path]:
    """Return the files of all studies that can be named, by name."""
    roots = [OURS, *map(Path, filter(None, os.environ.get("ASSAY_STUDIES", "").split(":")))]
    files: dict[str, Path] = {}
    for root in roots:
        for file in sorted(root.glob(f"*/{STUDY_FILE}")):
            files.setdefault(file.parent.name, file)
    return files


def find_declared(named: str) -> DeclaredStudy:
    """Return the study with a given name, file or folder.

    Raises:
        UsageError: If no study has this name, with the most similar name in the message. The error
            is also raised if the file has errors; the message lists them by line.
    """
    path = Path(named).expanduser()
    if "/" not in named and named in (files := study_files()):
        return read_declared(files[named])
    if path.is_dir() and (path / STUDY_FILE).is_file():
        return read_declared(path / STUDY_FILE)
    if path.is_file():
        return read_declared(path)
    if "/" in named or path.suffix == ".toml" or path.is_dir():
        where = path / STUDY_FILE if path.is_dir() else path
        raise UsageError(f"{where} does not exist: `assay studies new FOLDER` writes an example")
    files = study_files()
    raise UsageError(
        f"unknown study {named!r}; {suggestion(named, list(files))}"
        if files
        else f"unknown study {named!r}: name a file, or write one: assay studies new FOLDER"
    )


def read_declared(file: Path) -> DeclaredStudy:
    """Return the study that a TOML study file describes.

    Raises:
        UsageError: If the file has errors. The error message has file, line, key and remedy of
            each.
    """
    try:
        text = read_regular(file).decode("utf-8")
        document = parse_toml(text)
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error
    question = question_of(text)
    try:
        facts = StudyFacts.model_validate(document)
        budget_s(facts.budget)
        budget_s(facts.quick.budget if facts.quick else None)
    except ValidationError as error:
        raise UsageError(_problems_text(file, text, error)) from error
    except ValueError as error:
        raise UsageError(f"{file}: {error}") from error
    if not question:
        raise UsageError(
            f"{file}: the first line must be a comment with the question of the study: # Is ...?"
        )
    problems = contradictions(facts)
    if problems:
        raise UsageError(
            listed([_located(file, text, where, problem) for where, problem in problems])
        )
    name = file.absolute().parent.name if file.name == STUDY_FILE else file.stem
    return DeclaredStudy(name, file, question, facts)


def question_of(text: str) -> str:
    """Return the comment at the head of a study file: the question."""
    lines = []
    for line in text.splitlines():
        if line.startswith("#"):
            if not line.startswith(DIRECTIVE):
                lines.append(line.lstrip("#").strip())
        elif line.strip() or any(lines):
            break
    return "\n".join(lines).strip()


def listed(problems: Sequence[str]) -> str:
    """Return one problem unchanged, or several as a list of lines."""
    if len(problems) == 1:
        return problems[0]
    return "\n  ".join([f"{len(problems)} things are wrong:", *problems])


def _problems_text(file: Path, text: str, error: ValidationError) -> str:
    """Return the problems of a study file as one message, key by key."""
    lines = [_located(file, text, where, problem) for where, problem in wrong_keys(error)]
    return listed(list(dict.fromkeys(lines)))


def wrong_keys(error: ValidationError) -> list[Problem]:
    """Return each wrong key and its remedy, a misspelt key before a missing one."""
    errors = sorted(error.errors(), key=lambda wrong: wrong["type"] != "extra_forbidden")
    return [(_keys(wrong["loc"]), _problem_of(wrong)) for wrong in errors]


def _keys(location: Sequence[str | int]) -> tuple[str | int, ...]:
    """Return the path of a validation error without internal names."""
    return tuple(key for key in location if key not in (*TAGS, *PLAIN))


def _problem_of(error: Mapping[str, Any]) -> str:
    """Return the message about a wrong key of a study file, with the remedy."""
    location, kind = error["loc"], error["type"]
    if location[-1] in PLAIN:
        return "a level is text, a number, true or false, or a table with a name"
    if kind == "extra_forbidden":
        return _unknown(location)
    if location == ("part",):
        return "a study has at least one part: [part.NAME]"
    texts = {
        "missing": f"{location[-1]} is missing",
        "too_short": "it is empty: name at least one",
        "literal_error": "write false, or a table of what it changes",
        "string_type": f'write it as text: "{error["input"]}"',
        "value_error": str(error.get("ctx", {}).get("error")),
    }
    return texts.get(kind) or f"{str(error['msg'])[:1].lower()}{str(error['msg'])[1:]}"


def _unknown(location: Sequence[str | int]) -> str:
    """Return the message about a key that is not valid at its position."""
    key = str(location[-1])
    if len(location) == 1 and key in PartFacts.model_fields:
        return f"{key} stands in a part: [part.NAME]"
    return f"unknown key {key!r}; {suggestion(key, known_keys(location[:-1]))}"


def _located(file: Path, text: str, location: Sequence[str | int], problem: str) -> str:
    """Return a problem with its position in the file."""
    line = line_of(text, location)
    key = "".join(f"[{step + 1}]" if isinstance(step, int) else f".{step}" for step in location)
    where = f"{file}:{line}" if line is not None else str(file)
    return f"{where}: {key.lstrip('.')}: {problem}" if key else f"{where}: {problem}"


def contradictions(facts: StudyFacts) -> list[Problem]:
    """Return problems of a study file whose keys are all valid, such as contradictions."""
    from assay.study.declared.ceilings import ceiling_problems
    from assay.study.declared.figures import figure_problems
    from assay.study.declared.levels import factor_problems

    problems: list[Problem] = []
    for name, part in facts.part.items():
        if part.kind == KIND_CEILING:
            problems += [(("part", name, *where), text) for where, text in ceiling_problems(part)]
            continue
        problems += [(("part", name, *where), text) for where, text in factor_problems(part)]
    return problems + figure_problems(facts)


def as_keys(message: str) -> str:
    """Return an error message with `min_time` in place of `--min-time`, for study files."""
    return OPTION.sub(lambda option: option[1].replace("-", "_"), message)
