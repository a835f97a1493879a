"""Products of engines that tests ask for; a registry's state is no fault of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.engines.contract import Engine, EngineError, Product, Wanted, tell_nobody
from assay.engines.discovery import find_engine
from assay.engines.obtaining import is_installed
from assay.engines.providers.contract import UnavailableError
from assay.study.places import engines_dir

# Built from its sources, which takes minutes: it is tested where that was done.
BUILT = ("dolt",)


def obtained(
    name: str,
    cache: Path | None = None,
    version: str | None = None,
    engine: Engine | None = None,
) -> Product:
    """The engine's product; skips a test where no registry serves it or it would be built.

    Args:
        name: The engine's name.
        cache: Where products are kept; the user's cache.
        version: Which one; the engine's default.
        engine: What is to be started from it: some keep what they obtained beside it.
    """
    folder, cache = find_engine(name), cache or engines_dir()
    if name in BUILT and not is_installed(folder.facts, folder.facts.products[0], cache):
        pytest.skip(f"{folder.facts.title} is not built: `make {name}` does it, in minutes")
    try:
        return (engine or folder.engine()).obtain(Wanted(cache, version), tell_nobody)
    except EngineError as error:
        if isinstance(error.__cause__, UnavailableError):
            pytest.skip(str(error))
        raise
