"""Errors that a user can fix. Each message says what is wrong, where, and what to do."""

# Maximum number of suggested names, because users do not read longer lists.
SUGGESTIONS_MAX = 12
TOO_LITTLE_MEMORY = "too little memory: free some, or raise this process's limit (`ulimit -v`)"


class AssayError(Exception):
    """Error that the user can fix. `exit_code` is the exit code of the command."""

    exit_code = 1


class UsageError(AssayError):
    """Error: a wrong argument, name or configuration."""


class RunFailedError(AssayError):
    """Error: a run could not be executed; its partial record is kept."""

    exit_code = 2


class RecordRemovedError(RunFailedError):
    """Error: the directory of a run was removed while the run was executed."""


class RecordUnreadableError(AssayError):
    """Error: a record is missing or cannot be read."""


class RecordNewerError(RecordUnreadableError):
    """Error: a record was written by a newer version of Assay."""


class RecordPathError(RecordUnreadableError):
    """Error: the path of a record cannot be written as text."""


class RecordDeniedError(RecordUnreadableError):
    """Error: this user may not read a file or a directory of a record."""


class RecordDamagedError(RecordUnreadableError):
    """Error: a record was changed after it was written."""

    exit_code = 3


def stopped_by(interrupt: KeyboardInterrupt) -> str:
    """Return the name of the signal that stopped a command, or Ctrl-C."""
    return str(interrupt) or "Ctrl-C"


def error_words(error: OSError) -> str:
    """Return the reason of an error of the operating system, with the file's name."""
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason


def suggestion(wrong: str, names: list[str]) -> str:
    """Return a hint: the most similar name, else names that contain the word, else all."""
    import difflib

    near = difflib.get_close_matches(wrong, names, n=1, cutoff=0.6)
    if near:
        return f"did you mean {near[0]!r}?"
    around = [name for name in names if wrong and wrong in name] or names
    some = sorted(around)[:SUGGESTIONS_MAX]
    more = f" and {len(names) - len(some)} more" if len(names) > len(some) else ""
    return f"known: {', '.join(some)}{more}"


# Errors by exit code, which is kept when an error is passed between processes.
EXIT_CODES: dict[int, type[AssayError]] = {1: UsageError, 2: RunFailedError}
