"""Programs that are there already: what `--bin-dir` names."""

from __future__ import annotations

from pathlib import Path

from assay.engines.providers.contract import ProviderError


class DirectoryProvider:
    """Provides the programs of a directory that the user names; implements `Finds`."""

    def installed(self, package: str) -> Path:
        """The directory itself. Raises `ProviderError` if there is none."""
        directory = Path(package).expanduser().absolute()
        if not directory.is_dir():
            raise ProviderError(f"{directory} is no directory: --bin-dir names one with programs.")
        return directory


provider = DirectoryProvider()
