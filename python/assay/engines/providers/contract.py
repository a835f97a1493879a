"""The contract of a provider: it downloads a package's files, or finds an installed one.

A provider knows a registry's client, never a registry's address: which hosts are asked is the
client's configuration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from assay.engines.contract import EngineError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.engines.contract import Tell


class ProviderError(EngineError):
    """A package could not be brought; the message names the mend."""


class UnavailableError(ProviderError):
    """No registry serves it to this host: none has it, or has it still, or is reached."""


@runtime_checkable
class Brings(Protocol):
    """A provider that fetches packages."""

    def bring(self, package: str, into: Path, tell: Tell) -> list[Path]:
        """Fetches the files of a package into an empty directory. Raises `ProviderError`."""
        ...

    def unpack(self, files: Sequence[Path], home: Path) -> None:
        """Unpacks verified files into an empty directory. Raises `ProviderError`, `OSError`."""
        ...


@runtime_checkable
class Finds(Protocol):
    """A provider that knows packages that are installed already."""

    def installed(self, package: str) -> Path | None:
        """The directory under which the package's programs lie; None if there is none."""
        ...
