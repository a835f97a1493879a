"""Adds options of `assay run` to other commands that make runs."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin

import annotated_types
import typer

from assay.running.asked.declaring import Option, declared, long_name
from assay.running.asked.options import RunOptions
from assay.running.asked.parsing import parse_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

    Verb = TypeVar("Verb", bound=Callable[..., None])

METAVARS = {int: "N", float: "NUMBER"}
NO_DEFAULTS: Mapping[str, Any] = MappingProxyType({})


def with_run_options(
    *without: str, only: Collection[str] | None = None, defaults: Mapping[str, Any] = NO_DEFAULTS
) -> Callable[[Verb], Verb]:
    """Add the options of `assay run` to a command that lacks them.

    Args:
        without: Names of options that have no meaning for the command.
        only: Names of the options to add; None means all.
        defaults: Other default values of options in this command.
    """

    def decorated(verb: Verb) -> Verb:
        own = inspect.signature(verb, eval_str=True).parameters
        parameters = [
            parameter
            for parameter in own.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        parameters += [
            parameter.replace(default=defaults.get(parameter.name, parameter.default))
            for parameter in run_parameters()
            if parameter.name not in (*own, *without) and (only is None or parameter.name in only)
        ]
        verb.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return verb

    return decorated


def run_parameters() -> Iterator[inspect.Parameter]:
    """Yield the declared options of a run as parameters for Typer."""
    return parameters_of(RunOptions)


def parameters_of(model: type[BaseModel]) -> Iterator[inspect.Parameter]:
    """Yield the declared options of a model as parameters for Typer."""
    for name, field in model.model_fields.items():
        option = declared(field)
        if option is not None:
            yield _parameter(name, field, option)


def run_keys(context: typer.Context, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of runs that were set, as keys of a study, without defaults.

    Args:
        context: Context of the command.
        options: Values of the command line by the names of options.

    Raises:
        UsageError: If a setting is not of the form NAME=VALUE.
    """
    fields = RunOptions.model_fields
    return {
        fields[name].alias or name: _value(name, options[name])
        for name in options_set(context, options)
    }


def options_set(context: typer.Context, names: Collection[str]) -> list[str]:
    """Return options that were set: by the user, the environment or a file of defaults."""
    sources = {name: context.get_parameter_source(name) for name in names}
    return [name for name, source in sources.items() if source and source.name != "DEFAULT"]


def given(context: typer.Context) -> list[str]:
    """Return the options given on the command line, not in files or the environment."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return [name for name, source in sources.items() if source and source.name == "COMMANDLINE"]


def _value(name: str, value: Any) -> Any:  # noqa: ANN401 - of whatever option it is
    """Return a command-line value in the form of a study file."""
    field = RunOptions.model_fields[name]
    if get_origin(field.annotation) is dict:
        return parse_settings(value or [], long_name(field.alias or name))
    return value


def _parameter(name: str, field: FieldInfo, option: Option) -> inspect.Parameter:
    """Return an option as a command's parameter, with a type that the command line can parse."""
    default = field.get_default(call_default_factory=True)
    plain, kind = _plain_type(field.annotation), get_origin(field.annotation)
    flag = long_name(field.alias or name)
    flags = [f"{flag}/--no-{flag[2:]}" if default is True else flag]
    annotation: Any = plain
    if kind in (dict, tuple):
        annotation, default = list[str] | None, None
    elif default is None:
        annotation = plain | None
    typer_option = typer.Option(
        *flags,
        help=option.help,
        metavar=option.shown or METAVARS.get(plain),
        rich_help_panel=option.group,
        parser=option.parse,
        min=_bound(field, annotated_types.Ge, "ge"),
        max=_bound(field, annotated_types.Le, "le"),
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[annotation, typer_option],
    )


def _bound(field: FieldInfo, kind: type, name: str) -> int | None:
    """Return the minimum or maximum of an option; None if it has none."""
    return next((getattr(bound, name) for bound in field.metadata if isinstance(bound, kind)), None)


def _plain_type(annotation: Any) -> Any:  # noqa: ANN401 - a type, or a form of one
    """Return the plain type of `T | None`, or of an annotated type."""
    if get_origin(annotation) in (dict, tuple):
        return str
    parts = [part for part in get_args(annotation) if part is not type(None)]
    return _plain_type(parts[0]) if parts else annotation
