"""How findings are made, in the words of the files that make them."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

import assay.analysis.findings

if TYPE_CHECKING:
    from assay.report.documents.run import RunDocument

# What a file that makes findings has.
MAKES = "find"


def known_methods() -> dict[str, str]:
    """What is looked for: each method with the first sentences of its file, by its name."""
    found = {}
    package = assay.analysis.findings
    for module_info in pkgutil.walk_packages(
        getattr(package, "__path__", []), f"{package.__name__}."
    ):
        module = importlib.import_module(module_info.name)
        if hasattr(module, MAKES):
            name = module_info.name.rpartition(".")[2].replace("_", "-")
            found[name] = " ".join((module.__doc__ or "").split())
    return dict(sorted(found.items()))


def used_methods(told: RunDocument) -> list[tuple[str, str]]:
    """The methods of a document's findings, each with what it does, in the findings' order."""
    known = known_methods()
    names = dict.fromkeys(finding["method"] for finding in told["findings"])
    return [(name, known.get(name, "")) for name in names]
