"""The command `assay`: its verbs, its exit codes. Verbs import what they need when they are called.

Exit codes: 0 done (with --strict only if valid); 1 usage or configuration; 2 the run failed or was
stopped, its partial record is kept; 3 the run is invalid; 4 a gate found a regression; 5 no setting
is better beyond noise.
"""

from __future__ import annotations

import gc
import signal
import sys
import traceback
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.shared.configuration import defaults
from assay.cli.shared.output import complain, say_json
from assay.cli.shared.streams import open_standard_streams, output_error
from assay.cli.shared.verbs import SETTINGS, VERBS, LazyVerbs, command_of
from assay.model.errors import AssayError, RunFailedError, UsageError

if TYPE_CHECKING:
    from types import FrameType

CODE_OF_TYPER_FOR_CTRL_C = 130
# Modules and documents stay until the end: with Python's 700, a seventh of a short run's CPU time
# is spent on looking for garbage among them.
OBJECTS_PER_COLLECTION = 200_000

app = typer.Typer(
    name="assay",
    help="Measures database engines and explains the measurement.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    cls=LazyVerbs,
    context_settings={**SETTINGS, "auto_envvar_prefix": "ASSAY"},
)


@app.callback(invoke_without_command=True)
def top(
    context: typer.Context,
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and end.", show_envvar=False)
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="With --version: as JSON.", show_envvar=False)
    ] = False,
) -> None:
    """Measures database engines and explains the measurement."""
    if version:
        from assay.cli.shared.version import say_version

        say_version(as_json=as_json)
        raise typer.Exit
    if as_json and context.invoked_subcommand is None:
        raise UsageError("--json before a verb works with --version only: write it after the verb")


def run_command(arguments: list[str] | None = None) -> int:
    """Runs the command line and returns its exit code. Every error is one clear message."""
    as_json = "--json" in (sys.argv[1:] if arguments is None else arguments)
    try:
        command = typer.main.get_command(app)
        code = command.main(
            args=arguments, standalone_mode=False, default_map=defaults(list(VERBS), _keys)
        )
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


def _keys(verb: str) -> dict[str, str]:
    """The parameter that each long option of a verb sets."""
    return {
        option.removeprefix("--").replace("-", "_"): parameter.name
        for parameter in command_of(verb).params
        for option in parameter.opts
        if option.startswith("--")
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
    gc.set_threshold(OBJECTS_PER_COLLECTION)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    open_standard_streams()
    code = run_command()
    if error := output_error():
        complain(f"the result could not be written: {error.strerror}")
        code = code or RunFailedError.exit_code
    sys.exit(code)


if __name__ == "__main__":
    main()
