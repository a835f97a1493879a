"""Products of engines that tests ask for; a registry's state is no fault of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.engines.contract import EngineError, Product, Wanted, tell_nobody
from assay.engines.discovery import find_engine
from assay.engines.providers.contract import UnavailableError
from assay.study.places import engines_dir


def obtained(name: str, cache: Path | None = None, version: str | None = None) -> Product:
    """The engine's product; skips a test where no registry serves it, and for no other reason."""
    try:
        return (
            find_engine(name).engine().obtain(Wanted(cache or engines_dir(), version), tell_nobody)
        )
    except EngineError as error:
        if isinstance(error.__cause__, UnavailableError):
            pytest.skip(str(error))
        raise
