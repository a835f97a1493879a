"""Reads files of a workload for a dialect, and fills values into their text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from glob import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from assay._core import render_operation
from assay.model.errors import UsageError
from assay.model.foreign_text import read_regular
from assay.model.language import SUFFIXES
from assay.workloads import rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from assay.workloads.facts import WorkloadFacts

MANIFEST = "workload.toml"
OPERATIONS = "operations"
NOTHING: Mapping[str, Any] = MappingProxyType({})
# For multiples of this seed, the generator of sequences returns only zeros.
SEED_MODULUS = 2**31 - 1


@dataclass(frozen=True)
class Statement:
    """Text of an operation from its file, for the record and for readers.

    Attributes:
        operation: Name of the operation.
        text: The file's text with values filled in; `${name}` stays for values drawn at each
            execution.
        file: Name of the file.
        parameters: Values in the text, by name.
        rewritten: The removed parts; None if the text is unchanged.
    """

    operation: str
    text: str
    file: str
    parameters: dict[str, list[str]]
    rewritten: dict[str, Any] | None = None


@dataclass(frozen=True)
class Drawn:
    """Parameter values of one seed and query stream."""

    seed: int
    stream: int


def read_text(path: Path) -> str:
    """Return the text of a workload's file.

    Raises `UsageError` with the file and the reason.
    """
    try:
        text = read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: {error}") from error
    if "\0" in text:
        raise UsageError(f"{path}: line {_line(text)} contains a NUL character")
    return text


def lacking_table(folder: Path, table: str, what: str) -> str:
    """Return the error message for a missing table of a workload's manifest."""
    manifest = folder / MANIFEST
    return f"{manifest}: there is no [{table}], which says {what}: write it, or run no test"


def _line(text: str) -> int:
    """Return the number of the line with the first NUL character."""
    return text.count("\n", 0, text.index("\0")) + 1


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a workload's file.

    Raises `UsageError` with the file and the reason.
    """
    try:
        return read_regular(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def recorded_files(facts: WorkloadFacts) -> list[str]:
    """Return the files of captured values and times that the manifest names."""
    values = [operation.values for operation in facts.operations.values()]
    schedule = facts.captured.schedule if facts.captured else None
    return [named for named in dict.fromkeys([schedule, *values]) if named is not None]


def data_scripts(facts: WorkloadFacts) -> tuple[str, ...]:
    """Return the SQL files that a manifest names for making tables and refresh sets."""
    refresh = facts.refresh
    return (*(facts.setup or ()), *((*refresh.setup, *refresh.keys) if refresh else ()))


def operations_folder(folder: Path) -> Path:
    """Return the subfolder `operations/` of a workload's folder; without one, the folder itself."""
    return folder / OPERATIONS if (folder / OPERATIONS).is_dir() else folder


def operation_files(folder: Path, facts: WorkloadFacts) -> list[Path]:
    """Return the operation files of a workload's folder, in any language.

    Files in the folder itself that make the data are no operations.
    """
    scripts = [*data_scripts(facts), *([facts.foreign_keys] if facts.foreign_keys else [])]
    made_by = {folder / name for script in scripts for name in versions(folder, script)}
    there = operations_folder(folder).iterdir()
    files = sorted(path for path in there if path.suffix in SUFFIXES.values())
    files = [path for path in files if path not in made_by and not path.name.startswith(".")]
    for path in files:
        if not path.is_file():
            raise UsageError(
                f"{str(path)!r} is not a file with a query: write one there, or remove it"
            )
        if not path.name.isprintable():
            raise UsageError(f"{str(path)!r}: the file name contains a control character")
        if "@" in path.name:
            raise UsageError(
                f"{path}: the file name contains @, which is reserved for variants of a query"
            )
    return files


def version(plain: Path, dialects: Sequence[str]) -> Path | None:
    """Return a file's variant for the first dialect that has one, else the plain file."""
    candidates = [plain.with_suffix(f".{dialect}{plain.suffix}") for dialect in dialects]
    return next((path for path in [*candidates, plain] if path.is_file()), None)


def versions(folder: Path, name: str) -> list[str]:
    """Return a file and its variants for other dialects, relative to the folder."""
    plain = folder / name
    others = plain.parent.glob(f"{escape(plain.stem)}.*{plain.suffix}")
    paths = sorted([*others, *([plain] if plain.is_file() else [])])
    return [path.relative_to(folder).as_posix() for path in paths]


def render(
    template: str,
    operation: str,
    facts: WorkloadFacts,
    scale: float,
    *,
    fixed: Mapping[str, str],
    parameter_rules: Mapping[str, Mapping[str, Any]] = NOTHING,
    drawn: Drawn | None = None,
) -> tuple[str, dict[str, list[str]]]:
    """Return an operation's SQL with its parameter values, and these values by name.

    `fixed` has texts that are constant for a run. `parameter_rules` has rules in drawing order;
    without drawing, their default values are used.

    Raises:
        ValueError: If a rule cannot be evaluated, or if the template has an unknown name.
        UsageError: If the seed gives a sequence of only zeros.
    """
    sequence = _sequence(operation, facts)
    if drawn and sequence is not None and (drawn.seed + drawn.stream) % SEED_MODULUS == 0:
        raise UsageError(
            f"--seed {drawn.seed} makes all random numbers of stream {drawn.stream} zero: use "
            "another seed"
        )
    constants = {name: {"default": text, "choice": [text]} for name, text in fixed.items()}
    text, values = render_operation(
        template,
        operation,
        json.dumps(constants | dict(parameter_rules), default=str),
        json.dumps(facts.lists, default=str),
        scale,
        drawn.seed if drawn else None,
        drawn.stream if drawn else 0,
        sequence,
    )
    return text, json.loads(values)


def _sequence(operation: str, facts: WorkloadFacts) -> int | None:
    """Return the number of the sequence that gives an operation's values; None without one."""
    sequences = facts.parameters.sequences
    return sequences.index(operation) + 1 if operation in sequences else None


def scripts_at(
    folder: Path,
    facts: WorkloadFacts,
    names: Sequence[str],
    dialects: Sequence[str],
    scale: float,
    further: Mapping[str, str] = NOTHING,
) -> dict[str, str]:
    """Return the text of SQL scripts with constants filled in, by file.

    Raises:
        UsageError: If a file is missing, cannot be read, or has an unknown name.
    """
    fixed = {**rules.constants_at(facts.constants, scale), **further}
    scripts = {}
    for name in names:
        path = version(folder / name, dialects)
        if path is None:
            raise UsageError(f"{folder / name} is missing: {MANIFEST} names it")
        try:
            scripts[name], _ = render(read_text(path), path.stem, facts, scale, fixed=fixed)
        except ValueError as error:
            raise UsageError(f"{path}: {error}") from error
    return scripts
