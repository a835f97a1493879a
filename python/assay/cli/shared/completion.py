"""Completes command lines in a shell: finds the possible next words.

The shell starts `assay` with `_ASSAY_COMPLETE` set, and reads the words from its output. The
placeholder in the help selects the values: a parameter shown as RUN is completed with run ids.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

VARIABLE = "_ASSAY_COMPLETE"
# A placeholder that lists all values: `full|relaxed|none`.
CHOICES = re.compile(r"[a-z-]+(\|[a-z-]+)+")


@dataclass(frozen=True)
class Candidate:
    """A possible next word, in the form that Typer's shell writers need.

    Attributes:
        value: Word to insert.
        help: Description that some shells show beside the word.
        type: Typer's name for a word that is not a path.
    """

    value: str
    help: str | None = None
    type: str = "plain"


def complete(command: Any) -> int:  # noqa: ANN401 - Typer does not export its commands' type
    """Print the possible next words; return 0, or 1 if they could not be determined.

    No error is printed, because it would appear in the line that the user is typing.
    """
    import_module("typer.completion").completion_init()
    try:
        command.main(args=[], prog_name="assay", complete_var=VARIABLE, standalone_mode=False)
    except SystemExit as ended:
        return int(ended.code or 0)
    except Exception:  # noqa: BLE001 - whatever is wrong, the line is typed on without completion
        return 1
    return 1


def offer_values(parameter: Any) -> None:  # noqa: ANN401 - Typer's own
    """Make an option or argument complete its values in the shell, if they are known."""
    find = _finder(parameter)
    if find is not None:
        parameter.shell_complete = partial(_matching, find)


def matching(candidates: Iterable[Candidate], incomplete: str) -> list[Candidate]:
    """Return the candidates that begin with the typed text."""
    return [each for each in candidates if each.value.startswith(incomplete)]


def _matching(
    find: Callable[[Any], Iterable[Candidate]],
    context: Any,  # noqa: ANN401 - Typer's own
    incomplete: str,
) -> list[Candidate]:
    return matching(find(context), incomplete)


def _finder(parameter: Any) -> Callable[[Any], Iterable[Candidate]] | None:  # noqa: ANN401
    """Return the function that finds a parameter's values, by its placeholder or its name."""
    shown = parameter.metavar or ""
    if CHOICES.fullmatch(shown):
        choices = [Candidate(choice) for choice in shown.split("|")]
        return lambda _context: choices
    return FINDERS.get(shown) or FINDERS.get(parameter.name)


def _engines(_context: Any) -> Iterable[Candidate]:  # noqa: ANN401
    from assay.engines.discovery import find_engines

    return [Candidate(name, folder.facts.about) for name, folder in find_engines().items()]


def _workloads(_context: Any) -> Iterable[Candidate]:  # noqa: ANN401
    from assay.workloads.discovery import find_workloads

    return [Candidate(name, workload.facts.about) for name, workload in find_workloads().items()]


def _studies(_context: Any) -> Iterable[Candidate]:  # noqa: ANN401
    from assay.study.declared.reading import study_files

    return [Candidate(name) for name in study_files()]


def _runs(context: Any) -> Iterable[Candidate]:  # noqa: ANN401
    from assay.record.places import runs_dir
    from assay.record.reader import list_runs

    runs = [run.name for run in list_runs(runs_dir(context.params.get("runs")))]
    return [Candidate(name) for name in ("latest", *reversed(runs))]


def _workloads_and_runs(context: Any) -> Iterable[Candidate]:  # noqa: ANN401
    return [*_workloads(context), *_runs(context)]


def _operations(context: Any) -> Iterable[Candidate]:  # noqa: ANN401
    """Return the operations of the run or the workload in the command line."""
    # If the last option lacks its value, Typer leaves arguments unread in `args`.
    arguments = [
        parameter for parameter in context.command.params if parameter.param_type_name == "argument"
    ]
    read = (context.params.get(argument.name) for argument in arguments)
    named = next(word for word in (*context.args, *read) if word)
    if arguments[0].name == "which":
        return _operations_of_run(named, context.params.get("runs"))
    from assay.workloads.discovery import find_workload

    facts = find_workload(named).facts
    return [Candidate(name, facts.operations[name].title) for name in facts.order]


def _operations_of_run(name: str, runs: str | None) -> Iterable[Candidate]:
    from assay.record.places import runs_dir
    from assay.record.reader import Run, find_run

    run = Run(find_run(name, runs_dir(runs)))
    return [Candidate(operation) for operation in run.facts["plan"]["operations"]]


# Functions that find values, by the placeholder or the name of the parameter.
FINDERS: dict[str, Callable[[Any], Iterable[Candidate]]] = {
    "NAME[@VERSION]": _engines,
    "ENGINE": _engines,
    "engine": _engines,
    "WORKLOAD": _workloads,
    "workload": _workloads,
    "RUN": _runs,
    "[RUN...]": _runs,
    "WORKLOAD|RUN": _workloads_and_runs,
    "STUDY": _studies,
    "operation": _operations,
}
