"""Finds engines: in this package, in entry points of others, and in ASSAY_ENGINES.

`ASSAY_ENGINES` is a list of directories, separated by colons; each contains engine folders.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import os
import sys
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from assay.engines.advice import AdviceFacts, read_advice, running_files
from assay.engines.contract import Engine, EngineError
from assay.engines.facts import EngineFacts
from assay.engines.knobs import KnobsFacts, read_knobs
from assay.engines.techniques import TechniquesFacts, read_techniques
from assay.model.errors import UsageError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

log = logging.getLogger(__name__)

MANIFEST = "engine.toml"
ADVICE = "advice.toml"
COUNTERS = "counters.toml"
KNOBS = "knobs.toml"
OPERATIONS = "operations.toml"
TECHNIQUES = "techniques.toml"
WAITS = "waits.toml"
ENTRY_POINTS = "assay.engines"


@dataclass(frozen=True)
class EngineFolder:
    """The folder of one engine, with readers for its TOML files."""

    facts: EngineFacts
    folder: Path

    def counters(self) -> dict[str, Any] | None:
        """Return the engine's declaration of counters to show; None without counters.

        Raises:
            EngineError: If `counters.toml` cannot be read.
        """
        return self._facts_of(COUNTERS)

    def operations(self) -> dict[str, Any] | None:
        """Return the rules that classify the engine's functions; None without rules.

        Raises:
            EngineError: If `operations.toml` cannot be read.
            UsageError: If a rule is refused, or if the engine whose rules it shares does not exist.
                The error message names the rule and the reason.
        """
        if self.facts.operations_of is not None:
            return find_engine(self.facts.operations_of).operations()
        document = self._facts_of(OPERATIONS)
        if document is not None:
            _check_operations(self._text_of(OPERATIONS) or "", str(self.folder / OPERATIONS))
        return document

    def advice(self) -> dict[str, Any] | None:
        """Return how the engine makes advised changes; None if it declares nothing.

        Raises:
            EngineError: If `advice.toml` cannot be read or has an unknown key or value.
        """
        document = self._facts_of(ADVICE)
        if document is None:
            return None
        techniques = self.techniques().techniques.values()
        switched = sorted({name for facts in techniques for name in facts.operators})
        document = {**document, "operators": switched}
        running = self.advising().running
        texts = {
            name: (self.folder / name).read_text(encoding="utf-8")
            for facts in running.values()
            for name in running_files(facts)
        }
        return document | ({"sql": texts} if texts else {})

    def advising(self) -> AdviceFacts:
        """Return how the engine makes advised changes, as a validated object.

        Raises the errors of `advice`.
        """
        return read_advice(self._facts_of(ADVICE) or {}, self.folder / ADVICE)

    def knobs(self) -> KnobsFacts:
        """Return the engine's declared settings for experiments (knobs); empty if undeclared.

        Raises:
            EngineError: If `knobs.toml` cannot be read or has an unknown key or value.
        """
        return read_knobs(self._facts_of(KNOBS) or {}, self.folder / KNOBS)

    def techniques(self) -> TechniquesFacts:
        """Return the planner techniques that the engine can switch off; empty if undeclared.

        Raises:
            EngineError: If `techniques.toml` cannot be read or has an unknown key or value.
        """
        return read_techniques(self._facts_of(TECHNIQUES) or {}, self.folder / TECHNIQUES)

    def waits(self) -> dict[str, Any] | None:
        """Return the rules that classify the engine's waits; None without rules.

        Raises:
            EngineError: If `waits.toml` cannot be read.
            UsageError: If a rule is refused. The error message names the rule and the reason.
        """
        from assay.analysis.waits.rules import waits_of

        document = self._facts_of(WAITS)
        if document is not None:
            waits_of(document, str(self.folder / WAITS))
        return document

    def _facts_of(self, name: str) -> dict[str, Any] | None:
        text = self._text_of(name)
        try:
            return None if text is None else _document_in(text)
        except tomllib.TOMLDecodeError as error:
            raise EngineError(f"{self.folder / name} cannot be read: {error}") from error

    def _text_of(self, name: str) -> str | None:
        path = self.folder / name
        try:
            return path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise EngineError(f"{path} cannot be read: {error}") from error

    def engine(self) -> Engine:
        """Return the engine's behaviour object, importing the product's own libraries."""
        made: Engine = _module(self.folder).engine(self.facts)
        return made


def _module(folder: Path) -> ModuleType:
    if folder.parent == Path(__file__).parent:
        return importlib.import_module(f"assay.engines.{folder.name}.engine")
    name, file = f"assay_engine_{folder.name}", folder / "engine.py"
    if not file.is_file():
        raise EngineError(f"the file {file} is missing: every engine needs one.")
    # Import the engine as a package, so that `from .plans import ...` finds its other modules.
    places = [str(folder)]
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=places)
    if spec is None or spec.loader is None:
        raise EngineError(f"the file {file} cannot be imported: every engine needs one.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _roots() -> Iterator[Path]:
    """Yield folders of engines in order of precedence."""
    from importlib.metadata import entry_points

    yield Path(__file__).parent
    yield from (Path(text) for text in os.environ.get("ASSAY_ENGINES", "").split(":") if text)
    for entry in entry_points(group=ENTRY_POINTS):
        try:
            spec = importlib.util.find_spec(entry.value)
        except ModuleNotFoundError:
            log.warning(
                ("the entry point %s names %s, which does not exist"), entry.name, entry.value
            )
            continue
        if spec is not None and spec.submodule_search_locations:
            yield from (Path(location) for location in spec.submodule_search_locations)


@lru_cache
def _document_in(text: str) -> dict[str, Any]:
    """Return a parsed TOML file of an engine, cached by its text."""
    return tomllib.loads(text)


@lru_cache
def _check_operations(text: str, source: str) -> None:
    from assay.analysis.work.rules import rules_of

    rules_of(_document_in(text), source)


@lru_cache
def _facts_in(text: str) -> EngineFacts:
    """Return the validated facts of an `engine.toml`, cached by its text."""
    return EngineFacts.model_validate(tomllib.loads(text))


def read_facts(manifest: Path) -> EngineFacts:
    """Return the facts of one engine from its `engine.toml`.

    The `EngineError` has file, key and remedy.
    """
    try:
        return _facts_in(manifest.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise EngineError(f"{manifest} cannot be read: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        unknown = first["type"] == "extra_forbidden"
        hint = f"; {suggestion(key, list(EngineFacts.model_fields))}" if unknown else ""
        raise EngineError(f"{manifest}: {key}: {first['msg']}{hint}") from error


def find_engines() -> dict[str, EngineFolder]:
    """Return all engines that Assay finds, by name.

    If two engines have the same name, the first one is used.
    """
    engines: dict[str, EngineFolder] = {}
    for root in _roots():
        for manifest in sorted(root.glob(f"*/{MANIFEST}")):
            facts = read_facts(manifest)
            engines.setdefault(facts.name, EngineFolder(facts, manifest.parent))
    return engines


def find_engine(name: str) -> EngineFolder:
    """Return the engine with a given name.

    Raises:
        UsageError: If no engine has this name. The error message names the most similar one.
    """
    # Most engines have their folder's name, so that entry points of packages need not be read.
    for folder in (root / name.replace("-", "_") for root in _roots()):
        manifest = folder / MANIFEST
        if manifest.is_file() and (facts := read_facts(manifest)).name == name:
            return EngineFolder(facts, folder)
    engines = find_engines()
    if name not in engines:
        raise UsageError(f"unknown engine {name!r}; {suggestion(name, list(engines))}")
    return engines[name]
