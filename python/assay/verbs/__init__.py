"""The verbs of the command line as functions of Python: `assay sweep` is `assay.sweep(...)`.

A module each, which has the function of its name and is imported when it is first asked for. Verbs
that make runs return what came of them, opened for a notebook; options of runs are keyword
arguments, named as the keys of a study's file: `time="10s"`, `set={"work_mem": "64MB"}`.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def names() -> list[str]:
    """Return the names of all verbs."""
    return sorted(module.name for module in iter_modules(__path__) if not module.ispkg)


def function_of(verb: str) -> Callable[..., Any]:
    """Return the function of a verb.

    Raises:
        AttributeError: With the names of all verbs, where there is none of this name.
    """
    if verb not in names():
        raise AttributeError(f"assay has no {verb!r}; its verbs are {', '.join(names())}")
    function: Callable[..., Any] = getattr(import_module(f"assay.verbs.{verb}"), verb)
    return function
