"""The commands of `assay`, by section.

A command's module is imported when the command is called.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from assay.cli.shared.completion import Candidate, matching
from assay.cli.shared.names import refuse_unknown_variables
from assay.cli.shared.stopping import stop_error

if TYPE_CHECKING:
    from collections.abc import Callable

SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 80}


@dataclass(frozen=True)
class Verb:
    """A command of `assay` in the list of commands.

    Attributes:
        section: Section of the help that lists it.
        about: Description in one line.
        kind: The class of its command, by module of `assay.cli.shared` and name.
    """

    section: str
    about: str
    kind: tuple[str, str] = ("help", "GroupedCommand")


MEASURE, EXPLAIN, LOOK, PREPARE = "Measure", "Explain", "Look again", "What there is"
# Packages with the modules of each section's commands.
ROOMS = {MEASURE: "measuring", EXPLAIN: "explaining", LOOK: "looking", PREPARE: "preparing"}
SCALED = ("scale_name", "NamedScale")
VERBS = {
    "run": Verb(MEASURE, "Run a workload on an engine, check and explain it.", SCALED),
    "observe": Verb(MEASURE, "Watch a running server's statements, send no load."),
    "study": Verb(MEASURE, "Execute a study: many runs that answer one question."),
    "sweep": Verb(MEASURE, "Vary clients, scales, or values of a setting.", SCALED),
    "compare": Verb(MEASURE, "Compare two engines, versions or settings.", SCALED),
    "tune": Verb(MEASURE, "Search settings of an engine for faster ones.", SCALED),
    "plans": Verb(MEASURE, "Force other plans of a query than the optimiser's."),
    "durability": Verb(MEASURE, "Kill an engine under load, look for lost writes."),
    "answers": Verb(MEASURE, "Store the rows of your own queries as answers."),
    "ceiling": Verb(MEASURE, "Measure this host's disk, memory and cores."),
    "explain": Verb(EXPLAIN, "Show where the time of a run or an operation went."),
    "why": Verb(EXPLAIN, "Find the bottleneck of operations by experiment."),
    "diagnose": Verb(EXPLAIN, "Test the causes of lost time by experiments.", SCALED),
    "try": Verb(EXPLAIN, "Make one advised change and measure its gain."),
    "whatif": Verb(EXPLAIN, "Predict a run's metrics after changes.", ("in_order", "InOrder")),
    "size": Verb(EXPLAIN, "Predict a workload's time on a larger cluster."),
    "show": Verb(LOOK, "Show a run or a study."),
    "report": Verb(LOOK, "Write a run's or a study's report as one HTML file."),
    "export": Verb(LOOK, "Export a run's tables or profile for other tools."),
    "runs": Verb(LOOK, "List all runs."),
    "engines": Verb(PREPARE, "List, show and install engines."),
    "workloads": Verb(PREPARE, "List, show and create workloads."),
    "studies": Verb(PREPARE, "List, show and create studies."),
    "capture": Verb(PREPARE, "Make a workload from a server's log or statements."),
    "generate": Verb(PREPARE, "Write a workload's data to files.", SCALED),
    "cache": Verb(PREPARE, "List or remove stored data sets."),
    "agent": Verb(PREPARE, "Let this host generate load for runs of other hosts."),
    "completion": Verb(PREPARE, "Print a script that completes commands in a shell."),
    "doctor": Verb(PREPARE, "Show which measurements are possible on this host."),
}


class LazyVerbs(TyperGroup):
    """All commands of `assay`, each imported on its first use."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - Typer's own
        """Return the names of commands in the order of the help."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - Typer's own
        """Return the command with this name; None if it does not exist."""
        if cmd_name in VERBS and cmd_name not in self.commands:
            self.commands[cmd_name] = command_of(cmd_name)
        return self.commands.get(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - Typer's own
        """Return the called command; refuse variables that would set an option it lacks."""
        name, command, rest = super().resolve_command(ctx, args)
        asks_for_help = not set(SETTINGS["help_option_names"]).isdisjoint(args)
        if command is not None and not (ctx.resilient_parsing or asks_for_help):
            refuse_unknown_variables(command)
        return name, command, rest

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - Typer's own
        """Execute the command and return its result; Ctrl-C and signals end it with an error."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            # Typer would lose the name of the signal.
            raise stop_error(interrupt) from interrupt

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Typer's own
        """Parse options before the command.

        Without such options, completing the first word does not import Pydantic.
        """
        return super().parse_args(ctx, args) if args or not ctx.resilient_parsing else []

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:  # noqa: ANN401 - Typer's own
        """Return commands that begin with the typed text, without importing them; else options."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        verbs = (Candidate(name, verb.about) for name, verb in VERBS.items())
        return matching(verbs, incomplete)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002
        """List commands by section, without importing them."""
        for section in ROOMS:
            named = [(name, verb.about) for name, verb in VERBS.items() if verb.section == section]
            with formatter.section(section):
                formatter.write_dl(named)


def command_of(name: str) -> Any:  # noqa: ANN401 - Typer does not export its commands' type
    """Return the command made from the function or the group of this name."""
    made = getattr(import_module(module_name(name)), python_name(name))
    letters = import_module("assay.cli.shared.letters")
    asking = import_module("assay.cli.shared.asking")
    if isinstance(made, typer.Typer):
        group = typer.main.get_command(made)
        group.name = name
        return letters.completed(group, name)
    kind_module, kind = VERBS[name].kind
    kind_of_command = getattr(import_module(f"assay.cli.shared.{kind_module}"), kind)
    command = asking.with_password_option(_command(name, made, kind_of_command))
    return letters.completed(command, name)


def module_name(verb: str) -> str:
    """Return the name of the module with a command's options."""
    return f"assay.cli.{ROOMS[VERBS[verb].section]}.{python_name(verb)}"


def python_name(verb: str) -> str:
    """Return the Python name of a command's function and module: `try` is a keyword, so `try_`."""
    return f"{verb}_" if iskeyword(verb) else verb


def _command(name: str, verb: Callable[..., None], kind: type[Any]) -> Any:  # noqa: ANN401
    alone = typer.Typer(rich_markup_mode=None, add_completion=False)
    alone.command(name=name, cls=kind, context_settings=SETTINGS)(verb)
    return typer.main.get_command(alone)
