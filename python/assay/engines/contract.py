"""What an engine is to the rest of the house: facts in `engine.toml`, behaviour in `engine.py`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict

from assay.model.errors import AssayError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


class EngineError(AssayError):
    """An engine could not be obtained, configured or started: exit code 1."""


class EngineFacts(BaseModel):
    """`engine.toml`. Unknown keys are errors.

    Attributes:
        kind: `embedded` engines live in the driver's host process, `server` ones in their own.
        session: Which session of the driver speaks to it.
        dialects: Search order for `operations/<operation>.<dialect>.sql`, before the plain file.
        obtained_from: Where it comes from, for people.
        answers: Whether it returns rows that can be right or wrong.
        settings: Defaults that ours differ from the product's in, each with its reason in README.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    title: str
    about: str
    kind: Literal["embedded", "server", "none"]
    session: str
    dialects: tuple[str, ...] = ()
    obtained_from: str
    version_pinned: str | None = None
    answers: bool = True
    settings: dict[str, str] = {}


@dataclass(frozen=True)
class Place:
    """Where one instance lives. `data` holds what must survive a restart; all of it is ours."""

    data: Path
    scratch: Path


@dataclass
class Instance:
    """One started engine. `handle` is the engine's own affair."""

    place: Place
    settings: Mapping[str, str]
    handle: Any = field(repr=False)


class ArrowStream(Protocol):
    """Anything that hands out rows by the Arrow C stream interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The stream, in a capsule."""
        ...


class Engine(Protocol):
    """A recipe for one database product. Starting one instance twice is a programmer's error."""

    def obtain(self) -> str:
        """Makes sure the product is there; returns its version. Raises `EngineError`."""
        ...

    def start(self, place: Place, settings: Mapping[str, str]) -> Instance:
        """Starts an instance. Raises `EngineError` with the setting at fault and the mend."""
        ...

    def stop(self, instance: Instance) -> None:
        """Stops it in the product's own way."""
        ...

    def effective_settings(self, instance: Instance) -> dict[str, str]:
        """Settings as the product reports them, without secrets."""
        ...

    def sessions(self, instance: Instance, statements: Sequence[str], clients: int) -> list[object]:
        """One session a client, as the driver takes them; operation `n` is `statements[n]`."""
        ...


@runtime_checkable
class BulkLoads(Protocol):
    """Engines that hold tables."""

    def create_tables(self, instance: Instance, ddl: str) -> None:
        """Runs a workload's schema."""
        ...

    def load(self, instance: Instance, table: str, rows: ArrowStream) -> None:
        """Appends all rows to a table by the product's fastest way."""
        ...

    def count(self, instance: Instance, table: str) -> int:
        """Rows of a table."""
        ...

    def finish_load(self, instance: Instance) -> None:
        """Whatever makes the loaded data durable and known to the optimiser."""
        ...


@runtime_checkable
class ChecksSettings(Protocol):
    """Engines that can refuse a setting before anything was loaded."""

    def check_settings(self, settings: Mapping[str, str]) -> None:
        """Raises `EngineError` with the setting at fault and the mend."""
        ...
