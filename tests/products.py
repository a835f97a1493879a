"""Products of engines that tests ask for; a registry's state is no fault of ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.engines.contract import Engine, EngineError, Product, Wanted, tell_nobody
from assay.engines.discovery import find_engine
from assay.engines.obtaining import is_installed
from assay.engines.providers.contract import UnavailableError
from assay.running.host.places import engines_dir

# What builds a product from its sources takes minutes: it is tested where that was done.
BUILDS = "go"


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
    first = next(iter(folder.facts.products), None)
    if first and first.provider == BUILDS and not is_installed(folder.facts, first, cache):
        title = folder.facts.title
        pytest.skip(f"{title} is not built: `assay engines install {name}` does it, in minutes")
    try:
        return (engine or folder.engine()).obtain(Wanted(cache, version), tell_nobody)
    except EngineError as error:
        if any(isinstance(cause, UnavailableError) for cause in _causes(error)):
            pytest.skip(str(error))
        raise


def installed(name: str) -> Product:
    """The same of a product that is large: skips a test where it was not brought before."""
    folder = find_engine(name)
    if not is_installed(folder.facts, folder.facts.products[0], engines_dir()):
        pytest.skip(f"{folder.facts.title} is not there: `assay engines install {name}` brings it")
    return obtained(name)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """What an error came of: a product's may be that of a runtime that it needs."""
    cause = error.__cause__
    while cause is not None:
        yield cause
        cause = cause.__cause__
