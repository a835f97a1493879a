"""Oxigraph's program: where it is, and what it tells without a server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.programs import MEND, inherited, told_by

if TYPE_CHECKING:
    from assay.engines.contract import Product

# Where the program lies below a product's home: named itself, or as a wheel has it.
PLACES = ("oxigraph", "bin/oxigraph", "*.data/scripts/oxigraph")
NAME = "oxigraph"


def find_program(product: Product) -> Path:
    """The program of a product. Raises `EngineError`: it is not there."""
    if product.home is None:
        raise EngineError("Oxigraph has no program: name it with --bin-dir.")
    for pattern in PLACES:
        for found in sorted(product.home.glob(pattern)):
            return found
    raise EngineError(f"{product.home} has no program {NAME}: name another directory.")


def version_of(program: Path) -> str:
    """Such as `0.5.13`. Raises `EngineError` if the program does not run."""
    told = told_by([str(program), "--version"], inherited(), program)
    found = re.match(r"oxigraph (\d[\w.-]*)", told.stdout)
    if found is None:
        words = " ".join((told.stdout + told.stderr).split())
        raise EngineError(
            f"{program} does not run on this host, or is no Oxigraph: {words}. {MEND}"
        )
    return found[1]
