"""The verbs of the command line as functions of Python: `assay sweep` is `assay.sweep(...)`.

A module each, here or in `preparing`, which has the function of its name and is imported when it is
first asked for. Verbs that make runs return what came of them, opened for a notebook; options of
runs are keyword arguments, named as the keys of a study's file: `time="10s"`,
`set={"work_mem": "64MB"}`.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


# Names of verbs are those of modules in these packages.
ROOMS = ("assay.verbs", "assay.verbs.preparing")


def names() -> list[str]:
    """Return the names of all verbs."""
    return sorted(_modules())


def function_of(verb: str) -> Callable[..., Any]:
    """Return the function of a verb.

    Raises:
        AttributeError: With the names of all verbs, where there is none of this name.
    """
    module = _modules().get(verb)
    if module is None:
        raise AttributeError(f"assay has no {verb!r}; its verbs are {', '.join(names())}")
    function: Callable[..., Any] = getattr(import_module(module), verb)
    return function


def _modules() -> dict[str, str]:
    """Return the full name of each verb's module, by the name of the verb."""
    paths = {room: import_module(room).__path__ for room in ROOMS}
    return {
        module.name: f"{room}.{module.name}"
        for room, path in paths.items()
        for module in iter_modules(path)
        if not module.ispkg
    }
