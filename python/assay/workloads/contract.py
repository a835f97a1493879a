"""What a workload is to the rest of the house: `workload.toml` and the files beside it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from glob import escape
from typing import TYPE_CHECKING, Any, Literal

from assay._core import render_operation
from assay.model.errors import UsageError
from assay.model.script import Script, ScriptOperation, ScriptStatement
from assay.workloads import rules, scripts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from assay.model.script import Draw
    from assay.workloads.facts import WorkloadFacts

MANIFEST = "workload.toml"
ANSWERS = "answers"
OPERATIONS = "operations"
SCHEMA = "schema"
SETUP_DEFAULT = "schema/tables.sql"
KEYS = ("schema/keys.sql", "schema/indexes.sql")
Parameters = Literal["default", "drawn"]


@dataclass(frozen=True)
class Statement:
    """An operation as its file tells it, for the record and for people.

    Attributes:
        operation: Its name.
        text: The file's text with values in it; `${name}` stays where it is drawn each time.
        file: Name of the file.
        parameters: Values that are in the text, by name.
    """

    operation: str
    text: str
    file: str
    parameters: dict[str, list[str]]


@dataclass(frozen=True)
class Workload:
    """One workload folder. Its facts are complete: what the manifest leaves out is filled in."""

    facts: WorkloadFacts
    folder: Path

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 over what defines the measurement: manifest, schema, setup and operations."""
        manifest = [MANIFEST] if (self.folder / MANIFEST).is_file() else []
        names = [*manifest, *self._relative(SCHEMA)]
        if self.operations_folder == self.folder:
            names += sorted(path.name for path in operation_files(self.folder))
        else:
            names += self._relative(OPERATIONS)
        names += [name for told in self._setup_names() for name in self._versions(told)]
        digest = hashlib.sha256()
        for name in dict.fromkeys(names):
            digest.update(name.encode() + b"\0" + read_bytes(self.folder / name) + b"\0")
        return digest.hexdigest()

    @property
    def operations_folder(self) -> Path:
        """`operations/`, or the folder itself where there is none."""
        folder = self.folder / OPERATIONS
        return folder if folder.is_dir() else self.folder

    @property
    def makes_data(self) -> bool:
        """Whether there is anything to be made before operations can run."""
        return bool(self.facts.tables or self._setup_names())

    @property
    def weights(self) -> dict[str, int]:
        """The mix: each operation of the order with its weight."""
        return {name: self.facts.operations[name].weight for name in self.facts.order}

    @property
    def drawn_operations(self) -> tuple[str, ...]:
        """Operations whose values are drawn at each execution: they have no one answer."""
        if self.facts.arrival == "power":
            return ()
        operations = self.facts.operations
        return tuple(
            name for name in dict.fromkeys(self.facts.order) if operations[name].parameters
        )

    def recorded(self) -> dict[str, Any]:
        """What stands in `run.json` about the workload, as JSON values."""
        facts, operations = self.facts, self.facts.operations.items()
        return {
            "name": facts.name,
            "title": facts.title,
            "legal": facts.legal,
            "scale_name": facts.scale_name,
            "content_sha256": self.content_hash,
            "arrival": facts.arrival,
            "after": list(facts.after),
            "tolerance": facts.tolerance.model_dump(),
            "answer_columns": {name: op.answer for name, op in operations},
            "operation_titles": {name: op.title for name, op in operations},
            "drawn_operations": list(self.drawn_operations),
            "rows_expected": {name: op.rows for name, op in operations if op.rows is not None},
        }

    def setup(self, dialects: Sequence[str], scale: float) -> dict[str, str]:
        """Scripts that make the data before the generator's rows come: text by file, in order.

        Raises:
            UsageError: If a file is missing, cannot be read, or names no constant.
        """
        return self._rendered(self._setup_names(), dialects, scale)

    def keys(self, dialects: Sequence[str], scale: float) -> dict[str, str]:
        """Scripts of keys and indexes, made after the data: text by file, in order.

        Those that `setup` names are not among them.
        """
        there = [name for name in KEYS if (self.folder / name).is_file()]
        asked = [name for name in there if name not in self._setup_names()]
        return self._rendered(asked, dialects, scale)

    def statement(
        self,
        operation: str,
        dialects: Sequence[str],
        scale: float,
        seed: int | None = None,
        stream: int = 0,
    ) -> Statement:
        """An operation's text with its parameters; default ones where there is no seed.

        Raises:
            UsageError: If the file is missing or a rule cannot be carried out.
        """
        path = self._operation_file(operation, dialects)
        facts = self.facts.operations[operation]
        constants = rules.constants_at(self.facts.constants, scale)
        drawn_later = operation in self.drawn_operations
        try:
            told = {
                name: {"default": f"${{{name}}}"}
                if drawn_later
                else rules.rule_at(name, rule, constants, scale)
                for name, rule in facts.parameters.items()
            }
            seed = None if drawn_later else seed
            text, values = self._render(path, operation, told, constants, scale, seed, stream)
        except ValueError as error:
            raise UsageError(f"{path}: {error}") from error
        given = {name: values[name] for name in facts.parameters if not drawn_later}
        return Statement(operation, text, path.name, given)

    def script(
        self, dialects: Sequence[str], scale: float, seed: int, parameters: Parameters = "default"
    ) -> Script:
        """What sessions execute: the operations of the order, then those of `after`.

        Where the arrival is `closed`, values are drawn at each execution, whatever `parameters`
        says; else they are in the texts, and `parameters` says whether they are drawn.

        Raises:
            UsageError: If a file is missing or has no statement, or a rule cannot be carried out.
        """
        drawn_seed = seed if parameters == "drawn" else None
        names = dict.fromkeys((*self.facts.order, *self.facts.after))
        return Script(tuple(self._scripted(name, dialects, scale, drawn_seed) for name in names))

    def answers(self, scale: float) -> Path | None:
        """The folder with expected rows for default parameters at a scale, if there is one.

        Rows that stand in `answers/` itself are right at every scale.
        """
        folder = self.folder / ANSWERS
        scaled = folder / f"sf{scale:g}"
        if scaled.is_dir():
            return scaled
        return folder if any(folder.glob("*.csv")) else None

    def _scripted(
        self, operation: str, dialects: Sequence[str], scale: float, seed: int | None
    ) -> ScriptOperation:
        text = self.statement(operation, dialects, scale, seed).text
        path = self._operation_file(operation, dialects)
        try:
            if operation in self.drawn_operations:
                draws = self._draws(operation, scale)
                return scripts.operation(operation, text, draws, dialects)
            found = scripts.statements(text, dialects)
        except ValueError as error:
            raise UsageError(f"{path}: {error}") from error
        return ScriptOperation(operation, tuple(ScriptStatement(one) for one in found))

    def _draws(self, operation: str, scale: float) -> list[Draw]:
        constants = rules.constants_at(self.facts.constants, scale)
        return [
            rules.draw_at(name, rule, self.facts.lists, constants, scale)
            for name, rule in self.facts.operations[operation].parameters.items()
        ]

    def _render(
        self,
        path: Path,
        operation: str,
        told: Mapping[str, Mapping[str, Any]],
        constants: Mapping[str, str],
        scale: float,
        seed: int | None,
        stream: int,
    ) -> tuple[str, dict[str, list[str]]]:
        """The text of a file with its values and constants, and the values."""
        fixed = {name: {"default": text, "choice": [text]} for name, text in constants.items()}
        text, values = render_operation(
            read_text(path),
            operation,
            json.dumps(fixed | dict(told), default=str),
            json.dumps(self.facts.lists, default=str),
            scale,
            seed,
            stream,
        )
        return text, json.loads(values)

    def _rendered(
        self, names: Sequence[str], dialects: Sequence[str], scale: float
    ) -> dict[str, str]:
        constants = rules.constants_at(self.facts.constants, scale)
        texts = {}
        for name in names:
            path = self._version(self.folder / name, dialects)
            if path is None:
                raise UsageError(f"{self.folder / name} is missing: setup names it")
            try:
                texts[name], _ = self._render(path, path.stem, {}, constants, scale, None, 0)
            except ValueError as error:
                raise UsageError(f"{path}: {error}") from error
        return texts

    def _setup_names(self) -> tuple[str, ...]:
        if self.facts.setup is not None:
            return self.facts.setup
        return (SETUP_DEFAULT,) if (self.folder / SETUP_DEFAULT).is_file() else ()

    def _operation_file(self, operation: str, dialects: Sequence[str]) -> Path:
        plain = self.operations_folder / f"{operation}.sql"
        path = self._version(plain, dialects)
        if path is None:
            others = ", ".join(self._versions(plain.relative_to(self.folder).as_posix()))
            spoken = f" or {operation}.{dialects[0]}.sql" if dialects else ""
            hint = f"; what is there is for other dialects: {others}" if others else ""
            raise UsageError(f"{plain}{spoken} is missing{hint}")
        return path

    @staticmethod
    def _version(plain: Path, dialects: Sequence[str]) -> Path | None:
        """The file for the first of the dialects that has one, else the plain one."""
        candidates = [plain.with_suffix(f".{dialect}.sql") for dialect in dialects]
        return next((path for path in [*candidates, plain] if path.is_file()), None)

    def _versions(self, name: str) -> list[str]:
        """A file and what stands beside it for other dialects, relative to the folder."""
        plain = self.folder / name
        others = plain.parent.glob(f"{escape(plain.stem)}.*.sql")
        found = sorted([*others, *([plain] if plain.is_file() else [])])
        return [path.relative_to(self.folder).as_posix() for path in found]

    def _relative(self, part: str) -> list[str]:
        files = sorted((self.folder / part).rglob("*"))
        return [str(path.relative_to(self.folder)) for path in files if path.is_file()]


def operation_files(folder: Path) -> list[Path]:
    """The SQL files that stand in a folder itself."""
    found = sorted(path for path in folder.glob("*.sql") if path.is_file())
    return [path for path in found if not path.name.startswith(".")]


def read_text(path: Path) -> str:
    """The text of a file of a workload. Raises `UsageError` with the file and why."""
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: {error}") from error


def read_bytes(path: Path) -> bytes:
    """The bytes of a file of a workload. Raises `UsageError` with the file and why."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
