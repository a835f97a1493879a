"""The command `assay`: its subcommands and its exit codes.

Subcommands import the modules that they need when they are called.

Exit codes: 0 done (with --strict only if valid); 1 usage or configuration; 2 the run failed or was
stopped, its partial record is kept; 3 the run is invalid; 4 a gate found a regression; 5 no setting
is better beyond noise.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
import traceback
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.shared import completion
from assay.cli.shared.configuration import defaults
from assay.cli.shared.json_asked import is_json_asked
from assay.cli.shared.names import keys_of
from assay.cli.shared.output import complain, each_warning_once, say_json
from assay.cli.shared.stopping import (
    StoppedError,
    hear_signals,
    ignore_signals,
    ignore_signals_at_exit,
    stop_error,
)
from assay.cli.shared.streams import (
    discard_result,
    is_result_begun,
    open_standard_streams,
    output_error,
)
from assay.cli.shared.verbs import SETTINGS, VERBS, LazyVerbs, command_of
from assay.model.errors import (
    TOO_LITTLE_MEMORY,
    AssayError,
    RecordDamagedError,
    RecordUnreadableError,
    RunFailedError,
    UsageError,
)
from assay.model.foreign_text import shown
from assay.model.secrets import message_without_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE_OF_TYPER_FOR_CTRL_C = 130
# Message of the dynamic linker if a library does not fit into the process's memory.
NO_MEMORY_FOR_LIBRARY = "failed to map segment from shared object"
# Number of new objects before a garbage collection. Modules and documents live until the end, so
# Python's default of 700 would spend a seventh of a short run's CPU time on searching them.
OBJECTS_PER_COLLECTION = 200_000
# numpy's OpenBLAS starts a thread for each core when it is loaded, which waits actively at first: a
# load beside the measured engine. Assay's own calculations need one thread.
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "1")

app = typer.Typer(
    name="assay",
    help="Measures database engines and explains the measurement.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    cls=LazyVerbs,
    context_settings=SETTINGS,
)


@app.callback(invoke_without_command=True)
def top(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and end.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --version: as JSON.")] = False,
) -> None:
    """Measures database engines and explains the measurement."""
    if version:
        from assay.cli.shared.version import say_version

        say_version(as_json=as_json)
        raise typer.Exit
    if as_json:
        raise UsageError(
            "--json before a command works with --version only: write it after the command, as in: "
            "assay runs --json"
        )


def run_command(arguments: list[str] | None = None) -> int:
    """Runs the command line and returns its exit code. Every error is one clear message.

    A record that was changed after its seal also causes a message, whichever command opened it.
    """
    from assay.record.damage import hearing_damage

    with hearing_damage() as damaged, each_warning_once(damaged):
        code = _called(arguments, damaged)
    for sentence in damaged:
        complain(sentence)
    return code if not damaged or code == RunFailedError.exit_code else RecordDamagedError.exit_code


def _called(arguments: list[str] | None, damaged: list[str]) -> int:
    """Call the command and return its exit code; an error removes its sentence from `damaged`."""
    words = sys.argv[1:] if arguments is None else arguments
    values: dict[str, Any] = {}
    try:
        _refuse_nul(words)
        command = typer.main.get_command(app)
        values.update(defaults(list(VERBS), _keys))
        code = command.main(args=words, standalone_mode=False, default_map=values)
    except (KeyboardInterrupt, typer.Abort) as interrupt:
        return _failed(stop_error(interrupt), damaged, words, values)
    except Exception as error:  # noqa: BLE001 - whatever ended a command is told in a sentence
        return _failed(error, damaged, words, values)
    if code == CODE_OF_TYPER_FOR_CTRL_C:
        return _failed(stop_error(KeyboardInterrupt()), damaged, words, values)
    return code if isinstance(code, int) else 0


def _ended_by(error: Exception, damaged: list[str]) -> tuple[str, int]:
    """Return sentence and exit code of an error; `damaged` loses a sentence that it explains."""
    if isinstance(error, typer.TyperException):
        # Typer's message includes its suggestion, which plain str() omits.
        message = getattr(error, "format_message", error.__str__)()
        return message, UsageError.exit_code
    of_record = isinstance(error, RecordUnreadableError) or not isinstance(error, AssayError)
    if damaged and of_record:
        return damaged.pop(0), RecordDamagedError.exit_code
    if isinstance(error, AssayError):
        return str(error), error.exit_code
    return _unexpected(error)


def _refuse_nul(arguments: list[str]) -> None:
    """Refuse arguments with a NUL character, which no file name or address contains."""
    for argument in arguments:
        if "\0" in argument:
            raise UsageError(f"the argument {argument} contains a NUL character: remove it")


def _keys(verb: str) -> dict[str, str]:
    """Return the parameter of each option of a command, by the option's key in files."""
    return {
        key: parameter.name for parameter in command_of(verb).params for key in keys_of(parameter)
    }


def _unexpected(error: Exception) -> tuple[str, int]:
    """Return the message and the exit code of an unexpected error."""
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        message = f"{error.filename}: it is too long for the name of a file"
        return message, UsageError.exit_code
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        message = f"{error.strerror}: allow this process more of them, such as `ulimit -n 1024`"
        return message, UsageError.exit_code
    if isinstance(error, MemoryError) or (
        isinstance(error, ImportError) and NO_MEMORY_FOR_LIBRARY in str(error)
    ):
        return f"{TOO_LITTLE_MEMORY}, and repeat the command", RunFailedError.exit_code
    # A defect of Assay is reported as one, with its trace.
    trace = "".join(traceback.format_exception(error))
    print(message_without_secrets(trace), end="", file=sys.stderr)
    message = f"this is a defect of Assay ({type(error).__name__}: {error}); please report it"
    return message, RunFailedError.exit_code


def _failed(
    error: Exception, damaged: list[str], words: list[str], values: Mapping[str, Any]
) -> int:
    """Report an error, with `--json` as a document, too, and return its exit code."""
    ignore_signals()
    message, code = _ended_by(error, damaged)
    # Whatever is quoted may be an address that nobody could read, with its password.
    message = message_without_secrets(message)
    complain(message)
    if isinstance(error, StoppedError):
        discard_result()
    # A second document would make the output unreadable.
    if not is_result_begun() and is_json_asked(words, values):
        say_json({"error": shown(message), "exit_code": code})
    return code


def main() -> None:
    """Entry point of the command. SIGTERM and a closed terminal end a run as Ctrl-C does."""
    gc.set_threshold(OBJECTS_PER_COLLECTION)
    os.environ.setdefault(*ONE_THREAD)
    hear_signals()
    open_standard_streams()
    if completion.VARIABLE in os.environ:
        sys.exit(completion.complete(typer.main.get_command(app)))
    try:
        code = run_command()
        if error := output_error():
            complain(f"the result could not be written: {error.strerror}")
            code = code or RunFailedError.exit_code
    except KeyboardInterrupt:
        # The result was made, and its reader does not take it.
        discard_result()
        code = RunFailedError.exit_code
    ignore_signals_at_exit()
    sys.exit(code)


if __name__ == "__main__":
    main()
