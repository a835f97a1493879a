"""`assay engines`: lists engines, shows one, installs one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.engines.contract import Wanted
from assay.engines.discovery import find_engine, find_engines
from assay.model.errors import UsageError
from assay.running.host.places import engines_dir
from assay.running.telling import telling
from assay.verbs.shared.watching import Logged

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engines.facts import EngineFacts
    from assay.running.telling import Teller

README = "README.md"


@dataclass(frozen=True)
class ShownEngine:
    """Facts of one engine, as `assay engines show` prints them.

    Attributes:
        document: The document that `assay engines show --json` prints: facts, techniques and knobs.
        readme: Description of how the engine is measured, in Markdown; empty if its folder has
            none.
    """

    document: dict[str, Any]
    readme: str


@dataclass(frozen=True)
class InstalledEngine:
    """An installed engine, as the document of `assay engines install`.

    Attributes:
        name: Name of the engine in commands.
        title: Name of the engine for readers.
        version: Version that the engine reports.
        home: Directory of the installation; None if the engine is a library that comes with Assay.
    """

    name: str
    title: str
    version: str
    home: Path | None

    @property
    def document(self) -> dict[str, str]:
        """Return the document that `assay engines install --json` prints."""
        return {"engine": self.name, "version": self.version, "home": str(self.home or "")}


def engines() -> list[EngineFacts]:
    """Returns the facts of all engines, by name."""
    return [folder.facts for folder in find_engines().values()]


def show(name: str) -> ShownEngine:
    """Returns the facts of one engine: its settings, its versions and how it is measured.

    Raises:
        UsageError: If Assay knows no engine of this name.
    """
    folder = find_engine(name)
    document = folder.facts.model_dump() | {
        "folder": str(folder.folder),
        "techniques": folder.techniques().model_dump(),
        "knobs": folder.knobs().model_dump(),
    }
    readme = folder.folder / README
    # A user's own engine folder may have no README.
    text = readme.read_text(encoding="utf-8").rstrip() if readme.is_file() else ""
    return ShownEngine(document, text)


def install(name: str, teller: Teller | None = None) -> InstalledEngine:
    """Obtains an engine before its first run.

    Args:
        name: Name of the engine, with `@VERSION` for another version than the newest that Assay
            knows.
        teller: Receives the progress.

    Raises:
        UsageError: If Assay knows no engine of this name.
        EngineError: If the engine cannot be obtained.
    """
    asked, separator, version = name.partition("@")
    if separator and not version:
        raise UsageError(
            f"{name}: the version after @ is missing: add it, or remove @ for the default version"
        )
    folder = find_engine(asked)
    wanted = Wanted(engines_dir(), version or None)
    product = folder.engine().obtain(wanted, telling(teller or Logged()))
    return InstalledEngine(asked, folder.facts.title, product.version, product.home)
