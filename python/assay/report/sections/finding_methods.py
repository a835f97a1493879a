"""Collects the descriptions of findings from the modules that make them."""

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
    """Return the known methods by name, each with the first sentences of its file."""
    methods = {}
    package = assay.analysis.findings
    for module_info in pkgutil.walk_packages(
        getattr(package, "__path__", []), f"{package.__name__}."
    ):
        module = importlib.import_module(module_info.name)
        if hasattr(module, MAKES):
            name = module_info.name.rpartition(".")[2].replace("_", "-")
            methods[name] = " ".join((module.__doc__ or "").split())
    return dict(sorted(methods.items()))


def used_methods(document: RunDocument) -> list[tuple[str, str]]:
    """Return the methods of a document's findings, described, in the findings' order."""
    methods = known_methods()
    names = dict.fromkeys(finding["method"] for finding in document["findings"])
    return [(name, methods.get(name, "")) for name in names]
