"""The command `assay`: its verbs, its exit codes. Verbs import what they need when they are called.

Exit codes: 0 done (with --strict only if valid); 1 usage or configuration; 2 the run failed or was
stopped, its partial record is kept; 3 the run is invalid; 4 a gate found a regression; 5 no setting
is better beyond noise.
"""

from __future__ import annotations

import signal
import sys
import traceback
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli import (
    agent,
    browse,
    catalogue,
    ceiling,
    compare,
    doctor,
    durability,
    explain,
    generate,
    plans,
    run,
    size,
    studies,
    study,
    sweep,
    try_,
    tune,
    whatif,
    why,
)
from assay.cli.configuration import Options, defaults
from assay.cli.output import complain, say_json
from assay.cli.scale_name import NamedScale
from assay.model.errors import AssayError, RunFailedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from typer.core import TyperCommand

CODE_OF_TYPER_FOR_CTRL_C = 130

app = typer.Typer(
    name="assay",
    help="Measures database engines and explains the measurement.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "auto_envvar_prefix": "ASSAY",
        "max_content_width": 100,
    },
)

VERBS: tuple[Callable[..., None], ...] = (
    run.run,
    study.study,
    sweep.sweep,
    tune.tune,
    compare.compare,
    plans.plans,
    ceiling.ceiling,
    agent.agent,
    generate.generate,
    browse.show,
    explain.explain,
    whatif.whatif,
    size.size,
    try_.try_,
    why.why,
    durability.durability,
    browse.report,
    browse.export,
    browse.runs,
    doctor.doctor,
)
# Verbs that look at their arguments before these are grouped by option.
LOOKING: dict[Callable[..., None], type[TyperCommand]] = {
    whatif.whatif: whatif.InOrder,
    run.run: NamedScale,
    sweep.sweep: NamedScale,
    tune.tune: NamedScale,
    compare.compare: NamedScale,
    generate.generate: NamedScale,
}
for verb in VERBS:
    # `try` is a word of Python, which no function can be named.
    app.command(name=verb.__name__.rstrip("_"), cls=LOOKING.get(verb))(verb)
app.add_typer(catalogue.engines, name="engines")
app.add_typer(catalogue.workloads, name="workloads")
app.add_typer(studies.studies, name="studies")


@app.callback(invoke_without_command=True)
def top(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and end.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --version: as JSON.")] = False,
) -> None:
    """Measures database engines and explains the measurement."""
    if version:
        catalogue.version(as_json=as_json)
        raise typer.Exit
    if as_json and context.invoked_subcommand is None:
        raise UsageError("--json before a verb goes with --version only")


def run_command(arguments: list[str] | None = None) -> int:
    """Runs the command line and returns its exit code. Every error is one clear message."""
    as_json = "--json" in (sys.argv[1:] if arguments is None else arguments)
    try:
        command = typer.main.get_command(app)
        known = defaults(_options(command))
        code = command.main(args=arguments, standalone_mode=False, default_map=known)
    except (KeyboardInterrupt, typer.Abort):
        return _stopped()
    except typer.TyperException as error:
        # Typer's own words with its suggestion, which plain str() leaves out.
        message = getattr(error, "format_message", error.__str__)()
        return _failed(message, UsageError.exit_code, as_json=as_json)
    except AssayError as error:
        return _failed(str(error), error.exit_code, as_json=as_json)
    except Exception as error:  # noqa: BLE001 - a defect of ours is told as one, with its trace
        traceback.print_exc()
        message = f"this is a defect of Assay ({type(error).__name__}: {error}); please report it"
        return _failed(message, RunFailedError.exit_code, as_json=as_json)
    if code == CODE_OF_TYPER_FOR_CTRL_C:
        return _stopped()
    return code if isinstance(code, int) else 0


def _options(command: Any) -> Options:  # noqa: ANN401 - Typer does not export its group's type
    """By verb, the parameter that each long option sets."""
    return {
        name: {
            option.removeprefix("--").replace("-", "_"): parameter.name
            for parameter in verb.params
            for option in parameter.opts
            if option.startswith("--")
        }
        for name, verb in command.commands.items()
    }


def _failed(message: str, code: int, *, as_json: bool) -> int:
    complain(message)
    if as_json:
        say_json({"error": message, "exit_code": code})
    return code


def _stopped() -> int:
    complain("stopped by Ctrl-C or a signal; what was measured until then is kept")
    return RunFailedError.exit_code


def _stop(number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt(signal.Signals(number).name)


def main() -> None:
    """Entry point of the command. SIGTERM and a closed terminal end a run as Ctrl-C does."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    sys.exit(run_command())


if __name__ == "__main__":
    main()
