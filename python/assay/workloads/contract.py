"""What a workload is to the rest of the house: `workload.toml` and the files beside it."""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from assay._core import render_operation
from assay.model.errors import UsageError, suggestion

MANIFEST = "workload.toml"
ColumnKind = Literal["exact", "sum", "average", "ratio"]


class Tolerance(BaseModel):
    """How far a number may be from its answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sum_absolute: float = 0.0
    ratio_relative: float = 0.0


class OperationFacts(BaseModel):
    """One named operation: a title, rules for its parameters, kinds of its answer's columns."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = ""
    parameters: dict[str, dict[str, Any]] = {}
    answer: dict[str, ColumnKind] = {}


class WorkloadFacts(BaseModel):
    """`workload.toml`. Unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    title: str
    about: str
    legal: str | None = None
    generator: str | None = None
    scale_default: float = 1.0
    scale_name: str = "scale"
    tables: tuple[str, ...] = ()
    arrival: Literal["power"]
    order: tuple[str, ...]
    tolerance: Tolerance = Tolerance()
    lists: dict[str, Any] = {}
    operations: dict[str, OperationFacts]


@dataclass(frozen=True)
class Statement:
    """An operation ready to be sent: its text, where it came from, its parameters' values."""

    operation: str
    text: str
    file: str
    parameters: dict[str, list[str]]


@dataclass(frozen=True)
class Workload:
    """One workload folder."""

    facts: WorkloadFacts
    folder: Path

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 over what defines the measurement: manifest, schema and operations."""
        digest = hashlib.sha256()
        names = [MANIFEST, *self._relative("schema"), *self._relative("operations")]
        for name in names:
            digest.update(name.encode() + b"\0" + (self.folder / name).read_bytes() + b"\0")
        return digest.hexdigest()

    def schema(self) -> str:
        """DDL of the tables, without keys and indexes."""
        return (self.folder / "schema" / "tables.sql").read_text(encoding="utf-8")

    def statement(
        self, operation: str, dialects: tuple[str, ...], scale: float, seed: int | None, stream: int
    ) -> Statement:
        """An operation's text with its parameters; default ones where there is no seed.

        Raises:
            UsageError: If the file is missing or a rule cannot be carried out.
        """
        path = self._operation_file(operation, dialects)
        facts = self.facts.operations[operation]
        try:
            text, values = render_operation(
                path.read_text(encoding="utf-8"),
                operation,
                json.dumps(facts.parameters),
                json.dumps(self.facts.lists),
                scale,
                seed,
                stream,
            )
        except ValueError as error:
            raise UsageError(f"{path}: {error}") from error
        return Statement(operation, text, path.name, json.loads(values))

    def answers(self, scale: float) -> Path | None:
        """The folder with reference rows for default parameters at a scale, if there is one."""
        folder = self.folder / "answers" / f"sf{scale:g}"
        return folder if folder.is_dir() else None

    def _operation_file(self, operation: str, dialects: tuple[str, ...]) -> Path:
        folder = self.folder / "operations"
        candidates = [folder / f"{operation}.{dialect}.sql" for dialect in dialects]
        for path in [*candidates, folder / f"{operation}.sql"]:
            if path.is_file():
                return path
        raise UsageError(f"{folder / operation}.sql is missing: workload.toml names {operation!r}")

    def _relative(self, part: str) -> list[str]:
        files = sorted((self.folder / part).rglob("*"))
        return [str(path.relative_to(self.folder)) for path in files if path.is_file()]


def read_workload(folder: Path) -> Workload:
    """The workload in a folder. Raises `UsageError` with file, key and mend."""
    manifest = folder / MANIFEST
    try:
        facts = WorkloadFacts.model_validate(tomllib.loads(manifest.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{manifest} cannot be read: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        hint = ""
        if first["type"] == "extra_forbidden":
            hint = f"; {suggestion(str(first['loc'][-1]), _known_keys(first['loc'][0]))}"
        raise UsageError(f"{manifest}: {key}: {first['msg']}{hint}") from error
    for operation in facts.order:
        if operation not in facts.operations:
            hint = suggestion(operation, list(facts.operations))
            raise UsageError(f"{manifest}: order names {operation!r}, which has no table; {hint}")
    return Workload(facts, folder)


def _known_keys(table: str | int) -> list[str]:
    """The keys that a top-level table of the manifest may have."""
    nested: dict[str, type[BaseModel]] = {"operations": OperationFacts, "tolerance": Tolerance}
    return list(nested.get(str(table), WorkloadFacts).model_fields)


def find_workloads() -> dict[str, Workload]:
    """All workloads by name: folders beside this file and in the folders of ASSAY_WORKLOADS."""
    roots = [Path(__file__).parent]
    roots += [Path(text) for text in os.environ.get("ASSAY_WORKLOADS", "").split(":") if text]
    folders = [path.parent for root in roots for path in sorted(root.glob(f"*/{MANIFEST}"))]
    found: dict[str, Workload] = {}
    for folder in folders:
        workload = read_workload(folder)
        found.setdefault(workload.facts.name, workload)
    return found


def find_workload(name: str) -> Workload:
    """The workload of this name. Raises `UsageError` with the nearest one."""
    workloads = find_workloads()
    if name not in workloads:
        raise UsageError(f"unknown workload {name!r}; {suggestion(name, list(workloads))}")
    return workloads[name]
