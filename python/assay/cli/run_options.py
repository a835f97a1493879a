"""Options of `assay run` on other verbs that make runs, and as keys of a study."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from assay.cli.run import run

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import typer

    Verb = TypeVar("Verb", bound=Callable[..., None])

NO_DEFAULTS: Mapping[str, Any] = MappingProxyType({})
# Parameters of `run` that say nothing of the run itself.
OF_THE_COMMAND = ("context", "runs", "all_operations", "strict", "as_json")


def with_run_options(
    *without: str, defaults: Mapping[str, Any] = NO_DEFAULTS
) -> Callable[[Verb], Verb]:
    """Gives a verb the options of `assay run` that it has not itself; it takes them as `**told`.

    Args:
        without: Parameters of `run` that have no meaning for it.
        defaults: Of parameters whose default is another one here.
    """

    def decorated(verb: Verb) -> Verb:
        own = inspect.signature(verb, eval_str=True).parameters
        taken = {*own, *OF_THE_COMMAND, *without}
        theirs = inspect.signature(run, eval_str=True).parameters
        told = [one for one in own.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        told += [
            one.replace(default=defaults.get(name, one.default))
            for name, one in theirs.items()
            if name not in taken
        ]
        signature = inspect.Signature(told)
        verb.__signature__ = signature  # type: ignore[attr-defined]
        return verb

    return decorated


def run_keys(context: typer.Context, told: Mapping[str, Any]) -> dict[str, Any]:
    """What was said of runs, as keys of a study; what was left to its default is none of them.

    Args:
        context: Of the verb.
        told: Values of options of `assay run`, by their parameters.

    Raises:
        UsageError: For a setting that is not NAME=VALUE.
    """
    from assay.running.asked.options import RunOptions

    fields = RunOptions.model_fields
    told_of = said(context, told)
    return {fields[name].alias or name: _value(name, told[name]) for name in told_of}


def said(context: typer.Context, names: Collection[str]) -> list[str]:
    """Options that anybody said: a person, the environment or a file of defaults."""
    sources = {name: context.get_parameter_source(name) for name in names}
    return [name for name, source in sources.items() if source and source.name != "DEFAULT"]


def _value(name: str, value: Any) -> Any:  # noqa: ANN401 - of whatever option it is
    """A value of the command line as a study's file has it."""
    from assay.running.asked.request import parse_settings

    options = {"settings": "--set", "limit": "--limit", "slow": "--slow"}
    if name in options:
        return parse_settings(value or [], options[name])
    if name == "prepare":
        return [str(file) for file in value or ()]
    return str(value) if name == "bin_dir" else value
