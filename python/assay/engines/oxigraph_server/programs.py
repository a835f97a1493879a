"""Finds Oxigraph's program and its version."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.programs import MEND, inherited, run_program

if TYPE_CHECKING:
    from assay.engines.contract import Product

# Paths of the program below a product's home: at the top, or in a wheel.
PLACES = ("oxigraph", "bin/oxigraph", "*.data/scripts/oxigraph")
NAME = "oxigraph"


def find_program(product: Product) -> Path:
    """Return Oxigraph's program in an installed product.

    Raises `EngineError` if the program does not exist.
    """
    if product.home is None:
        raise EngineError("Oxigraph has no program: name its directory with --bin-dir.")
    for pattern in PLACES:
        for program in sorted(product.home.glob(pattern)):
            return program
    raise EngineError(f"{product.home} has no program {NAME}: name another directory.")


def version_of(program: Path) -> str:
    """Return the version of Oxigraph's program, such as `0.5.13`.

    Raises `EngineError` if the program fails.
    """
    completed = run_program([str(program), "--version"], inherited(), program)
    match = re.match(r"oxigraph (\d[\w.-]*)", completed.stdout)
    if match is None:
        output = " ".join((completed.stdout + completed.stderr).split())
        raise EngineError(
            f"{program} does not run on this host, or is not Oxigraph: {output}. {MEND}"
        )
    return match[1]
