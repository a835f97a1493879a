"""The commands of the command line as Python functions: `assay sweep` is `assay.sweep(...)`.

Each command has a module, here or in `preparing`, with a function of the same name. The module is
imported at its first use. Commands that make runs return the result, opened for a notebook. Options
of runs are keyword arguments with the names that a study's file uses: `time="10s"`,
`set={"work_mem": "64MB"}`.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


# Packages whose modules have the names of commands.
ROOMS = ("assay.verbs", "assay.verbs.preparing")


def names() -> list[str]:
    """Return the names of all commands of Assay."""
    return sorted(_modules())


def function_of(verb: str) -> Callable[..., Any]:
    """Return the Python function of a command, by the command's name.

    Raises:
        AttributeError: If no command has this name. The error message lists all commands.
    """
    module = _modules().get(verb)
    if module is None:
        raise AttributeError(f"assay has no {verb!r}; its verbs are {', '.join(names())}")
    function: Callable[..., Any] = getattr(import_module(module), verb)
    return function


def _modules() -> dict[str, str]:
    """Return the full name of each command's module, by the name of the command."""
    paths = {room: import_module(room).__path__ for room in ROOMS}
    return {
        module.name: f"{room}.{module.name}"
        for room, path in paths.items()
        for module in iter_modules(path)
        if not module.ispkg
    }
