"""Refuses empty values of options and arguments: an unset variable of the shell gives such a value.

As a path, an empty text would be the current directory.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from assay.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable


def refuse_empty(parameter: Any) -> None:  # noqa: ANN401 - Typer does not export its types
    """Make an option or argument refuse an empty text, also among several."""
    parameter.process_value = partial(_processed, parameter, parameter.process_value)


def _processed(
    parameter: Any,  # noqa: ANN401 - Typer's own
    process: Callable[[Any, Any], Any],
    context: Any,  # noqa: ANN401 - Typer's own
    value: Any,  # noqa: ANN401 - of whatever option it is
) -> Any:  # noqa: ANN401
    """Return the processed value of a parameter that is not empty."""
    values = value if isinstance(value, list | tuple) else [value]
    if "" in values:
        long = next((name for name in parameter.opts if name.startswith("--")), None)
        end = " or remove the option" if long and not parameter.required else ""
        raise UsageError(
            f"{long or parameter.metavar or parameter.name.upper()}: the value is empty: write a "
            f"value{end}; perhaps a variable of the shell is not set"
        )
    return process(context, value)
