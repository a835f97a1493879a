"""Collects the descriptions of finding methods from the docstrings of their modules."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

import assay.analysis.findings

if TYPE_CHECKING:
    from assay.report.documents.run import RunDocument

# Name of the function that each module with a finding method defines.
MAKES = "find"


def known_methods() -> dict[str, str]:
    """Return the known methods by name, each with the docstring of its module."""
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
    """Return name and description of the methods that a document's findings use, in their order."""
    methods = known_methods()
    names = dict.fromkeys(finding["method"] for finding in document["findings"])
    return [(name, methods.get(name, "")) for name in names]
