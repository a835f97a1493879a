"""Provides existing programs: the directory that `--bin-dir` names."""

from __future__ import annotations

from pathlib import Path

from assay.engines.providers.contract import ProviderError


class DirectoryProvider:
    """Provides programs in a directory that the user names; implements `Finds`."""

    def installed(self, package: str) -> Path:
        """Return the user's directory of programs.

        Raises `ProviderError` if it does not exist.
        """
        directory = Path(package).expanduser().absolute()
        if not directory.is_dir():
            raise ProviderError(
                f"{directory} is not a directory: name a directory with programs with --bin-dir."
            )
        return directory


provider = DirectoryProvider()
