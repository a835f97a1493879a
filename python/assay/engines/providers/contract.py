"""Interfaces of a provider, which downloads a package or finds an installed one.

A provider runs a registry's client and knows no registry's address; the client's configuration
chooses hosts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from assay.engines.contract import EngineError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from assay.engines.contract import Tell


class ProviderError(EngineError):
    """Error: a package could not be obtained."""


class UnavailableError(ProviderError):
    """Error: no reachable registry serves a package for this host."""


@runtime_checkable
class Brings(Protocol):
    """Interface of a provider that downloads packages."""

    def bring(self, package: str, into: Path, tell: Tell) -> list[Path]:
        """Download the files of a package into an empty directory.

        Raises `ProviderError`.
        """
        ...

    def unpack(self, files: Sequence[Path], home: Path) -> None:
        """Unpack verified files into an empty directory.

        Raises `ProviderError`, `OSError`.
        """
        ...


@runtime_checkable
class BringsPinned(Protocol):
    """Interface of a provider whose client verifies files before it reads them."""

    def bring_pinned(
        self, package: str, sha256: Mapping[str, str], into: Path, tell: Tell
    ) -> list[Path]:
        """Download the files of a package, whose SHA-256 by name are known, as `bring` does.

        Raises `ProviderError`, before anything of a file with another SHA-256 is executed.
        """
        ...


@runtime_checkable
class Finds(Protocol):
    """Interface of a provider that finds installed packages."""

    def installed(self, package: str) -> Path | None:
        """Return the directory above the package's programs; None if it is not installed."""
        ...
